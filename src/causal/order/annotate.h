/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each thread does, as a list that can be performed: compute, operation, signal, wait.
 *
 * The form is //TRACE's (COMPUTE, the operation, SIGNAL(n), WAIT(n)). What is new: waits and
 * signals say which operation of the peer they belong to, collectives are steps of their own, and
 * the gap between two I/Os may be several computations with the waits where they were.
 */
#ifndef WIO_CAUSAL_ORDER_ANNOTATE_H
#define WIO_CAUSAL_ORDER_ANNOTATE_H

#include "causal/core/edge.h"

enum wio_annotated_step_kind {
    WIO_STEP_COMPUTE, /* wall_ns */
    WIO_STEP_WAIT,    /* until `peer` has done its operation `peer_op` */
    WIO_STEP_OPERATION,
    WIO_STEP_SIGNAL, /* to `peer`, which waits before its operation `peer_op` */
    WIO_STEP_ENTER,  /* collective `peer`: all before this is done */
    WIO_STEP_LEAVE   /* collective `peer`: wait for its givers */
};

struct wio_annotated_step {
    uint64_t op; /* of this thread, at which the step stands */
    uint64_t peer_op;
    uint64_t wall_ns;
    uint32_t peer; /* thread, or index of the collective */
    uint16_t kind; /* enum wio_annotated_step_kind */
    uint8_t class; /* of the edge, enum wio_edge_class */
};

/* One call of a thread. The array's index is the operation number of the points. */
struct wio_call_times {
    uint64_t begin_ns;
    uint64_t end_ns;
    bool is_io;
    bool can_block; /* waits for another thread: receive, lock, wait */
};

struct wio_thread_calls {
    const struct wio_call_times *calls;
    size_t count;
    struct wio_call_times life; /* of the thread: begin and end */
    uint32_t thread;
};

enum wio_compute_mode {
    /* Approach 1: one COMPUTE per gap, all the time between two I/Os. Right for a throttled node:
     * it is the slowest and never waits. */
    WIO_COMPUTE_THINK,
    /* Approach 2: the same less the time in calls that can block. */
    WIO_COMPUTE_LESS_BLOCKED,
    /* Compute, wait, compute in the order in which they happened. */
    WIO_COMPUTE_SEGMENTS
};

/* Zero but for `alloc`; give `items` back with wio_annotated_steps_fini. */
struct wio_annotated_steps {
    struct wio_alloc alloc;
    struct wio_annotated_step *items;
    size_t count;
    size_t room;
};

void wio_annotated_steps_fini(struct wio_annotated_steps *steps);

struct wio_annotation;

/* Looks the edges up by thread. `edges` must outlive it and not change. */
WIO_MUST_CHECK enum wio_status wio_annotation_create(const struct wio_edges *edges,
                                                     struct wio_annotation **annotation_out);
/* Accepts NULL. */
void wio_annotation_destroy(struct wio_annotation *annotation);

/*
 * Append the steps of one thread. At each operation: ENTER, WAITs, LEAVE, the operation if it is
 * I/O, SIGNALs; before the first of them COMPUTE, where its time is not 0. WIO_ERR_USAGE where an
 * edge of the thread names an operation that is not in `calls`.
 */
WIO_MUST_CHECK enum wio_status wio_annotate(const struct wio_annotation *annotation,
                                            const struct wio_thread_calls *calls,
                                            enum wio_compute_mode mode,
                                            struct wio_annotated_steps *steps);

/*
 * What //TRACE does before replay instead of exact reduction: of a run of signals from one thread
 * that end in the same wait only the last stays. Hard edges only; linear.
 */
WIO_MUST_CHECK enum wio_status wio_edges_drop_repeated_signals(struct wio_edges *edges,
                                                               size_t *dropped_out);

#endif
