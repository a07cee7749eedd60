/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The I/Os of one throttled run (events with flag HOLD) as causal/order/merge.h wants them: one
 * list per node, in order. Repeated failed polls are one with the first (FORMAT.md R-HOLD-1).
 * Writes that go on where another run may have ended have no offset.
 */
#ifndef WIO_THROTTLE_RULES_RUN_OPS_H
#define WIO_THROTTLE_RULES_RUN_OPS_H

#include <whyio/edges.h>
#include <whyio/trace.h>

#include "causal/order/merge.h"
#include "ops/calls.h"

struct wio_run_list {
    struct wio_run_op *ops;
    struct wio_edge_point *points; /* where each is in the trace */
    size_t count;
    size_t room;
};

/* Zero-initialise. */
struct wio_run_ops {
    struct wio_run_list *lists;
    struct wio_run_node *nodes; /* the same, for struct wio_run */
    uint32_t count;
};

/* Is it one of them? Marks of holding are none, whatever flags they bear. */
static inline bool wio_run_op_counts(const struct wio_event *event)
{
    return (event->flags & WIO_EVENT_HOLD) != 0 && event->op != WIO_OP_hold;
}

/* `node_of`: node of each stream, UINT32_MAX = none. */
WIO_MUST_CHECK enum wio_status wio_run_ops_read(const struct wio_trace *trace,
                                                const uint32_t *node_of, uint32_t nodes,
                                                struct wio_run_ops *ops_out, struct wio_error *err);
void wio_run_ops_fini(struct wio_run_ops *ops);

#endif
