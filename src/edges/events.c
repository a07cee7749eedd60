/* SPDX-License-Identifier: Apache-2.0 */
/* All events of a trace, in the order of time, through the inference. */
#include "base/cleanup.h"
#include "edges/edges_internal.h"
#include "edges/paths.h"

/* Progress is told after so many events. */
#define EVENTS_PER_STEP 65536u

static enum wio_status no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "no memory to find edges");
}

struct looks {
    const struct wio_trace *trace;
    struct wio_join_tables *tables;
};

static const char *look_text(void *context, uint32_t string)
{
    const struct looks *looks = context;
    return wio_trace_string(looks->trace, string, NULL);
}

static bool look_fifo(void *context, uint32_t string)
{
    const struct looks *looks = context;
    return (looks->tables->fifos[string / 64] >> (string % 64) & 1) != 0;
}

static uint32_t look_real(void *context, uint32_t string, bool follows)
{
    const struct looks *looks = context;
    return wio_join_links_real(&looks->tables->links, string, follows);
}

static uint32_t look_file_system(void *context, uint32_t host, uint32_t string)
{
    const struct looks *looks = context;
    const char *path = wio_join_links_text(&looks->tables->links, looks->trace, string);
    return wio_join_mounts_find(&looks->tables->mounts, host, path);
}

static uint32_t look_below(void *context, uint32_t directory, uint32_t to, size_t i,
                           uint32_t *moved_out)
{
    const struct looks *looks = context;
    return wio_join_below_find(&looks->tables->below, looks->trace, directory, to, i, moved_out);
}

enum wio_status wio_join_failed(const struct wio_trace *trace, enum wio_status status,
                                struct wio_error *err)
{
    return status == WIO_ERR_NOMEM
               ? no_memory(err)
               : wio_error_set(err, WIO_ERR_UNSUPPORTED, wio_trace_path(trace), WIO_ERROR_NO_OFFSET,
                               "expected fewer than 2^32 - 1 edges");
}

/* All events by time into the inference. */
static enum wio_status infer_events(const struct wio_trace *trace,
                                    const struct wio_join_params *params, struct wio_infer *infer,
                                    struct wio_error *err)
{
    const struct wio_filter filter = {.struct_size = sizeof(filter),
                                      .order = WIO_ORDER_TIME,
                                      .columns = ~(uint64_t)WIO_COLUMN_SOURCE};
    struct wio_trace_info info;
    struct wio_cursor *cursor = NULL;
    const struct wio_event *event = NULL;
    uint64_t done = 0;
    wio_trace_get_info(trace, &info);
    WIO_TRY(wio_cursor_create(trace, &filter, &cursor, err));
    enum wio_status status;
    while ((status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
        status = wio_infer_event(infer, event);
        if (status != WIO_OK) {
            status = wio_join_failed(trace, status, err);
            break;
        }
        if (++done % EVENTS_PER_STEP == 0 && params->progress != NULL) {
            params->progress(params->progress_arg, done, info.events, "events");
        }
    }
    wio_cursor_destroy(cursor);
    if (status != WIO_END) {
        return status;
    }
    status = wio_infer_finish(infer);
    return status == WIO_OK ? WIO_OK : wio_join_failed(trace, status, err);
}

enum wio_status wio_join_events(const struct wio_trace *trace, const struct wio_join_params *params,
                                struct wio_join_tables *tables, const struct wio_join_watch *watch,
                                struct wio_join_result *result, struct wio_error *err)
{
    struct looks looks = {trace, tables};
    const struct wio_infer_names names = {
        .real = look_real,
        .file_system = tables->mounts.first != NULL ? look_file_system : NULL,
        .below = look_below,
    };
    const struct wio_infer_params wanted = {
        .streams = tables->streams,
        .stream_count = wio_trace_stream_count(trace),
        .processes = tables->processes,
        .process_count = wio_trace_process_count(trace),
        .string_count = wio_trace_string_count(trace),
        .text = look_text,
        .is_fifo = look_fifo,
        .names = &names,
        .context = &looks,
    };
    if (wio_infer_create(&wanted, &result->edges, &result->infer) != WIO_OK) {
        return no_memory(err);
    }
    if (watch != NULL) {
        wio_infer_watch(result->infer, watch->call, watch->context);
    }
    bool is_held_only = result->held != NULL && result->held->is_only && watch == NULL;
    return is_held_only ? WIO_OK : infer_events(trace, params, result->infer, err);
}

void wio_join_result_fini(struct wio_join_result *result)
{
    wio_infer_destroy(result->infer);
    wio_edges_fini(&result->edges);
    wio_held_fini(&result->own);
    free(result->is_implied);
}
