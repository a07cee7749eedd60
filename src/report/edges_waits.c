/* SPDX-License-Identifier: Apache-2.0 */
#include "report/edges_waits.h"

#include <inttypes.h>

#include <whyio/source.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "explain/digest/long_waits.h"
#include "explain/lines/own_frame.h"
#include "report/line.h"

struct waits_writer {
    const struct wio_trace *trace;
    struct wio_own_frames *own;
    struct wio_sources *sources;
    FILE *out;
};

static void waits_cleanup(struct wio_long_waits **waits)
{
    wio_long_waits_destroy(*waits);
}

static void writer_fini(struct waits_writer *writer)
{
    wio_own_frames_destroy(writer->own);
    wio_sources_destroy(writer->sources);
}

/* "rank 3", "process 4711"; another thread than its main one by number. */
static void put_thread(const struct waits_writer *writer, uint32_t stream)
{
    const struct wio_stream_info *info = wio_trace_stream(writer->trace, stream);
    const struct wio_process_info *process = wio_trace_process(writer->trace, info->process);

    if (process->rank >= 0) {
        (void)fprintf(writer->out, "rank %" PRIi32, process->rank);
    } else {
        (void)fprintf(writer->out, "process %" PRIi32, process->pid);
    }
    if (info->tid != process->pid) {
        (void)fprintf(writer->out, " thread %" PRIi32, info->tid);
    }
}

static void put_end(const struct waits_writer *writer, const struct wio_wait_end *end)
{
    const char *path = wio_trace_string(writer->trace, end->path, NULL);
    struct wio_own_frame frame;
    const char *source;

    put_thread(writer, end->stream);
    (void)fprintf(writer->out, "  %s",
                  end->op != 0 ? wio_op_name(end->op) : "the end of its thread");
    if (path[0] != '\0') {
        (void)fputs("  ", writer->out);
        wio_print_plain(writer->out, path);
    }
    source = wio_own_frames_find(writer->own, end->stream, end->source, &frame)
                 ? frame.text
                 : wio_sources_text(writer->sources, end->source);
    if (source[0] != '\0') {
        (void)fputs("  ", writer->out);
        wio_print_plain(writer->out, source);
    }
    (void)fputc('\n', writer->out);
}

static void put_rows(const struct waits_writer *writer, const struct wio_long_waits *waits)
{
    char text[WIO_TEXT_MAX];

    for (uint32_t i = 0; i < waits->count; i++) {
        const struct wio_long_wait *row = &waits->rows[i];
        (void)fprintf(writer->out, "%8s  %9.3f s  %-7s  ", wio_format_time(text, row->wait_ns),
                      (double)row->begin_ns / 1e9, wio_evidence_name(row->evidence));
        put_end(writer, &row->waiter);
        (void)fprintf(writer->out, "%30s ", "until");
        put_end(writer, &row->other);
    }
    if (waits->seen > waits->count) {
        (void)fprintf(writer->out, "%8s shorter ones (--top=N)\n",
                      wio_format_count(text, waits->seen - waits->count));
    }
}

static void put_heading(const struct wio_long_waits *waits, FILE *out)
{
    char time[WIO_TEXT_MAX];
    char count[WIO_TEXT_MAX];

    if (waits->seen == 0) {
        (void)fputs("No thread waited for another one for longer than 1 us.\n", out);
        return;
    }
    (void)fprintf(out, "%s %s of threads for others, %s together, the longest first:\n\n",
                  wio_format_count(count, waits->seen), waits->seen == 1 ? "wait" : "waits",
                  wio_format_time(time, waits->total_ns));
    (void)fprintf(out, "%8s  %11s  %-7s  %s\n", "WAIT", "FROM", "BY", "OPERATION");
}

enum wio_status wio_report_waits(const struct wio_trace *trace,
                                 const struct wio_edges_report *report, FILE *out,
                                 struct wio_error *err)
{
    WIO_CLEANUP(waits_cleanup) struct wio_long_waits *waits = NULL;
    WIO_CLEANUP(writer_fini) struct waits_writer writer = {.trace = trace, .out = out};
    const struct wio_long_waits_params params = {.struct_size = sizeof(params),
                                                 .count = report->top,
                                                 .progress = report->progress,
                                                 .progress_arg = report->progress_arg};

    WIO_TRY(wio_long_waits_create(trace, &params, &waits, err));
    WIO_TRY(wio_own_frames_create(trace, &writer.own, err));
    WIO_TRY(wio_own_frames_read(writer.own, err));
    WIO_TRY(wio_sources_create(trace, &writer.sources, err));
    put_heading(waits, out);
    put_rows(&writer, waits);
    return WIO_OK;
}
