/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/sized.h"
#include "trace/read/cursor_internal.h"

/* R-DAMAGE-1: unpacked blocks of all lanes together stay below this. Lanes opened beyond it unpack
 * their block anew for each slice, in one shared place: slower, but never out of memory. */
#define UNPACKED_MAX_BYTES (64u << 20)
/* Decoded events of all lanes together, about. */
#define SLICES_MAX_BYTES (48u << 20)
#define SLICE_MIN 16u

void wio_cursor_destroy(struct wio_cursor *cursor)
{
    if (cursor == NULL) {
        return;
    }
    for (uint32_t i = 0; i < cursor->lane_count; i++) {
        wio_lane_fini(cursor, &cursor->lanes[i]);
    }
    free(cursor->lanes);
    free(cursor->heap);
    wio_blob_fini(&cursor->payload);
    wio_blob_fini(&cursor->shared);
    wio_pack_fini(&cursor->pack);
    wio_selection_fini(&cursor->selection);
    free(cursor);
}

static void destroy_cleanup(struct wio_cursor **cursor)
{
    wio_cursor_destroy(*cursor);
}

static bool has_lane(const struct wio_cursor *cursor, uint32_t stream)
{
    return cursor->selection.streams[stream] && cursor->trace->ranges[stream].count > 0;
}

/* Many cursors, each of one stream, take no room for the streams of all others. */
static enum wio_status make_lanes(struct wio_cursor *cursor)
{
    const struct wio_trace *trace = cursor->trace;
    size_t count = 0;
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        count += has_lane(cursor, i);
    }
    cursor->lanes = calloc(count + 1, sizeof(*cursor->lanes));
    cursor->heap = calloc(count + 1, sizeof(*cursor->heap));
    if (cursor->lanes == NULL || cursor->heap == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        if (has_lane(cursor, i)) {
            cursor->lanes[cursor->lane_count++].stream = i;
        }
    }
    free(cursor->selection.streams); /* the lanes are what it selects */
    cursor->selection.streams = NULL;
    cursor->slice_max = WIO_SLICE_MAX;
    if (cursor->order == WIO_ORDER_TIME && cursor->lane_count > 0) {
        size_t share = SLICES_MAX_BYTES / sizeof(struct wio_event) / cursor->lane_count;
        share = share > SLICE_MIN ? share : SLICE_MIN;
        cursor->slice_max = share < WIO_SLICE_MAX ? share : WIO_SLICE_MAX;
    }
    return WIO_OK;
}

static bool is_before(const struct wio_cursor *cursor, uint32_t a, uint32_t b)
{
    const struct wio_heap_entry *left = &cursor->heap[a];
    const struct wio_heap_entry *right = &cursor->heap[b];
    return left->t_ns != right->t_ns ? left->t_ns < right->t_ns : left->lane < right->lane;
}

static void sift_down(struct wio_cursor *cursor, uint32_t at)
{
    for (;;) {
        uint32_t least = at;
        uint32_t left = 2 * at + 1;
        if (left < cursor->heap_count && is_before(cursor, left, least)) {
            least = left;
        }
        if (left + 1 < cursor->heap_count && is_before(cursor, left + 1, least)) {
            least = left + 1;
        }
        if (least == at) {
            return;
        }
        struct wio_heap_entry moved = cursor->heap[at];
        cursor->heap[at] = cursor->heap[least];
        cursor->heap[least] = moved;
        at = least;
    }
}

/* A lane enters the heap with the begin of its first block: it is opened when the merge gets there,
 * so that streams that do not overlap are never in memory together. */
static void make_heap(struct wio_cursor *cursor)
{
    const struct wio_trace *trace = cursor->trace;
    for (uint32_t i = 0; i < cursor->lane_count; i++) {
        const struct wio_block_ref *block =
            &trace->blocks[trace->ranges[cursor->lanes[i].stream].first];
        uint64_t shift_ns = trace->segments[block->segment].context.shift_ns;
        uint64_t first_ns = wio_trace_correct(trace, block->stream, block->first_ns + shift_ns);
        cursor->heap[i] = (struct wio_heap_entry){first_ns, i};
    }
    cursor->heap_count = cursor->lane_count;
    for (uint32_t i = cursor->heap_count; i > 0; i--) {
        sift_down(cursor, i - 1);
    }
}

enum wio_status wio_cursor_create(const struct wio_trace *trace, const struct wio_filter *asked,
                                  struct wio_cursor **cursor_out, struct wio_error *err)
{
    struct wio_filter filter = {.struct_size = sizeof(filter)}; /* everything */
    if (asked != NULL) {
        WIO_TRY(wio_take_sized(&filter, sizeof(filter), asked, "struct wio_filter", err));
    }
    if (filter.order != WIO_ORDER_TIME && filter.order != WIO_ORDER_STREAM) {
        return wio_error_set(err, WIO_ERR_USAGE, trace->path, WIO_ERROR_NO_OFFSET,
                             "there is no order %d of events", (int)filter.order);
    }
    WIO_CLEANUP(destroy_cleanup) struct wio_cursor *cursor = calloc(1, sizeof(*cursor));
    enum wio_status status = cursor == NULL ? WIO_ERR_NOMEM : WIO_OK;
    if (status == WIO_OK) {
        cursor->trace = trace;
        cursor->order = filter.order;
        cursor->unpacked_max = UNPACKED_MAX_BYTES;
        status = wio_selection_init(&cursor->selection, trace, &filter);
    }
    if (status == WIO_OK && cursor->order == WIO_ORDER_TIME) {
        /* Without begin there is no order. */
        cursor->selection.wanted |= wio_events_wanted(WIO_COLUMN_TIME);
    }
    status = status == WIO_OK ? make_lanes(cursor) : status;
    if (status != WIO_OK) {
        return wio_error_set(err, status, trace->path, WIO_ERROR_NO_OFFSET,
                             "no memory to read the trace");
    }
    if (cursor->order == WIO_ORDER_TIME) {
        make_heap(cursor);
    }
    *cursor_out = cursor;
    cursor = NULL;
    return WIO_OK;
}

/* Give the heap's first lane its next event, or take it out. */
static enum wio_status advance(struct wio_cursor *cursor, struct wio_error *err)
{
    struct wio_lane *lane = &cursor->lanes[cursor->heap[0].lane];
    enum wio_status status = WIO_OK;
    if (lane->count > 0) {
        lane->pos++;
    }
    if (lane->pos >= lane->count) {
        status = wio_lane_fill(cursor, lane, err);
    }
    if (status == WIO_END) {
        cursor->heap[0] = cursor->heap[--cursor->heap_count];
    } else if (status == WIO_OK) {
        cursor->heap[0].t_ns = lane->slice[lane->pos].t_ns;
    } else {
        return status;
    }
    sift_down(cursor, 0);
    return WIO_OK;
}

static enum wio_status next_by_time(struct wio_cursor *cursor, const struct wio_event **event_out,
                                    struct wio_error *err)
{
    if (cursor->has_given) {
        WIO_TRY(advance(cursor, err));
        cursor->has_given = false;
    }
    while (cursor->heap_count > 0 && cursor->lanes[cursor->heap[0].lane].count == 0) {
        WIO_TRY(advance(cursor, err)); /* not opened yet */
    }
    if (cursor->heap_count == 0) {
        return WIO_END;
    }
    const struct wio_lane *lane = &cursor->lanes[cursor->heap[0].lane];
    *event_out = &lane->slice[lane->pos];
    cursor->has_given = true;
    return WIO_OK;
}

/* The next slice of the current lane, or of the lanes behind it. */
static enum wio_status next_slice(struct wio_cursor *cursor, struct wio_error *err)
{
    while (cursor->lane < cursor->lane_count) {
        enum wio_status status = wio_lane_fill(cursor, &cursor->lanes[cursor->lane], err);
        if (status != WIO_END) {
            return status;
        }
        cursor->lane++;
    }
    return WIO_END;
}

static enum wio_status next_by_stream(struct wio_cursor *cursor, const struct wio_event **event_out,
                                      struct wio_error *err)
{
    if (cursor->lane >= cursor->lane_count) {
        return WIO_END;
    }
    if (cursor->lanes[cursor->lane].pos >= cursor->lanes[cursor->lane].count) {
        WIO_TRY(next_slice(cursor, err));
    }
    struct wio_lane *lane = &cursor->lanes[cursor->lane];
    *event_out = &lane->slice[lane->pos++];
    return WIO_OK;
}

enum wio_status wio_cursor_next(struct wio_cursor *cursor, const struct wio_event **event_out,
                                struct wio_error *err)
{
    return cursor->order == WIO_ORDER_TIME ? next_by_time(cursor, event_out, err)
                                           : next_by_stream(cursor, event_out, err);
}

enum wio_status wio_cursor_next_block(struct wio_cursor *cursor,
                                      const struct wio_event **events_out, size_t *count_out,
                                      struct wio_error *err)
{
    if (cursor->order != WIO_ORDER_STREAM) {
        return wio_error_set(err, WIO_ERR_USAGE, cursor->trace->path, WIO_ERROR_NO_OFFSET,
                             "blocks are read stream by stream only (WIO_ORDER_STREAM)");
    }
    WIO_TRY(next_slice(cursor, err));
    struct wio_lane *lane = &cursor->lanes[cursor->lane];
    *events_out = lane->slice;
    *count_out = lane->count;
    lane->pos = lane->count;
    return WIO_OK;
}
