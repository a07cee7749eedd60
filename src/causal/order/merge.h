/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several runs of one program, throttled one node after the other, become one set of edges; if they
 * did the same I/O. If not, the first difference is located.
 *
 * Before runs are compared they are normalised:
 * - failed polls for one file, directly followed by another poll for it, are one poll: how often a
 *   program polls depends on timing;
 * - names of temporary files: where both runs make one with the same operation of the same node,
 * the two names mean the same file from then on, on all nodes; and neither means another.
 */
#ifndef WIO_CAUSAL_ORDER_MERGE_H
#define WIO_CAUSAL_ORDER_MERGE_H

#include "causal/core/edge.h"

/* One operation of a node; its index in the array is its number in this run's edges. */
struct wio_run_op {
    uint64_t name; /* a number for the path, the same in all runs; 0: none */
    uint64_t size;
    int64_t offset;
    int64_t result;
    uint32_t op;       /* which operation, enum wio_op */
    bool is_temporary; /* makes a file whose name was chosen at random (mkstemp) */
    bool is_look;      /* asks whether a file is there: stat, access, open without O_CREAT */
};

struct wio_run_node {
    const struct wio_run_op *ops;
    size_t count;
};

struct wio_run {
    const struct wio_run_node *nodes; /* one per thread of `edges` */
    const struct wio_edges *edges;
    uint32_t throttled; /* node; UINT32_MAX where none was */
};

/* Where two runs part. `op` counts in the normalised list; a NULL operation: that run has ended. */
struct wio_run_difference {
    bool found;
    bool is_same_work; /* all nodes together did the same in all runs, shared out differently */
    uint32_t node;
    uint32_t run; /* the one that differs from run 0 */
    uint64_t op;
    const struct wio_run_op *ops[2]; /* of run 0 and of `run`; borrowed from the runs */
    uint64_t raw[2];                 /* their numbers in the two runs */
};

/*
 * Compare all runs with run 0 and add the union of their edges to `edges`, once each, with
 * operations numbered as in the normalised lists. Collectives are taken from run 0.
 *
 * difference_out->found: the program is not deterministic, and `edges` has got nothing; the lowest
 * node counts first, then the lowest operation, then the lowest run. WIO_ERR_FORMAT where runs have
 * different numbers of nodes: the message names the run.
 */
WIO_MUST_CHECK enum wio_status wio_runs_merge(const struct wio_run *runs, uint32_t count,
                                              struct wio_edges *edges,
                                              struct wio_run_difference *difference_out,
                                              struct wio_error *err);

/*
 * Did all nodes together do the same in two runs, on whichever node: each operation at its place
 * with its result, as often? Polls for files do not count; names that are made up at random have no
 * counterpart in the other run. WIO_OK or WIO_ERR_NOMEM.
 */
WIO_MUST_CHECK enum wio_status wio_runs_share_work(const struct wio_run runs[2], uint32_t nodes,
                                                   const struct wio_alloc *alloc, bool *same_out);

/* From which run a node's computing times are to be taken: the one in which it was throttled, where
 * it was the slowest and never waited; else run 0. */
uint32_t wio_runs_source(const struct wio_run *runs, uint32_t count, uint32_t node);

/*
 * The normalised number of each operation of a node: numbers_out has node->count entries. Gives how
 * many numbers there are. An operation that is folded into a later poll has that poll's number.
 */
uint64_t wio_run_normalise(const struct wio_run_node *node, uint64_t *numbers_out);

#endif
