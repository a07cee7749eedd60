/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding dependencies by holding I/O: the decisions only. The caller reports the state of each
 * node and asks which one to release.
 *
 * Priority holding: every node is held at each I/O. When no node moves any more, the one of highest
 * priority that stands at an I/O goes; a node that starts to move until all stand still again was
 * freed by it, which is an edge. Nothing else moved, so no edge is false. Each run also says what
 * is *not* so: an operation that went while another node had done k operations does not wait for
 * more than k. That is an upper bound for each operation's vector clock, the edges found are a
 * lower bound; where they meet all is proven and no run is left to do. The bound is exact for the
 * node of lowest priority, since all others go as far as they can before each of its operations: so
 * each node has the lowest priority in some run, and one run more keeps all nodes abreast, which
 * proves much at once where many feed one. Waiting for an observed lock must be reported as
 * IN_LOCK: the order of its acquires is no dependency. Observed edges are known before the first
 * run. An operation whose order with all others is known need not be held.
 *
 * //TRACE's throttling: one node per run is held at every period-th I/O until all others have
 * exited or are blocked; those that are blocked get an edge.
 *
 * Pure; times are arguments. Memory: 8 bytes per operation and node, three times that for a moment
 * at the end of each run.
 */
#ifndef WIO_CAUSAL_HOLD_HOLD_H
#define WIO_CAUSAL_HOLD_HOLD_H

#include "causal/core/edge.h"

enum wio_hold_method {
    WIO_HOLD_PRIORITY,
    WIO_HOLD_TRACE /* //TRACE: throttle node 0 in the first run, node 1 in the second .. */
};

enum wio_node_state {
    WIO_NODE_COMPUTING,
    WIO_NODE_AT_IO, /* stands before its next operation and may not go */
    WIO_NODE_IN_MPI,
    WIO_NODE_BLOCKED, /* by the kernel, or in a poll loop */
    WIO_NODE_IN_LOCK,
    WIO_NODE_EXITED
};

struct wio_hold_params {
    enum wio_hold_method method;
    uint32_t nodes;
    uint64_t period; /* of TRACE: every period-th I/O is held; 1: each */
    /* A node that computes for longer is taken for one that waits without a call (it spins on
     * shared memory). 0: never. From a run without holding, times a factor: if it is too short,
     * edges may be false. */
    uint64_t patience_ns;
    /* Upper limit of every hold. */
    uint64_t limit_ns;
};

enum wio_hold_verdict {
    WIO_HOLD_NOTHING, /* ask again after the next event, or when time has passed */
    WIO_HOLD_RELEASE, /* let `node` go */
    WIO_HOLD_STUCK,   /* all wait and none is at an I/O: for something outside the program */
    WIO_HOLD_GIVE_UP, /* limit_ns is over: let all go; the run proves nothing more */
    WIO_HOLD_ENDED    /* all nodes have exited */
};

struct wio_hold_decision {
    enum wio_hold_verdict verdict;
    uint32_t node;
};

struct wio_hold;

WIO_MUST_CHECK enum wio_status wio_hold_create(const struct wio_hold_params *params,
                                               const struct wio_alloc *alloc,
                                               struct wio_hold **hold_out);
/* Accepts NULL. */
void wio_hold_destroy(struct wio_hold *hold);

/*
 * PRIORITY, before the first run, and all or nothing: how many operations each node does, then
 * edges that were observed (WIO_EDGE_HARD, between operations as they are counted here, of any
 * evidence but HELD) and collectives (once each, instead of an edge for each pair of members), then
 * wio_hold_plan. *more_out: holding can find something.
 */
WIO_MUST_CHECK enum wio_status wio_hold_expect(struct wio_hold *hold, uint32_t node, uint64_t ops);
WIO_MUST_CHECK enum wio_status wio_hold_know(struct wio_hold *hold, const struct wio_edge *edge);
WIO_MUST_CHECK enum wio_status
wio_hold_know_collective(struct wio_hold *hold, const struct wio_member *members, size_t count);
WIO_MUST_CHECK enum wio_status wio_hold_plan(struct wio_hold *hold, bool *more_out);
/* Is there anything to find out about this operation? */
bool wio_hold_is_open(const struct wio_hold *hold, uint32_t node, uint64_t op);

/* All nodes compute from now on. Chooses the priorities from what the runs before left open. */
void wio_hold_begin_run(struct wio_hold *hold, uint64_t now_ns);
/* `node` is now in `state`. WIO_ERR_NOMEM: destroy it. */
WIO_MUST_CHECK enum wio_status wio_hold_event(struct wio_hold *hold, uint32_t node,
                                              enum wio_node_state state, uint64_t now_ns);
/* `node` has begun its next operation, which is not open, without being held. Report its state
 * before that first: the node that freed it did so before the operation. */
void wio_hold_pass(struct wio_hold *hold, uint32_t node);
/* After RELEASE the node counts as computing. Ask until the answer is another one. */
WIO_MUST_CHECK enum wio_status wio_hold_decide(struct wio_hold *hold, uint64_t now_ns,
                                               struct wio_hold_decision *decision_out);
/* After begin_run, TRACE: throttle this node in this run. */
void wio_hold_throttle(struct wio_hold *hold, uint32_t node);
/* `*more_out`: another run can find something. WIO_ERR_FORMAT: what was found contradicts what was
 * observed, the program is not deterministic. Only for runs that ended by ENDED. Edges that one run
 * showed and another did not obey are dropped: see wio_hold_contradicted. */
WIO_MUST_CHECK enum wio_status wio_hold_end_run(struct wio_hold *hold, bool *more_out);

/* The run that was begun last showed nothing that can be used: forget its edges. No run follows. */
void wio_hold_drop_run(struct wio_hold *hold);

/* Edges so far, not reduced: those that were found, with evidence `held`, and those that were
 * observed. Operations are I/Os, numbered per node. */
const struct wio_edges *wio_hold_borrow_edges(const struct wio_hold *hold);
/* How many were found. */
uint64_t wio_hold_found(const struct wio_hold *hold);
/* Pairs (operation, node) whose two bounds do not meet after the last run; 0: complete. */
uint64_t wio_hold_unproven(const struct wio_hold *hold);
/* Edges found that were dropped because a later run did not obey them: the program has a lock or
 * queue that was not reported, it is not deterministic, or patience_ns is too short. */
uint64_t wio_hold_contradicted(const struct wio_hold *hold);

/* The choice of //TRACE's period: from large to small until the goal is met. */
struct wio_period_goal {
    double target_error; /* of the replayed running time, 0.06 is 6 % */
    double budget_s;     /* for all tracing together */
};

/*
 * After tracing with *period gave `error` and took `spent_s` of `total_s` so far: false if that is
 * it; else *period is the next to try. A tenth each time; none that would not fit into the budget
 * if it takes as much longer as it holds more often.
 */
bool wio_period_next(const struct wio_period_goal *goal, double error, double spent_s,
                     double total_s, uint64_t *period);
#define WIO_PERIOD_FIRST 1000

#endif
