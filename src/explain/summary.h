/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace holds, from its tables and its index alone: no event is read, so it is as quick
 * for a hundred million events as for ten.
 *
 *     struct wio_summary *summary;
 *     if (wio_summary_create(trace, &summary, &err) != WIO_OK) ...
 *     printf("%zu jobs\n", summary->job_count);
 *     wio_summary_destroy(summary);
 */
#ifndef WIO_EXPLAIN_SUMMARY_H
#define WIO_EXPLAIN_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/edges.h>
#include <whyio/status.h>
#include <whyio/trace.h>

struct wio_summary_op {
    const char *name;
    unsigned op;
    struct wio_op_total total;
};

struct wio_summary_rank {
    int32_t rank;       /* -1 = processes without one */
    uint32_t processes; /* distinct (host, pid) */
    uint32_t threads;
    uint64_t events;
    uint64_t dropped;
    uint64_t first_ns; /* begin of the first and end of the last event, since trace start; */
    uint64_t last_ns;  /* both 0 where there is none */
};

/* Something that happened and could not be recorded. */
struct wio_summary_unseen {
    const char *key;  /* "static_exec" */
    const char *text; /* one line for a person */
    const char *remedy;
    uint64_t count;
};

/* Texts belong to the trace, arrays to the summary. */
struct wio_summary {
    const struct wio_trace *trace;
    struct wio_trace_info info;
    const char **jobs; /* distinct, in order of first appearance; processes without one add none */
    size_t job_count;
    const char **hosts;
    size_t host_count;
    struct wio_summary_op *ops; /* those that occur, in the order of ops.def */
    size_t op_count;
    struct wio_summary_rank *ranks; /* ascending */
    size_t rank_count;
    struct wio_summary_unseen *unseen; /* those that occur */
    size_t unseen_count;
    const struct wio_process_info **losses; /* images that dropped events, most first */
    size_t loss_count;
    uint32_t killed; /* process images that ended by a signal */
    uint32_t open;   /* process images whose end is not known */
    bool has_edges;  /* they are stored beside the events */
    struct wio_edge_info edges;
};

/* `trace` must outlive the summary, which the caller owns. */
WIO_MUST_CHECK enum wio_status wio_summary_create(const struct wio_trace *trace,
                                                  struct wio_summary **summary_out,
                                                  struct wio_error *err);
/* Accepts NULL. */
void wio_summary_destroy(struct wio_summary *summary);

#endif
