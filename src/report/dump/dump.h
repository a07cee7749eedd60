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
 * CSV: a line of names, then one of values for each operation; no summary. With chosen fields the
 * JSON objects have the schema dump_fields.json, the summary that of dump.json.
 *
 * Memory: that of reading, one rendered text per path and source, and what sorting holds
 * (explain/event_sort.h).
 */
#ifndef WIO_REPORT_DUMP_H
#define WIO_REPORT_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <whyio/status.h>
#include <whyio/trace.h>

#include "report/dump/dump_fields.h"

struct wio_dump_params {
    size_t struct_size;
    bool is_text;        /* else JSON lines */
    bool is_annotated;   /* the order is then by node */
    bool is_csv;         /* of `fields` */
    bool is_by_duration; /* the longest first; not annotated */
    bool has_errors_only;
    const struct wio_dump_fields *fields; /* NULL: all */
    uint64_t from_ns;                     /* operations that begin then or later, .. */
    uint64_t to_ns;                       /* .. before then, 0 = any; */
    uint64_t least_ns;                    /* that lasted so long, if that was measured */
    struct wio_filter filter;             /* order and columns are set by the function called */
    void (*progress)(void *arg, uint64_t done, uint64_t total, const char *unit);
    void *progress_arg;
};

static inline bool wio_dump_is_wanted(const struct wio_dump_params *params,
                                      const struct wio_event *event)
{
    return event->t_ns >= params->from_ns && (params->to_ns == 0 || event->t_ns < params->to_ns) &&
           event->dur_ns >= params->least_ns && (!params->has_errors_only || event->error != 0);
}

/* Print all that the filter lets through to `out`. A stream that fails ends it: ask ferror(). */
WIO_MUST_CHECK enum wio_status wio_report_dump(const struct wio_trace *trace,
                                               const struct wio_dump_params *params, FILE *out,
                                               struct wio_error *err);

#endif
