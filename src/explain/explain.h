/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a run took as long as it did.
 *
 *     struct wio_explain_params params = {.struct_size = sizeof(params), ...};
 *     struct wio_explanation *explanation;
 *     if (wio_explain(trace, &params, &explanation, &err) != WIO_OK) ...
 *     wio_explanation_destroy(explanation);
 *
 * One pass over the events, merged by begin, with the stored edges beside them. Time is accounted
 * once: I/O, computing, waiting that no I/O explains, waiting for a processor and what is not
 * explained add up to the run's length on its critical path, and so do findings, computing and
 * waiting with what is not explained.
 *
 * Where processes have ranks the run is what lies between the first event of a rank and the last:
 * the launcher is of no account.
 *
 * Memory: bounded by threads, places, files and waits in flight, not by the number of events.
 * Thread safety: one thread per object.
 */
#ifndef WIO_EXPLAIN_EXPLAIN_H
#define WIO_EXPLAIN_EXPLAIN_H

#include <whyio/trace.h>

#include "explain/findings/finding.h"
#include "explain/gains/gain.h"

struct wio_explain_params {
    size_t struct_size;
    struct wio_thresholds thresholds;
    struct wio_gain_params gains;
    void (*progress)(void *arg, uint64_t done, uint64_t total, const char *unit); /* may be NULL */
    void *progress_arg;
};

/* What something took, over all threads. ns of the threads' own time. */
struct wio_spent {
    uint64_t by_kind[WIO_STEP_KINDS];
    uint64_t count; /* events */
    uint64_t bytes_read;
    uint64_t bytes_written;
    uint64_t critical_ns; /* of its I/O */
};

struct wio_spent_row {
    const char *name;    /* borrowed from the trace, or static */
    uint32_t name_bytes; /* the name may go on behind these */
    int32_t rank;
    struct wio_spent spent;
};

/* By I/O time, the longest first; ranks rising. */
struct wio_spent_table {
    struct wio_spent_row *rows;
    uint32_t count;
    uint32_t capacity;
};

enum wio_spent_by {
    WIO_SPENT_JOB,
    WIO_SPENT_RANK,
    WIO_SPENT_FILE,
    WIO_SPENT_DIRECTORY,
    WIO_SPENT_FS,
    WIO_SPENT_OP,
    WIO_SPENT_TABLES
};

#define WIO_NOTES 12u

struct wio_explanation {
    const struct wio_trace *trace;
    struct wio_trace_info info;
    struct wio_thresholds thresholds;
    uint64_t begin_ns; /* of the run, since the start of the trace */
    uint64_t duration_ns;
    uint64_t critical_ns[WIO_STEP_KINDS];
    double unexplained_s; /* I/O in no finding, standing between operations */
    uint64_t looked_ns;   /* waits for children that were found by looking, summed over threads */
    bool has_edges;
    struct wio_steps steps;
    struct wio_patterns patterns;
    struct wio_waiting waiting;
    struct wio_findings findings;
    struct wio_gains gains;
    struct wio_spent_table tables[WIO_SPENT_TABLES];
    char notes[WIO_NOTES][320]; /* what is missing, and what to do */
    uint32_t note_count;
};

/* `trace` must outlive the explanation, which the caller owns. */
WIO_MUST_CHECK enum wio_status wio_explain(const struct wio_trace *trace,
                                           const struct wio_explain_params *params,
                                           struct wio_explanation **explanation_out,
                                           struct wio_error *err);
/* Accepts NULL. */
void wio_explanation_destroy(struct wio_explanation *explanation);

/* The part of the critical path in seconds, without what is not explained: I/O, computing ..; what
 * findings have claimed of other kinds counts as what it is. */
double wio_explanation_seconds(const struct wio_explanation *explanation, enum wio_step_kind kind);

#endif
