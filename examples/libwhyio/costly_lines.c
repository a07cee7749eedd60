/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source lines whose I/O takes longest, summed over all threads, of a trace that `whyio record`
 * has made. An example of a program on top of libwhyio: reading events, source lines, edges.
 *
 *     cc costly_lines.c $(pkg-config --cflags --libs whyio) -o costly_lines
 *     ./costly_lines run.whyio
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <whyio/edges.h>
#include <whyio/ops.h>
#include <whyio/source.h>
#include <whyio/trace.h>

#define LINES 10

struct line {
    uint32_t source;
    uint64_t calls;
    uint64_t time_ns;
};

static int dearer_first(const void *a, const void *b)
{
    const struct line *left = a;
    const struct line *right = b;

    return left->time_ns < right->time_ns ? 1 : left->time_ns > right->time_ns ? -1 : 0;
}

/* One struct line for each source id of the trace: the time of its reads and writes. */
static enum wio_status sum_lines(const struct wio_trace *trace, struct line *lines,
                                 struct wio_error *err)
{
    const struct wio_filter filter = {
        .struct_size = sizeof(filter),
        .order = WIO_ORDER_STREAM,
        .columns = WIO_COLUMN_DURATION | WIO_COLUMN_SOURCE | WIO_COLUMN_FLAGS,
    };
    struct wio_cursor *cursor;
    const struct wio_event *events;
    size_t count;
    enum wio_status status = wio_cursor_create(trace, &filter, &cursor, err);

    if (status != WIO_OK) {
        return status;
    }
    while ((status = wio_cursor_next_block(cursor, &events, &count, err)) == WIO_OK) {
        for (size_t i = 0; i < count; i++) {
            const struct wio_event *event = &events[i];
            unsigned does = wio_op_properties(event->op);
            if ((does & (WIO_DOES_READS | WIO_DOES_WRITES)) != 0 &&
                (event->flags & WIO_EVENT_CAUSED) == 0) {
                lines[event->source].calls++;
                lines[event->source].time_ns += event->dur_ns;
            }
        }
    }
    wio_cursor_destroy(cursor);
    return status == WIO_END ? WIO_OK : status;
}

static enum wio_status print_lines(const struct wio_trace *trace, struct wio_error *err)
{
    uint32_t count = wio_trace_source_count(trace);
    struct line *lines = calloc((size_t)count + 1, sizeof(*lines)); /* 0: unknown */
    struct wio_sources *sources = NULL;
    enum wio_status status = WIO_OK;

    if (lines == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "no memory");
    }
    for (uint32_t i = 0; i < count; i++) {
        lines[i].source = i;
    }
    status = sum_lines(trace, lines, err);
    if (status == WIO_OK) {
        status = wio_sources_create(trace, &sources, err);
    }
    if (status == WIO_OK) {
        qsort(lines, count, sizeof(*lines), dearer_first);
        for (uint32_t i = 0; i < count && i < LINES && lines[i].calls > 0; i++) {
            const char *text = wio_sources_text(sources, lines[i].source);
            printf("%12.6f s %10" PRIu64 " calls  %s\n", (double)lines[i].time_ns * 1e-9,
                   lines[i].calls, text[0] == '\0' ? "unknown" : text);
        }
        wio_sources_destroy(sources);
    }
    free(lines);
    return status;
}

static void print_edges(const struct wio_trace *trace)
{
    const struct wio_edge_file *edges = wio_trace_edges(trace);
    struct wio_edge_info info;

    if (edges == NULL) {
        printf("no happens-before edges are stored\n");
        return;
    }
    wio_edge_file_get_info(edges, &info);
    printf("%" PRIu64 " happens-before edges, %" PRIu64 " collectives\n", info.edges,
           info.collectives);
}

int main(int argc, char **argv)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = NULL;
    char text[2048];

    if (argc != 2) {
        fprintf(stderr, "usage: costly_lines TRACE\n");
        return 2;
    }
    enum wio_status status = wio_trace_open(argv[1], &trace, &err);
    if (status == WIO_OK) {
        status = print_lines(trace, &err);
    }
    if (status == WIO_OK) {
        print_edges(trace);
    }
    wio_trace_close(trace);
    if (status != WIO_OK) {
        wio_error_format(&err, text, sizeof(text));
        fprintf(stderr, "costly_lines: %s\n", text);
    }
    return wio_status_exit(status);
}
