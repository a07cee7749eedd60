/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of merging runs share. Nodes are those of the first run, in all of them. */
#ifndef WIO_THROTTLE_MERGE_MERGE_INTERNAL_H
#define WIO_THROTTLE_MERGE_MERGE_INTERNAL_H

#include "throttle/merge/identity.h"
#include "throttle/merge/merge_runs.h"
#include "throttle/rules/run_ops.h"

#define WIO_MERGE_SEGMENT "merged.seg"

/* When a node was held in a run, in order. */
struct wio_merge_hold {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t before_ns; /* all holds before this one together */
};

struct wio_merge_holds {
    struct wio_merge_hold *items;
    uint32_t count;
    uint32_t room;
};

struct wio_merge_run {
    const char *dir;
    struct wio_trace *trace;
    struct wio_identity identity;
    uint32_t *node_of;             /* per stream: node of the first run */
    uint64_t *birth_ns;            /* per node: begin of its first event */
    struct wio_merge_holds *holds; /* per node; none: it was not throttled in this run */
    struct wio_run_ops ops;        /* per node */
    struct wio_edges edges;        /* held ones: (node, how many-th I/O) */
};

struct wio_merge {
    const struct wio_merge_params *params;
    struct wio_merge_run *runs;
    uint32_t nodes;
    bool first_only;        /* the runs share out the work differently: only the first is taken */
    struct wio_edges edges; /* of all runs together; none where first_only */
    uint32_t *source;       /* per node: the run that its events are from */
    uint64_t **shift_ns;    /* per node: delay of each I/O by what it and those before wait for */
};

/* merge_load.c: open all runs, see that they are of one program, read I/Os and edges. */
WIO_MUST_CHECK enum wio_status wio_merge_load(struct wio_merge *merge, struct wio_error *err);
/* merge_time.c: fill shift_ns. */
WIO_MUST_CHECK enum wio_status wio_merge_time(struct wio_merge *merge, struct wio_error *err);
/* merge_write.c: the segment into `dir`, which is there; *events_out of them. */
WIO_MUST_CHECK enum wio_status wio_merge_write(struct wio_merge *merge, const char *dir,
                                               uint64_t *events_out, struct wio_error *err);

/* merge_core.c */
enum wio_status wio_merge_no_memory(struct wio_error *err);
void wio_merge_fini(struct wio_merge *merge);
/* A moment of a node's life in this run, as if it had never been held. */
uint64_t wio_merge_unheld(const struct wio_merge_holds *holds, uint64_t t_ns);

#endif
