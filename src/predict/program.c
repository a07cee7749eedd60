/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/program.h"

#include "base/cleanup.h"

static void cursor_cleanup(struct wio_cursor **cursor)
{
    wio_cursor_destroy(*cursor);
}

static enum wio_status see(struct wio_program *program, const struct wio_event *events,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t image = wio_trace_stream(program->trace, events[i].stream)->process;
        WIO_TRY(wio_waits_see(&program->waits, &events[i], image));
        WIO_TRY(wio_opened_see(&program->opened, &events[i], image));
        WIO_TRY(wio_calls_see(&program->calls, &events[i]));
    }
    return WIO_OK;
}

/* One pass over all events, one stream after the other. */
static enum wio_status scan(struct wio_program *program, struct wio_error *err)
{
    const struct wio_filter filter = {
        .struct_size = sizeof(filter),
        .order = WIO_ORDER_STREAM,
        .columns = WIO_COLUMN_TIME | WIO_COLUMN_FD | WIO_COLUMN_RESULT | WIO_COLUMN_ERROR |
                   WIO_COLUMN_SOURCE | WIO_COLUMN_FLAGS | WIO_COLUMN_ARGS | WIO_COLUMN_CPU};
    WIO_CLEANUP(cursor_cleanup) struct wio_cursor *cursor = NULL;
    const struct wio_event *events;
    enum wio_status status;
    size_t count;
    WIO_TRY(wio_cursor_create(program->trace, &filter, &cursor, err));
    while ((status = wio_cursor_next_block(cursor, &events, &count, err)) == WIO_OK) {
        WIO_TRY(see(program, events, count));
    }
    if (status != WIO_END) {
        return status;
    }
    wio_opened_finish(&program->opened);
    WIO_TRY(wio_waits_finish(&program->waits));
    return wio_waits_check(&program->waits, err);
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

enum wio_status wio_program_init(struct wio_program *program, const struct wio_trace *trace,
                                 struct wio_error *err)
{
    struct wio_trace_info info;
    wio_trace_get_info(trace, &info);
    program->trace = trace;
    program->opened.trace = trace;
    program->ranks = info.ranks > 0 ? info.ranks : 1;
    program->rank_span = rank_span(trace, program->ranks);
    WIO_TRY(wio_waits_init(&program->waits, trace, true, err));
    enum wio_status status = scan(program, err);
    if (status == WIO_ERR_NOMEM) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    return status;
}

void wio_program_fini(struct wio_program *program)
{
    wio_waits_fini(&program->waits);
    wio_opened_fini(&program->opened);
    wio_calls_fini(&program->calls);
}
