/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations of a trace, one line each, in order of begin.
 *
 * JSON: one object per operation (docs/schema/dump.json), a summary object last. What is not known
 * or has no meaning for an operation is null.
 * Text: time, duration, rank, thread, the operation, its source; aligned.
 * Annotated: in order of nodes (threads of processes), without what stdio calls caused. As text
 * COMPUTE(seconds), WAIT(node), the operation, SIGNAL(node), one per line; as JSON the same objects
 * with "node", "compute_s" (computed since the node's operation before), "waits", "collectives",
 * "signals".
 *
 * Memory: that of reading, and one rendered text per path and source.
 */
#ifndef WIO_REPORT_DUMP_H
#define WIO_REPORT_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <whyio/status.h>
#include <whyio/trace.h>

struct wio_dump_params {
    size_t struct_size;
    bool is_text;             /* else JSON lines */
    bool is_annotated;        /* the order is then by node */
    struct wio_filter filter; /* order and columns are set by the function called */
    void (*progress)(void *arg, uint64_t done, uint64_t total, const char *unit);
    void *progress_arg;
};

/* Print all that the filter lets through to `out`. A stream that fails ends it: ask ferror(). */
WIO_MUST_CHECK enum wio_status wio_report_dump(const struct wio_trace *trace,
                                               const struct wio_dump_params *params, FILE *out,
                                               struct wio_error *err);

#endif
