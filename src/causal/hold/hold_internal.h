/* SPDX-License-Identifier: Apache-2.0 */
/* What deciding (hold.c) and proving (hold_bounds.c) share. */
#ifndef WIO_CAUSAL_HOLD_HOLD_INTERNAL_H
#define WIO_CAUSAL_HOLD_HOLD_INTERNAL_H

#include "causal/hold/hold.h"

struct wio_hold_node {
    enum wio_node_state state;
    uint64_t since_ns;
    uint64_t done;  /* operations that were let go in this run */
    uint64_t known; /* operations that `bound` has rows for */
    size_t room;
    uint64_t *bound; /* known x nodes: how many operations of each node may come before */
    bool *is_open;   /* known: is its order with some other node not proven? */
    uint32_t rank;   /* priority in this run: 0 goes first */
    uint64_t gap;    /* how much is open about what waits for this node */
    bool spins;      /* computes for longer than patience */
    bool was_lowest; /* in some run */
};

struct wio_hold {
    struct wio_alloc alloc;
    struct wio_hold_params params;
    struct wio_hold_node *nodes;
    struct wio_edges edges;
    size_t edges_before; /* of them, before this run */
    bool is_planned;
    uint32_t run;       /* 0, 1 .. */
    uint32_t throttled; /* of TRACE, in this run */
    uint64_t unproven;
    uint64_t contradicted;
    struct wio_point last; /* released */
    bool has_last;
    uint64_t moved_ns; /* when a node was released, or the run began */
};

/* What all runs together prove: fills `gap`, `is_open` and `unproven`, drops edges that a run did
 * not obey. */
WIO_MUST_CHECK enum wio_status wio_hold_compare_bounds(struct wio_hold *hold);

#endif
