/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/digest/long_waits.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "explain/account.h"
#include "explain/critical_path/timeline.h"

#define PROGRESS_EVENTS 65536u

/* The rows fill up to twice what is wanted, then the shorter half goes. */
struct waits_finder {
    struct wio_long_waits *waits;
    uint32_t wanted;
    uint32_t capacity;
    struct wio_steps steps;
    struct wio_timeline timeline;
    uint8_t *is_channel; /* by string id */
};

static void finder_fini(struct waits_finder *finder)
{
    wio_timeline_fini(&finder->timeline);
    wio_steps_fini(&finder->steps);
    free(finder->is_channel);
}

static enum wio_status no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                         "no memory for the waits of a trace");
}

/* ---- the first pass: waits ---- */

static int by_length(const void *a, const void *b)
{
    const struct wio_long_wait *x = a;
    const struct wio_long_wait *y = b;

    if (x->wait_ns != y->wait_ns) {
        return x->wait_ns > y->wait_ns ? -1 : 1;
    }
    if (x->begin_ns != y->begin_ns) {
        return x->begin_ns < y->begin_ns ? -1 : 1;
    }
    return (x->waiter.stream > y->waiter.stream) - (x->waiter.stream < y->waiter.stream);
}

static void keep_longest(struct waits_finder *finder)
{
    struct wio_long_waits *waits = finder->waits;

    if (waits->count > 1) {
        qsort(waits->rows, waits->count, sizeof(*waits->rows), by_length);
    }
    waits->count = waits->count < finder->wanted ? waits->count : finder->wanted;
}

static enum wio_status wait_ended(void *arg, uint32_t step, const struct wio_path *mine,
                                  const struct wio_wait_release *release, uint64_t begin_ns)
{
    struct waits_finder *finder = arg;
    struct wio_long_waits *waits = finder->waits;
    uint32_t stream = finder->steps.steps[step].stream;
    void *rows = waits->rows;

    (void)mine;
    waits->seen++;
    waits->total_ns += release->ns - begin_ns;
    if (waits->count >= 2 * (uint64_t)finder->wanted) {
        keep_longest(finder);
    }
    if (finder->wanted == 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_make_room(&rows, sizeof(*waits->rows), &finder->capacity, waits->count + 1));
    waits->rows = rows;
    waits->rows[waits->count++] = (struct wio_long_wait){
        .begin_ns = begin_ns,
        .wait_ns = release->ns - begin_ns,
        .waiter = {.stream = stream, .seq = finder->timeline.threads[stream].wait.seq},
        .other = {.stream = release->stream, .seq = release->seq},
        .evidence = release->evidence,
    };
    return WIO_OK;
}

static void cursor_cleanup(struct wio_cursor **cursor)
{
    wio_cursor_destroy(*cursor);
}

static enum wio_status read_events(struct waits_finder *finder, const struct wio_trace *trace,
                                   const struct wio_long_waits_params *params,
                                   struct wio_error *err)
{
    const struct wio_filter filter = {
        .struct_size = sizeof(filter),
        .order = WIO_ORDER_TIME,
        .columns = WIO_COLUMN_TIME | WIO_COLUMN_PATH | WIO_COLUMN_RESULT | WIO_COLUMN_ERROR |
                   WIO_COLUMN_SOURCE | WIO_COLUMN_FLAGS | WIO_COLUMN_ARGS | WIO_COLUMN_CPU};
    WIO_CLEANUP(cursor_cleanup) struct wio_cursor *cursor = NULL;
    const struct wio_event *event;
    struct wio_trace_info info;
    enum wio_status status;
    uint64_t done = 0;
    uint32_t step;

    wio_trace_get_info(trace, &info);
    WIO_TRY(wio_cursor_create(trace, &filter, &cursor, err));
    while ((status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
        WIO_TRY(wio_timeline_event(&finder->timeline, event, &step, err));
        if (++done % PROGRESS_EVENTS == 0 && params->progress != NULL) {
            params->progress(params->progress_arg, done, info.events, "events");
        }
    }
    WIO_TRY(status == WIO_END ? WIO_OK : status);
    return wio_timeline_end(&finder->timeline, WIO_NOTHING, err);
}

static enum wio_status find_waits(struct waits_finder *finder, const struct wio_trace *trace,
                                  const struct wio_long_waits_params *params, struct wio_error *err)
{
    WIO_TRY(wio_steps_init(&finder->steps, trace));
    finder->timeline.path_count = wio_trace_string_count(trace) + 1;
    finder->is_channel = calloc(finder->timeline.path_count, 1);
    if (finder->is_channel == NULL) {
        return WIO_ERR_NOMEM;
    }
    wio_account_find_channels(trace, finder->is_channel);
    WIO_TRY(wio_timeline_init(&finder->timeline, trace, &finder->steps, err));
    finder->timeline.is_not_a_file = finder->is_channel;
    finder->timeline.wait_ended = wait_ended;
    finder->timeline.wait_arg = finder;
    WIO_TRY(read_events(finder, trace, params, err));
    keep_longest(finder);
    return WIO_OK;
}

/* ---- the second pass: what the two operations are ---- */

/* The ends of all rows, by stream and seq. */
struct end_list {
    struct wio_wait_end **ends;
    uint32_t *streams; /* those that occur, without repetition */
    uint32_t *first;   /* of each stream of the trace: the next of its ends */
    uint32_t count;
    uint32_t stream_count;
};

static void end_list_fini(struct end_list *list)
{
    free(list->ends);
    free(list->streams);
    free(list->first);
}

static int by_place(const void *a, const void *b)
{
    const struct wio_wait_end *x = *(struct wio_wait_end *const *)a;
    const struct wio_wait_end *y = *(struct wio_wait_end *const *)b;

    if (x->stream != y->stream) {
        return x->stream < y->stream ? -1 : 1;
    }
    return (x->seq > y->seq) - (x->seq < y->seq);
}

static enum wio_status list_ends(struct wio_long_waits *waits, uint32_t streams,
                                 struct end_list *list)
{
    list->ends = calloc(2 * (size_t)waits->count + 1, sizeof(struct wio_wait_end *));
    list->streams = calloc(2 * (size_t)waits->count + 1, sizeof(*list->streams));
    list->first = calloc((size_t)streams + 1, sizeof(*list->first));
    if (list->ends == NULL || list->streams == NULL || list->first == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < waits->count; i++) {
        list->ends[list->count++] = &waits->rows[i].waiter;
        list->ends[list->count++] = &waits->rows[i].other;
    }
    if (list->count > 1) {
        qsort(list->ends, list->count, sizeof(struct wio_wait_end *), by_place);
    }
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t stream = list->ends[i]->stream;
        if (stream < streams && (i == 0 || list->ends[i - 1]->stream != stream)) {
            list->streams[list->stream_count++] = stream;
            list->first[stream] = i;
        }
    }
    return WIO_OK;
}

static void fill(struct end_list *list, const struct wio_event *event)
{
    uint32_t *at = &list->first[event->stream];

    while (*at < list->count && list->ends[*at]->stream == event->stream &&
           list->ends[*at]->seq <= event->seq) {
        struct wio_wait_end *end = list->ends[(*at)++];
        if (end->seq == event->seq) {
            end->op = event->op;
            end->path = event->path;
            end->source = event->source;
        }
    }
}

static enum wio_status name_ends(struct wio_long_waits *waits, const struct wio_trace *trace,
                                 struct wio_error *err)
{
    WIO_CLEANUP(end_list_fini) struct end_list list = {0};
    WIO_CLEANUP(cursor_cleanup) struct wio_cursor *cursor = NULL;
    struct wio_filter filter = {.struct_size = sizeof(filter),
                                .order = WIO_ORDER_STREAM,
                                .columns = WIO_COLUMN_PATH | WIO_COLUMN_SOURCE};
    const struct wio_event *events;
    enum wio_status status;
    size_t count;

    if (waits->count == 0) {
        return WIO_OK;
    }
    WIO_TRY(list_ends(waits, wio_trace_stream_count(trace), &list));
    filter.streams = list.streams;
    filter.stream_count = list.stream_count;
    WIO_TRY(wio_cursor_create(trace, &filter, &cursor, err));
    while ((status = wio_cursor_next_block(cursor, &events, &count, err)) == WIO_OK) {
        for (size_t i = 0; i < count; i++) {
            fill(&list, &events[i]);
        }
    }
    return status == WIO_END ? WIO_OK : status;
}

/* ---- all of it ---- */

void wio_long_waits_destroy(struct wio_long_waits *waits)
{
    if (waits != NULL) {
        free(waits->rows);
        free(waits);
    }
}

enum wio_status wio_long_waits_create(const struct wio_trace *trace,
                                      const struct wio_long_waits_params *params,
                                      struct wio_long_waits **waits_out, struct wio_error *err)
{
    struct wio_long_waits *waits = calloc(1, sizeof(*waits));
    struct waits_finder finder = {.waits = waits, .wanted = params->count};
    enum wio_status status = WIO_ERR_NOMEM;

    *waits_out = NULL;
    if (waits != NULL) {
        status = find_waits(&finder, trace, params, err);
        finder_fini(&finder);
    }
    if (status == WIO_OK) {
        status = name_ends(waits, trace, err);
    }
    if (status != WIO_OK) {
        wio_long_waits_destroy(waits);
        return status == WIO_ERR_NOMEM ? no_memory(err) : status;
    }
    *waits_out = waits;
    return WIO_OK;
}
