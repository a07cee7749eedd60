/* SPDX-License-Identifier: Apache-2.0 */
/* A set of byte ranges of one file, in bounded memory: beyond RP_EXTENTS_MAX ranges, the closest
 * neighbours are joined (the set then holds a little more than was put in, never less). */
#ifndef WIO_REPLAY_INITIAL_EXTENT_H
#define WIO_REPLAY_INITIAL_EXTENT_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#define RP_EXTENTS_MAX 16384u

struct rp_extent {
    uint64_t start;
    uint64_t end; /* exclusive */
};

/* Zero-initialise, release with rp_extents_fini. */
struct rp_extents {
    struct rp_extent *items;
    uint32_t count;
    uint32_t capacity;
    uint64_t grain; /* bytes: starts and ends are rounded to it once memory is short */
};

void rp_extents_fini(struct rp_extents *extents);
WIO_MUST_CHECK enum wio_status rp_extents_add(struct rp_extents *extents, uint64_t start,
                                              uint64_t end);
/* Sort and join, then cut at `size`. */
void rp_extents_finish(struct rp_extents *extents, uint64_t size);
uint64_t rp_extents_bytes(const struct rp_extents *extents);

#endif
