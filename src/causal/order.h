/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happens-before: a walk over all points that have an edge, in an order in which every point comes
 * after all that it waits for, with the vector clock of each.
 *
 * clock[t] is how many operations of thread t are done before the point, for sure, whatever the
 * timing. So a happens before b exactly if clock_of_b[a.thread] > a.op.
 *
 * Time O((edges + members) * threads), less where clocks do not change; memory: one clock for each
 * point whose edges wait to be used, shared between points that know the same, and 16 bytes per
 * edge. A clock is freed when the last edge out of it has been used.
 */
#ifndef WIO_CAUSAL_ORDER_H
#define WIO_CAUSAL_ORDER_H

#include "causal/edge.h"

/* An edge into a stop. */
struct wio_order_in {
    size_t edge; /* index into the set */
    struct wio_point from;
    const uint64_t *clock; /* before `from`; its own entry is meaningless, use wio_order_done */
};

/* Operations of `thread` that are done once `in->from` is. */
static inline uint64_t wio_order_done(const struct wio_order_in *in, uint32_t thread)
{
    return thread == in->from.thread ? in->from.op + 1 : in->clock[thread];
}

struct wio_order_stop {
    struct wio_point point;
    const uint64_t *clock; /* by program order and collectives, without the edges `in` */
    const struct wio_order_in *in;
    size_t in_count;
};

/* Everything in `stop` is borrowed for the call. Another status than WIO_OK ends the walk. */
typedef enum wio_status wio_order_visit(void *context, const struct wio_order_stop *stop);

/*
 * Walk over edges whose class is in `classes` (WIO_EDGE_BIT; collectives if COLLECTIVE is).
 * WIO_ERR_FORMAT if there is a cycle: the message names its edges. Memory from the set's allocator.
 */
WIO_MUST_CHECK enum wio_status wio_order_walk(const struct wio_edges *edges, unsigned classes,
                                              wio_order_visit *visit, void *context,
                                              struct wio_error *err);

#endif
