/* SPDX-License-Identifier: Apache-2.0 */
/* A replay as a trace of its own: the recorded operations with the replay's times and results. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "replay/board.h"
#include "replay/replay.h"
#include "trace/segment.h"

struct copy {
    const struct wio_trace *trace;
    const struct rp_board *board;
    struct wio_segment *segment;
    uint32_t *strings; /* id in the trace -> id in the segment + 1, 0 = not there yet */
    uint32_t string_count;
    uint64_t *next; /* of each stream: place of its next event in the records */
    uint64_t *end;
    struct wio_error *err;
};

static enum wio_status copy_processes(struct copy *copy)
{
    uint32_t index;
    for (uint32_t i = 0; i < wio_trace_process_count(copy->trace); i++) {
        struct wio_process_info process = *wio_trace_process(copy->trace, i);
        /* those are times of the program's run: how long the replay ran its operations say */
        process.start_ns = 0;
        process.end_ns = 0;
        WIO_TRY(wio_segment_process(copy->segment, &process, &index, copy->err));
    }
    for (uint32_t i = 0; i < wio_trace_stream_count(copy->trace); i++) {
        const struct wio_stream_info *stream = wio_trace_stream(copy->trace, i);
        WIO_TRY(wio_segment_stream(copy->segment, stream->process, stream->tid, stream->thread,
                                   &index, copy->err));
    }
    return WIO_OK;
}

static enum wio_status copy_string(struct copy *copy, uint32_t id, uint32_t *id_out)
{
    size_t bytes;
    if (id >= copy->string_count) {
        *id_out = WIO_NO_STRING;
        return WIO_OK;
    }
    if (copy->strings[id] == 0) {
        uint32_t fresh;
        const char *text = wio_trace_string(copy->trace, id, &bytes);
        WIO_TRY(wio_segment_string(copy->segment, text, bytes, &fresh, copy->err));
        copy->strings[id] = fresh + 1;
    }
    *id_out = copy->strings[id] - 1;
    return WIO_OK;
}

static enum wio_status copy_event(struct copy *copy, const struct wio_event *event)
{
    uint64_t place = copy->next[event->stream]++;
    if (place >= copy->end[event->stream] || copy->board->records[place].begin_ns == 0) {
        return WIO_OK;
    }
    const struct rp_record *record = &copy->board->records[place];
    struct wio_event own = *event;
    own.t_ns = record->begin_ns - 1;
    own.dur_ns = record->dur_ns;
    own.error = (uint16_t)record->error;
    own.source = 0;
    bool keeps_result = event->error == 0 && record->error == 0 && record->result == 0;
    own.result = keeps_result ? event->result : record->result; /* descriptors, addresses */
    WIO_TRY(copy_string(copy, event->path, &own.path));
    WIO_TRY(copy_string(copy, event->path2, &own.path2));
    return wio_segment_append(copy->segment, &own, copy->err);
}

static void cursor_cleanup(struct wio_cursor **cursor)
{
    wio_cursor_destroy(*cursor);
}

static enum wio_status copy_events(struct copy *copy)
{
    const struct wio_filter filter = {.struct_size = sizeof(filter), .order = WIO_ORDER_STREAM};
    struct wio_cursor *cursor WIO_CLEANUP(cursor_cleanup) = NULL;
    const struct wio_event *event;
    enum wio_status status;
    WIO_TRY(wio_cursor_create(copy->trace, &filter, &cursor, copy->err));
    while ((status = wio_cursor_next(cursor, &event, copy->err)) == WIO_OK) {
        WIO_TRY(copy_event(copy, event));
    }
    return status == WIO_END ? WIO_OK : status;
}

static enum wio_status copy_all(struct copy *copy)
{
    uint64_t at = 0;
    uint32_t streams = wio_trace_stream_count(copy->trace);
    for (uint32_t i = 0; i < streams; i++) {
        copy->next[i] = at;
        at += wio_trace_stream(copy->trace, i)->events;
        copy->end[i] = at;
    }
    WIO_TRY(copy_processes(copy));
    WIO_TRY(copy_events(copy));
    WIO_TRY(wio_segment_meta(copy->segment, WIO_SEGMENT_META_VERSION, WIO_VERSION,
                             sizeof(WIO_VERSION) - 1, copy->err));
    return wio_segment_meta(copy->segment, WIO_SEGMENT_META_RECORDER_DONE, "1", 1, copy->err);
}

enum wio_status wio_replay_write_trace(const struct wio_trace *trace,
                                       const struct wio_replay_result *result, const char *dir,
                                       struct wio_error *err)
{
    char name[PATH_MAX];
    const struct wio_segment_params params = {.struct_size = sizeof(params), .boot_id = ""};
    struct copy copy = {.trace = trace, .board = result->events, .err = err};
    if (copy.board == NULL) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "the replay has not kept its events");
    }
    (void)snprintf(name, sizeof(name), "%s/replay.seg", dir);
    copy.string_count = wio_trace_string_count(trace) + 1;
    copy.strings = calloc(copy.string_count, sizeof(*copy.strings));
    copy.next = calloc((size_t)wio_trace_stream_count(trace) + 1, sizeof(*copy.next));
    copy.end = calloc((size_t)wio_trace_stream_count(trace) + 1, sizeof(*copy.end));
    enum wio_status status = WIO_ERR_NOMEM;
    if (copy.strings != NULL && copy.next != NULL && copy.end != NULL) {
        status = wio_segment_create(name, &params, &copy.segment, err);
    }
    if (status == WIO_OK) {
        status = copy_all(&copy);
        if (status == WIO_OK) {
            status = wio_segment_finish(copy.segment, err);
        } else {
            wio_segment_abandon(copy.segment);
        }
    }
    free(copy.strings);
    free(copy.next);
    free(copy.end);
    return status;
}
