/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks on ranges of bytes of one file: the last releases of each byte.
 *
 *     bytes   0         100       200       300
 *             |---------|---------|---------|
 *     alone:    A op 7    B op 2    A op 7      a lock of a byte follows its last exclusive
 *     shared:             C op 5                release; an exclusive lock follows the shared ones
 *                         D op 1                since then too
 *
 * A tree of ranges that do not overlap, so that a program that locks another range each time pays
 * for its own range only. Memory: each range that was ever given back and not covered by an
 * exclusive release since, with one entry per reader; neighbours that are alike are one.
 *
 * Pure. Gives WIO_OK or WIO_ERR_NOMEM; after an error it may only be destroyed.
 */
#ifndef WIO_CAUSAL_MATCH_RANGES_H
#define WIO_CAUSAL_MATCH_RANGES_H

#include "causal/core/edge.h"

struct wio_ranges;

struct wio_range {
    uint64_t from;
    uint64_t to; /* behind the last byte */
};

WIO_MUST_CHECK enum wio_status wio_ranges_create(const struct wio_alloc *alloc,
                                                 struct wio_ranges **ranges_out);
/* Accepts NULL. */
void wio_ranges_destroy(struct wio_ranges *ranges);

/* The range was given back at this point; an empty one is nothing. */
WIO_MUST_CHECK enum wio_status wio_ranges_release(struct wio_ranges *ranges, struct wio_range range,
                                                  struct wio_point at, bool shared);

/* Another status than WIO_OK ends the search. */
typedef enum wio_status wio_ranges_follow(void *context, struct wio_point release);
/* Tells of each release that a lock on the range follows; of one release more than once where it
 * lies in pieces. */
WIO_MUST_CHECK enum wio_status wio_ranges_find(struct wio_ranges *ranges, struct wio_range range,
                                               bool shared, wio_ranges_follow *follow,
                                               void *context);

#endif
