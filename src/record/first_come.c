/* SPDX-License-Identifier: Apache-2.0 */
#include "record/first_come.h"

#include <string.h>

#include <whyio/edges.h>

#include "base/cleanup.h"
#include "record/join.h"
#include "trace/calls.h"

#define FIRST_COME (1u << WIO_EDGE_MUTEX | 1u << WIO_EDGE_QUEUE)

struct look {
    struct wio_trace *trace;
    const struct wio_difference *difference;
};

static void close_trace(struct wio_trace **trace)
{
    wio_trace_close(*trace);
}

static bool is_its_stream(const struct look *look, uint32_t index)
{
    const struct wio_stream_info *stream = wio_trace_stream(look->trace, index);
    return stream->tid == look->difference->tid &&
           wio_trace_process(look->trace, stream->process)->pid == look->difference->pid;
}

/* Does the thread share a lock or a queue with others at all? */
static enum wio_status find_shared(const struct look *look, bool *found_out, struct wio_error *err)
{
    struct wio_edge_cursor *cursor;
    const struct wio_edge_row *row;
    const struct wio_edge_filter filter = {.struct_size = sizeof(filter),
                                           .kind = WIO_EDGES_IN,
                                           .has_implied = true,
                                           .classes = FIRST_COME};
    WIO_TRY(wio_edge_cursor_create(wio_trace_edges(look->trace), &filter, &cursor, err));
    enum wio_status status = WIO_OK;
    while (!*found_out && (status = wio_edge_cursor_next(cursor, &row, err)) == WIO_OK) {
        *found_out = is_its_stream(look, row->from.stream) || is_its_stream(look, row->to.stream);
    }
    wio_edge_cursor_destroy(cursor);
    return status == WIO_END ? WIO_OK : status;
}

/* Whoever does this may get it before or after another one. */
static bool is_request(const struct wio_trace *trace, const struct wio_event *event)
{
    const char *path = wio_trace_string(trace, event->path, NULL);
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_MUTEX:
    case WIO_CLASS_MPI_LOCK:
    case WIO_CLASS_LOCK:
    case WIO_CLASS_FCNTL:
    case WIO_CLASS_SEM_WAIT:
        return true;
    case WIO_CLASS_READ:
        return strncmp(path, "pipe:", 5) == 0 || strncmp(path, "socket:", 7) == 0;
    default:
        return false;
    }
}

/* The first request of the stream, if it lies before the point at which the runs part. Behind the
 * last operation of a run that has ended there is no number: all are before it. */
static enum wio_status find_request(const struct look *look, uint32_t stream, bool *found_out,
                                    struct wio_error *err)
{
    struct wio_cursor *cursor;
    const struct wio_event *event;
    const struct wio_differ_op *op = &look->difference->ops[0];
    const struct wio_filter filter = {.struct_size = sizeof(filter),
                                      .order = WIO_ORDER_STREAM,
                                      .streams = &stream,
                                      .stream_count = 1,
                                      .columns = WIO_COLUMN_PATH};
    WIO_TRY(wio_cursor_create(look->trace, &filter, &cursor, err));
    enum wio_status status = WIO_OK;
    while (!*found_out && (status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
        if (op->is_there && event->seq >= op->seq) {
            break;
        }
        *found_out = is_request(look->trace, event);
    }
    wio_cursor_destroy(cursor);
    return status == WIO_END ? WIO_OK : status;
}

static enum wio_status judge(const struct look *look, bool *first_come_out, struct wio_error *err)
{
    bool is_shared = false;
    WIO_TRY(find_shared(look, &is_shared, err));
    for (uint32_t s = 0; is_shared && s < wio_trace_stream_count(look->trace); s++) {
        if (!*first_come_out && is_its_stream(look, s)) {
            WIO_TRY(find_request(look, s, first_come_out, err));
        }
    }
    return WIO_OK;
}

enum wio_status wio_first_come(const char *dir, const struct wio_difference *difference,
                               bool *first_come_out, struct wio_error *err)
{
    WIO_CLEANUP(close_trace) struct wio_trace *trace = NULL;
    const struct wio_join_params join = {.struct_size = sizeof(join), .in_memory = true};
    *first_come_out = false;
    WIO_TRY(wio_trace_open(dir, &trace, err));
    WIO_TRY(wio_join(trace, &join, err));
    return judge(&(struct look){trace, difference}, first_come_out, err);
}
