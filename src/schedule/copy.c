/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/copy.h"

#include <stdlib.h>

#include <whyio/segment.h>

#include "base/cleanup.h"

struct copy {
    const struct wio_trace *trace;
    struct wio_segment *segment;
    uint32_t *strings; /* id in the trace -> id in the segment + 1, 0 = not there yet */
    uint32_t string_count;
    wio_copy_event_fn *change;
    void *arg;
    struct wio_error *err;
};

static enum wio_status copy_processes(struct copy *copy)
{
    uint32_t index;
    for (uint32_t i = 0; i < wio_trace_process_count(copy->trace); i++) {
        struct wio_process_info process = *wio_trace_process(copy->trace, i);
        /* those are times of the program's run: how long this one took its operations say */
        process.start_ns = 0;
        process.end_ns = 0;
        process.opened_count = 0; /* with string ids of the trace */
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
    struct wio_event own = *event;
    if (!copy->change(copy->arg, &own)) {
        return WIO_OK;
    }
    own.source = 0;
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
    WIO_TRY(copy_processes(copy));
    WIO_TRY(copy_events(copy));
    WIO_TRY(wio_segment_meta(copy->segment, WIO_SEGMENT_META_VERSION, WIO_VERSION,
                             sizeof(WIO_VERSION) - 1, copy->err));
    return wio_segment_meta(copy->segment, WIO_SEGMENT_META_RECORDER_DONE, "1", 1, copy->err);
}

enum wio_status wio_trace_copy(const struct wio_trace *trace, const char *path,
                               wio_copy_event_fn *change, void *arg, struct wio_error *err)
{
    struct wio_trace_info info;
    wio_trace_get_info(trace, &info);
    const struct wio_segment_params params = {
        .struct_size = sizeof(params), .base_unix_ns = info.start_unix_ns, .boot_id = ""};
    struct copy copy = {.trace = trace,
                        .string_count = wio_trace_string_count(trace) + 1,
                        .change = change,
                        .arg = arg,
                        .err = err};
    copy.strings = calloc(copy.string_count, sizeof(*copy.strings));
    if (copy.strings == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, path, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    enum wio_status status = wio_segment_create(path, &params, &copy.segment, err);
    if (status == WIO_OK) {
        status = copy_all(&copy);
        if (status == WIO_OK) {
            status = wio_segment_finish(copy.segment, err);
        } else {
            wio_segment_abandon(copy.segment);
        }
    }
    free(copy.strings);
    return status;
}
