/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happens-before: a walk over all points that have an edge, in an order in which every point comes
 * after all that it waits for, with the vector clock of each.
 *
 * clock[t] is how many operations of thread t are done before the point, for sure, whatever the
 * timing. So a happens before b exactly if clock_of_b[a.thread] > a.op.
 *
 * Time O((edges + members) * threads) where each thread hears of all others, far less where most
 * threads have nothing in common; memory: one clock for each point whose edges wait to be used, of
 * which points that know the same share all, others what is the same (order_clock.c), and 16 bytes
 * per edge. A clock is freed when the last edge out of it has been used and its thread has ended.
 */
#ifndef WIO_CAUSAL_ORDER_ORDER_H
#define WIO_CAUSAL_ORDER_ORDER_H

#include "causal/core/edge.h"

/* What is known of other threads at a point; the entry of its own thread is meaningless. */
struct wio_order_clock;
uint64_t wio_order_known(const struct wio_order_clock *clock, uint32_t thread);

/* So many entries of a clock are shared or copied together. */
#define WIO_ORDER_PART 64u
/* What it knows of the threads from part * WIO_ORDER_PART on; NULL: nothing. Clocks that know the
 * same often have it at the same place. */
const uint64_t *wio_order_known_part(const struct wio_order_clock *clock, uint32_t part);

/* An edge into a stop. */
struct wio_order_in {
    size_t edge; /* index into the set */
    struct wio_point from;
    const struct wio_order_clock *clock; /* before `from` */
};

/* Operations of `thread` that are done once `in->from` is. */
static inline uint64_t wio_order_done(const struct wio_order_in *in, uint32_t thread)
{
    return thread == in->from.thread ? in->from.op + 1 : wio_order_known(in->clock, thread);
}

struct wio_order_stop {
    struct wio_point point;
    const struct wio_order_clock *clock; /* without the edges `in`: use wio_order_before */
    const struct wio_order_in *in;
    size_t in_count;
    /* The collective that the point leaves, if that is one: its knowledge is in `clock`. */
    uint32_t collective; /* WIO_ORDER_NONE */
};
#define WIO_ORDER_NONE UINT32_MAX

/* Operations of `thread` that are done before the stop by program order and collectives. */
static inline uint64_t wio_order_before(const struct wio_order_stop *stop, uint32_t thread)
{
    return thread == stop->point.thread ? stop->point.op : wio_order_known(stop->clock, thread);
}

/* Everything in `stop` is borrowed for the call. Another status than WIO_OK ends the walk. */
typedef enum wio_status wio_order_visit(void *context, const struct wio_order_stop *stop);

/*
 * Walk over edges whose class is in `classes` (WIO_EDGE_BIT; collectives if COLLECTIVE is). Without
 * a `visit` it only sees whether there is a cycle.
 * WIO_ERR_FORMAT if there is a cycle: the message names its edges. Memory from the set's allocator.
 */
WIO_MUST_CHECK enum wio_status wio_order_walk(const struct wio_edges *edges, unsigned classes,
                                              wio_order_visit *visit, void *context,
                                              struct wio_error *err);

/*
 * Mark edges without which there is no cycle: `left_out` has edge_count entries, all false. Of each
 * cycle that a walk over all classes meets, one edge: a lock's or a queue's before a hard one, the
 * one that comes from the latest operation before others, none that was found by holding.
 * WIO_ERR_FORMAT where a cycle has no such edge.
 */
WIO_MUST_CHECK enum wio_status wio_order_break_cycles(const struct wio_edges *edges, bool *left_out,
                                                      size_t *count_out, struct wio_error *err);

#endif
