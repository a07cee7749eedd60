/* SPDX-License-Identifier: Apache-2.0 */
/* From stored edges to acts (waits.h). */
#include "schedule/waits.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "schedule/lockset.h"

/* ---- reading ---- */

static void cursor_cleanup(struct wio_edge_cursor **cursor)
{
    wio_edge_cursor_destroy(*cursor);
}

static enum wio_status no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                         "no memory for the edges of the trace");
}

static enum wio_status refuse_stream(uint32_t stream, struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_FORMAT, NULL, WIO_ERROR_NO_OFFSET,
                         "an edge of the trace names stream %u, which is not there", stream);
}

static enum wio_status add_edge(struct wio_waits *waits, const struct wio_edge_row *row,
                                uint32_t *room, struct wio_error *err)
{
    if (row->from.stream >= waits->stream_count || row->to.stream >= waits->stream_count) {
        return refuse_stream(
            row->from.stream < waits->stream_count ? row->to.stream : row->from.stream, err);
    }
    void *items = waits->edges;
    if (wio_make_room(&items, sizeof(*waits->edges), room, waits->edge_count + 1) != WIO_OK) {
        return no_memory(err);
    }
    waits->edges = items;
    waits->edges[waits->edge_count++] = (struct wio_plan_edge){
        .from_seq = row->from.seq,
        .to_seq = row->to.seq,
        .from_stream = row->from.stream,
        .to_stream = row->to.stream,
        .object = row->object,
        .edge_class =
            row->edge_class < WIO_EDGE_CLASS_COUNT ? row->edge_class : (uint8_t)WIO_EDGE_HARD,
        .evidence = row->evidence};
    return WIO_OK;
}

static enum wio_status read_edges(struct wio_waits *waits, const struct wio_edge_file *file,
                                  struct wio_error *err)
{
    const struct wio_edge_filter filter = {.struct_size = sizeof(filter), .kind = WIO_EDGES_IN};
    struct wio_edge_cursor *cursor WIO_CLEANUP(cursor_cleanup) = NULL;
    const struct wio_edge_row *row;
    enum wio_status status;
    uint32_t room = 0;
    WIO_TRY(wio_edge_cursor_create(file, &filter, &cursor, err));
    while ((status = wio_edge_cursor_next(cursor, &row, err)) == WIO_OK) {
        WIO_TRY(add_edge(waits, row, &room, err));
    }
    return status == WIO_END ? WIO_OK : status;
}

static enum wio_status add_member(struct wio_waits *waits, const struct wio_member_row *row,
                                  uint32_t *room, struct wio_error *err)
{
    if (row->stream >= waits->stream_count) {
        return refuse_stream(row->stream, err);
    }
    if (row->collective >= waits->meeting_count) {
        return wio_error_set(err, WIO_ERR_FORMAT, NULL, WIO_ERROR_NO_OFFSET,
                             "stream %u is a member of collective %u, which is not there",
                             row->stream, row->collective);
    }
    void *items = waits->members;
    if (wio_make_room(&items, sizeof(*waits->members), room, waits->member_count + 1) != WIO_OK) {
        return no_memory(err);
    }
    waits->members = items;
    waits->members[waits->member_count++] = (struct wio_plan_member){.enter_seq = row->enter_seq,
                                                                     .leave_seq = row->leave_seq,
                                                                     .stream = row->stream,
                                                                     .meeting = row->collective,
                                                                     .gives = row->gives,
                                                                     .takes = row->takes};
    struct wio_meeting *meeting = &waits->meetings[row->collective];
    meeting->givers += row->gives;
    meeting->object = row->object;
    meeting->evidence = row->evidence;
    return WIO_OK;
}

static enum wio_status read_members(struct wio_waits *waits, const struct wio_edge_file *file,
                                    struct wio_error *err)
{
    const struct wio_edge_filter filter = {.struct_size = sizeof(filter),
                                           .kind = WIO_EDGES_MEMBERS};
    struct wio_edge_cursor *cursor WIO_CLEANUP(cursor_cleanup) = NULL;
    const struct wio_member_row *row;
    enum wio_status status;
    uint32_t room = 0;
    WIO_TRY(wio_edge_cursor_create(file, &filter, &cursor, err));
    while ((status = wio_edge_cursor_next_member(cursor, &row, err)) == WIO_OK) {
        WIO_TRY(add_member(waits, row, &room, err));
    }
    return status == WIO_END ? WIO_OK : status;
}

static enum wio_status read_polls(struct wio_waits *waits, const struct wio_edge_file *file,
                                  struct wio_error *err)
{
    const struct wio_edge_filter filter = {.struct_size = sizeof(filter), .kind = WIO_EDGES_WAITS};
    struct wio_edge_cursor *cursor WIO_CLEANUP(cursor_cleanup) = NULL;
    const struct wio_wait_row *row;
    enum wio_status status;
    uint32_t room = 0;
    WIO_TRY(wio_edge_cursor_create(file, &filter, &cursor, err));
    while ((status = wio_edge_cursor_next_wait(cursor, &row, err)) == WIO_OK) {
        void *items = waits->polls;
        if (row->stream >= waits->stream_count) {
            return refuse_stream(row->stream, err);
        }
        if (wio_make_room(&items, sizeof(*waits->polls), &room, waits->poll_count + 1) != WIO_OK) {
            return no_memory(err);
        }
        waits->polls = items;
        waits->polls[waits->poll_count++] =
            (struct wio_plan_poll){row->first_seq, row->last_seq, row->stream, UINT32_MAX};
    }
    return status == WIO_END ? WIO_OK : status;
}

/* ---- the table ---- */

static int by_from(const void *a, const void *b, void *arg)
{
    const struct wio_plan_edge *edges = arg;
    const struct wio_plan_edge *x = &edges[*(const uint32_t *)a];
    const struct wio_plan_edge *y = &edges[*(const uint32_t *)b];
    if (x->from_stream != y->from_stream) {
        return x->from_stream < y->from_stream ? -1 : 1;
    }
    return (x->from_seq > y->from_seq) - (x->from_seq < y->from_seq);
}

/* Where each stream begins in the three tables: `first` says of which stream an item is. */
static void index_streams(struct wio_waits *waits)
{
    struct wio_waits_at at = {0};
    for (uint32_t stream = 0; stream <= waits->stream_count; stream++) {
        while (at.in < waits->edge_count && waits->edges[at.in].to_stream < stream) {
            at.in++;
        }
        while (at.out < waits->edge_count &&
               waits->edges[waits->out[at.out]].from_stream < stream) {
            at.out++;
        }
        while (at.member < waits->member_count && waits->members[at.member].stream < stream) {
            at.member++;
        }
        waits->at[stream] = at;
    }
}

static enum wio_status index_edges(struct wio_waits *waits)
{
    waits->out = calloc((size_t)waits->edge_count + 1, sizeof(*waits->out));
    waits->at = calloc((size_t)waits->stream_count + 1, sizeof(*waits->at));
    waits->held = calloc((size_t)waits->stream_count + 1, sizeof(*waits->held));
    waits->first = calloc((size_t)waits->stream_count + 1, sizeof(*waits->first));
    if (waits->out == NULL || waits->at == NULL || waits->held == NULL || waits->first == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < waits->edge_count; i++) {
        waits->out[i] = i;
    }
    if (waits->edge_count > 0) {
        qsort_r(waits->out, waits->edge_count, sizeof(*waits->out), by_from, waits->edges);
    }
    index_streams(waits);
    return WIO_OK;
}

enum wio_status wio_waits_init(struct wio_waits *waits, const struct wio_trace *trace,
                               bool is_wanted, struct wio_error *err)
{
    struct wio_edge_info info = {0};
    const struct wio_edge_file *file = is_wanted ? wio_trace_edges(trace) : NULL;
    waits->trace = trace;
    waits->stream_count = wio_trace_stream_count(trace);
    if (file != NULL) {
        waits->is_there = true;
        wio_edge_file_get_info(file, &info);
        waits->meeting_count = info.collectives < UINT32_MAX ? (uint32_t)info.collectives : 0;
        waits->meetings = calloc((size_t)waits->meeting_count + 1, sizeof(*waits->meetings));
        if (waits->meetings == NULL) {
            return no_memory(err);
        }
        WIO_TRY(read_edges(waits, file, err));
        WIO_TRY(read_members(waits, file, err));
        WIO_TRY(read_polls(waits, file, err));
    }
    return index_edges(waits) == WIO_OK ? WIO_OK : no_memory(err);
}

void wio_waits_fini(struct wio_waits *waits)
{
    free(waits->edges);
    free(waits->meetings);
    free(waits->members);
    free(waits->polls);
    free(waits->tokens);
    free(waits->spare);
    free(waits->acts);
    free(waits->first);
    free(waits->out);
    free(waits->at);
    free(waits->held);
    wio_map_fini(&waits->queues);
    wio_map_fini(&waits->semaphores);
    wio_map_fini(&waits->locks);
    wio_map_fini(&waits->kept_locks);
    wio_map_fini(&waits->lags);
    wio_map_fini(&waits->works);
    *waits = (struct wio_waits){0};
}

uint64_t wio_lock_key(uint32_t image, int64_t object)
{
    return object < 0 ? (uint64_t)object
                      : (uint64_t)object ^ (uint64_t)image * UINT64_C(0x9e3779b97f4a7c15) >> 1;
}

uint32_t wio_waits_lock(const struct wio_waits *waits, uint32_t image, int64_t object)
{
    const uint64_t *lock =
        waits->lock_count == 0 ? NULL : wio_map_get(&waits->locks, wio_lock_key(image, object));
    return lock == NULL ? UINT32_MAX : (uint32_t)*lock;
}
