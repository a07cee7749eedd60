/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order that files need, for modes that drop the waits of the program: which operation has to
 * come after which of another thread, because that one looks at what it changes, or changes the
 * same.
 *
 * Names: a lookup that succeeds comes after what made the name and before what takes it away; one
 * that fails before what makes it. Lengths: a stat, or a read that meets the end of the file, comes
 * before what makes the file longer or cuts it. Entries of a directory are read after what changed
 * them before, and before what changes them later. Modes: what a mode permits comes after the chmod
 * before it, and before the one behind it. Data is not ordered: writes of disjoint ranges
 * remain free, and a read that finds too little is tried again (run/order.c).
 *
 * Where two operations overlapped in the trace, the one that found what the other one left comes
 * behind it; where the results do not tell, the one that began first is first. That is a race of
 * the program: another run may have it the other way round.
 *
 * Mode causal has the waits of the program, and its threads come as early as these let them: only
 * what keeps an operation possible is ordered there (is_needed_only), names and modes that were
 * found and what changes these. Lookups that failed, lengths and entries are not: a program that
 * polls for them polls as often as the new times make it.
 *
 * Names are compared as they stand in the trace; what links and renames of directories above make
 * equal is not seen. Pure apart from memory.
 */
#ifndef WIO_REPLAY_INITIAL_FILE_ORDER_H
#define WIO_REPLAY_INITIAL_FILE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>
#include <whyio/trace.h>

#include "base/map.h"

/* Event `seq` of `stream` comes after the event of stream `other` that begins at `other_ns`. */
struct rp_precedence {
    uint32_t stream;
    uint32_t other;
    uint64_t seq;
    uint64_t other_ns;
};

struct rp_name_use;
struct rp_name_state;

/* Zero-initialise; release with rp_file_order_fini. */
struct rp_file_order {
    struct rp_precedence *items; /* after rp_file_order_finish by stream, then seq */
    uint32_t count;
    uint32_t capacity;
    uint32_t *first; /* per stream, stream_count + 1: its first item */
    uint32_t stream_count;
    bool is_needed_only; /* set before the first event */
    /* while events are seen */
    struct wio_strtab names;
    struct wio_map by_name; /* id of a name and subject -> index of its state */
    struct rp_name_state *states;
    uint32_t state_count;
    uint32_t state_capacity;
    struct rp_name_use *uses; /* in lists, one of each state */
    uint32_t use_count;
    uint32_t use_capacity;
    uint32_t use_free;     /* index + 1, 0 = none */
    struct wio_map use_of; /* state, stream and kind of access -> index + 1 */
    struct wio_map latest; /* stream -> other_ns of its items, the greatest */
    uint64_t barrier_ns;   /* the event at hand comes after nothing that began then or later */
    struct wio_map known;  /* stream and other stream -> other_ns of the last item of the two */
};

/* The next event in order of time. `path`, `path2`: the texts of its names, "" = none. */
WIO_MUST_CHECK enum wio_status rp_file_order_see(struct rp_file_order *order,
                                                 const struct wio_event *event, const char *path,
                                                 const char *path2);
/* After the last one. */
WIO_MUST_CHECK enum wio_status rp_file_order_finish(struct rp_file_order *order,
                                                    uint32_t stream_count);
void rp_file_order_fini(struct rp_file_order *order);

#endif
