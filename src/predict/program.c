/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/program.h"

#include "base/cleanup.h"

static void cursor_cleanup(struct wio_cursor **cursor)
{
    wio_cursor_destroy(*cursor);
}

static enum wio_status see(struct wio_program *program, const struct wio_event *event)
{
    uint32_t image = wio_trace_stream(program->trace, event->stream)->process;
    WIO_TRY(wio_waits_see(&program->waits, event, image));
    WIO_TRY(wio_used_files_see(&program->files, event));
    return wio_calls_see(&program->calls, event);
}

/* One pass over all events, in order of begin. */
static enum wio_status scan(struct wio_program *program, struct wio_error *err)
{
    const struct wio_filter filter = {.struct_size = sizeof(filter),
                                      .order = WIO_ORDER_TIME,
                                      .columns = ~(uint64_t)(WIO_COLUMN_OFFSET | WIO_COLUMN_SIZE)};
    WIO_CLEANUP(cursor_cleanup) struct wio_cursor *cursor = NULL;
    const struct wio_event *event;
    enum wio_status status;
    WIO_TRY(wio_cursor_create(program->trace, &filter, &cursor, err));
    while ((status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
        WIO_TRY(see(program, event));
    }
    if (status != WIO_END) {
        return status;
    }
    wio_used_files_finish(&program->files);
    WIO_TRY(wio_waits_finish(&program->waits));
    return wio_waits_check(&program->waits, err);
}

/* Tables, then the events. */
static enum wio_status read_all(struct wio_program *program, struct wio_error *err)
{
    WIO_TRY(wio_calls_init(&program->calls, wio_trace_stream_count(program->trace)));
    WIO_TRY(wio_used_files_init(&program->files, program->trace));
    WIO_TRY(wio_waits_init(&program->waits, program->trace, true, err));
    return scan(program, err);
}

/* Copies of the program have their ranks behind all of these. */
static uint32_t rank_span(const struct wio_trace *trace, uint32_t least)
{
    uint32_t span = least;
    for (uint32_t i = 0; i < wio_trace_process_count(trace); i++) {
        int32_t rank = wio_trace_process(trace, i)->rank;
        span = rank >= 0 && (uint32_t)rank >= span ? (uint32_t)rank + 1 : span;
    }
    return span;
}

static enum wio_status count_streams(struct wio_program *program)
{
    program->streams_of =
        calloc((size_t)wio_trace_process_count(program->trace) + 1, sizeof(*program->streams_of));
    for (uint32_t i = 0; program->streams_of != NULL && i < wio_trace_stream_count(program->trace);
         i++) {
        program->streams_of[wio_trace_stream(program->trace, i)->process]++;
    }
    return program->streams_of != NULL ? WIO_OK : WIO_ERR_NOMEM;
}

enum wio_status wio_program_init(struct wio_program *program, const struct wio_trace *trace,
                                 struct wio_error *err)
{
    struct wio_trace_info info;
    wio_trace_get_info(trace, &info);
    program->trace = trace;
    program->ranks = info.ranks > 0 ? info.ranks : 1;
    program->rank_span = rank_span(trace, program->ranks);
    enum wio_status status = count_streams(program);
    status = status == WIO_OK ? read_all(program, err) : status;
    if (status == WIO_ERR_NOMEM) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    return status;
}

void wio_program_fini(struct wio_program *program)
{
    wio_waits_fini(&program->waits);
    wio_used_files_fini(&program->files);
    wio_calls_fini(&program->calls);
    free(program->streams_of);
}
