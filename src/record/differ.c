/* SPDX-License-Identifier: Apache-2.0 */
#include "record/differ.h"

#include <stdio.h>

#include "base/cleanup.h"

static void describe_event(const struct wio_trace *trace, const struct wio_event *event,
                           struct wio_differ_op *out)
{
    *out = (struct wio_differ_op){.is_there = true,
                                  .offset = event->offset,
                                  .size = event->size,
                                  .result = event->result,
                                  .seq = event->seq};
    snprintf(out->name, sizeof(out->name), "%s", wio_op_name(event->op));
    snprintf(out->path, sizeof(out->path), "%s", wio_trace_string(trace, event->path, NULL));
}

static enum wio_status find_event(const struct wio_trace *trace, struct wio_edge_point point,
                                  struct wio_differ_op *out, struct wio_error *err)
{
    struct wio_cursor *cursor;
    const struct wio_event *event;
    const struct wio_filter filter = {.struct_size = sizeof(filter),
                                      .order = WIO_ORDER_STREAM,
                                      .streams = &point.stream,
                                      .stream_count = 1};
    WIO_TRY(wio_cursor_create(trace, &filter, &cursor, err));
    enum wio_status status;
    while ((status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
        if (event->seq == point.seq) {
            describe_event(trace, event, out);
            break;
        }
    }
    wio_cursor_destroy(cursor);
    return status == WIO_END ? WIO_OK : status;
}

/* Whose list it is: by any of its operations. */
static void name_node(const struct wio_trace *trace, const struct wio_run_list *list,
                      struct wio_difference *out)
{
    if (list->count > 0) {
        const struct wio_stream_info *stream = wio_trace_stream(trace, list->points[0].stream);
        const struct wio_process_info *process = wio_trace_process(trace, stream->process);
        out->rank = process->rank;
        out->pid = process->pid;
        out->tid = stream->tid;
    }
}

enum wio_status wio_differ_describe(const struct wio_run_difference *found,
                                    const struct wio_differ_run runs[2],
                                    struct wio_difference *difference_out, struct wio_error *err)
{
    *difference_out = (struct wio_difference){.runs = {1, found->run + 1}, .rank = -1};
    for (int i = 1; i >= 0; i--) { /* the first run's name for the node counts */
        const struct wio_run_list *list = &runs[i].ops->lists[found->node];
        name_node(runs[i].trace, list, difference_out);
        if (found->raw[i] < list->count) {
            WIO_TRY(find_event(runs[i].trace, list->points[found->raw[i]], &difference_out->ops[i],
                               err));
        }
    }
    return WIO_OK;
}
