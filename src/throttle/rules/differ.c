/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/rules/differ.h"

#include <stdio.h>
#include <stdlib.h>

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

/* The node of a list, by its first operation. */
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

/* The contended lock or queue near the operation, in this run. */
static enum wio_status find_turns(const struct wio_differ_run *run, const struct wio_run_list *list,
                                  const struct wio_differ_op *op, char *name, struct wio_error *err)
{
    bool *is_mine = calloc((size_t)wio_trace_stream_count(run->trace) + 1, sizeof(*is_mine));
    if (is_mine == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    for (size_t i = 0; i < list->count; i++) {
        is_mine[list->points[i].stream] = true;
    }
    uint64_t seq = op->is_there ? op->seq : UINT64_MAX;
    enum wio_status status = wio_turns_find(run->trace, is_mine, seq, name, err);
    free(is_mine);
    return status;
}

/* A lock decided if both runs have one there; the first run's name for it counts. */
static enum wio_status describe_turns(const struct wio_run_difference *found,
                                      const struct wio_differ_run runs[2],
                                      struct wio_difference *out, struct wio_error *err)
{
    char other[WIO_TURNS_NAME_BYTES] = "";
    char name[WIO_TURNS_NAME_BYTES] = "";
    WIO_TRY(find_turns(&runs[1], &runs[1].ops->lists[found->node], &out->ops[1], other, err));
    WIO_TRY(find_turns(&runs[0], &runs[0].ops->lists[found->node], &out->ops[0], name, err));
    bool decided = other[0] != '\0' && name[0] != '\0';
    (void)snprintf(out->turns, sizeof(out->turns), "%s", decided ? name : "");
    return WIO_OK;
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
    return found->is_same_work ? describe_turns(found, runs, difference_out, err) : WIO_OK;
}
