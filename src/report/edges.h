/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The edges of a trace: `whyio edges`.
 *
 * JSON: one object per edge, one per collective (with its members), a summary object last
 * (docs/schema/edges.json), in the order of the waiting threads and their operations. Text: counts
 * per class and evidence, then the longest waits; raw: then one line for each edge.
 */
#ifndef WIO_REPORT_EDGES_H
#define WIO_REPORT_EDGES_H

#include <stdbool.h>
#include <stdio.h>

#include <whyio/edges.h>
#include <whyio/trace.h>

struct wio_edges_report {
    size_t struct_size;
    const char *name;          /* of the trace, as the user called it */
    bool is_text;              /* else JSON lines */
    bool is_raw;               /* edges that others imply too */
    uint32_t top;              /* as many waits, as text */
    wio_progress_fn *progress; /* unit "edges"; may be NULL */
    void *progress_arg;
};

/* The trace must have edges. A stream that fails ends it: ask ferror(). */
WIO_MUST_CHECK enum wio_status wio_report_edges(const struct wio_trace *trace,
                                                const struct wio_edges_report *report, FILE *out,
                                                struct wio_error *err);

#endif
