/* SPDX-License-Identifier: Apache-2.0 */
/* The edges of a trace, and the clocks that they correct: FORMAT.md R-EDGE-6. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "trace/edges/edge_internal.h"
#include "trace/read/trace_internal.h"

const struct wio_edge_file *wio_trace_edges(const struct wio_trace *trace)
{
    return trace->edges;
}

int wio_trace_directory(const struct wio_trace *trace)
{
    return trace->dir;
}

const char *wio_trace_path(const struct wio_trace *trace)
{
    return trace->path;
}

uint64_t wio_clock_row_apply(const struct wio_clock_row *row, uint64_t t_ns)
{
    if (row == NULL || t_ns > INT64_MAX) {
        return t_ns;
    }
    /* Arithmetic shift: floor, also of negative products. __int128 is a GNU extension. */
    __extension__ typedef __int128 wide;
    wide shift = ((wide)t_ns * row->rate) >> 40;
    wide corrected = (wide)t_ns + shift + row->offset_ns;
    if (corrected < 0) {
        return 0;
    }
    return corrected > INT64_MAX ? INT64_MAX : (uint64_t)corrected;
}

void wio_trace_correct_slice(const struct wio_trace *trace, uint32_t stream,
                             struct wio_event *events, size_t count)
{
    const struct wio_clock_row *row = trace->clocks == NULL ? NULL : trace->clocks[stream];
    for (size_t i = 0; row != NULL && i < count; i++) {
        uint64_t end_ns = wio_clock_row_apply(row, events[i].t_ns + events[i].dur_ns);
        events[i].t_ns = wio_clock_row_apply(row, events[i].t_ns);
        events[i].dur_ns = end_ns - events[i].t_ns;
    }
}

uint64_t wio_trace_correct(const struct wio_trace *trace, uint32_t stream, uint64_t t_ns)
{
    return trace->clocks == NULL ? t_ns : wio_clock_row_apply(trace->clocks[stream], t_ns);
}

/* *last: where the host before was found; those of one host stand together in a trace. */
static const struct wio_clock_row *find_row(const struct wio_clock_row *rows, size_t count,
                                            const char *host, size_t *last)
{
    if (strcmp(rows[*last].host, host) == 0) {
        return &rows[*last];
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].host, host) == 0) {
            *last = i;
            return &rows[i];
        }
    }
    return NULL;
}

static void find_duration(struct wio_trace *trace)
{
    uint64_t latest = 0;
    for (uint32_t i = 0; i < trace->process_count; i++) {
        latest = trace->processes[i].end_ns > latest ? trace->processes[i].end_ns : latest;
    }
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        latest = trace->streams[i].last_ns > latest ? trace->streams[i].last_ns : latest;
    }
    trace->info.duration_ns = latest;
}

/* What is known of processes and streams without their events moves as well. */
static void correct_tables(struct wio_trace *trace, const struct wio_clock_row *rows, size_t count)
{
    size_t last = 0;
    for (uint32_t i = 0; i < trace->process_count; i++) {
        struct wio_process_info *process = &trace->processes[i];
        const struct wio_clock_row *row = find_row(rows, count, process->host, &last);
        process->start_ns = wio_clock_row_apply(row, process->start_ns);
        process->end_ns = wio_clock_row_apply(row, process->end_ns);
    }
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        struct wio_stream_info *stream = &trace->streams[i];
        stream->first_ns = wio_clock_row_apply(trace->clocks[i], stream->first_ns);
        stream->last_ns = wio_clock_row_apply(trace->clocks[i], stream->last_ns);
    }
    find_duration(trace);
}

static void point_to(struct wio_trace *trace, const struct wio_clock_row *rows, size_t count)
{
    size_t last = 0;
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        const struct wio_process_info *process = &trace->processes[trace->streams[i].process];
        trace->clocks[i] = find_row(rows, count, process->host, &last);
    }
}

enum wio_status wio_trace_set_clocks(struct wio_trace *trace, const struct wio_clock_row *rows,
                                     size_t count, struct wio_error *err)
{
    bool was_corrected = trace->clocks != NULL;
    if (count == 0) {
        return WIO_OK;
    }
    if (!was_corrected) {
        trace->clocks =
            calloc((size_t)trace->stream_count + 1, sizeof(const struct wio_clock_row *));
    }
    if (trace->clocks == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, trace->path, WIO_ERROR_NO_OFFSET,
                             "no memory for the clocks");
    }
    point_to(trace, rows, count);
    if (!was_corrected) {
        correct_tables(trace, rows, count);
    }
    return WIO_OK;
}

void wio_trace_forget_clocks(struct wio_trace *trace, const struct wio_clock_row *rows)
{
    bool is_theirs = trace->edges != NULL && trace->edges->clocks != rows;
    if (!is_theirs) {
        free(trace->clocks);
        trace->clocks = NULL;
    }
}

enum wio_status wio_trace_take_edges(struct wio_trace *trace, struct wio_edge_file *file,
                                     struct wio_error *err)
{
    WIO_PRE(trace->edges == NULL);
    trace->edges = file;
    return wio_trace_set_clocks(trace, file->clocks, file->clock_count, err);
}
