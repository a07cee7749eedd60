/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "trace/read/cursor_internal.h"

static void close_block(struct wio_cursor *cursor, struct wio_lane *lane)
{
    if (!lane->is_frugal) {
        cursor->unpacked_bytes -= lane->unpacked.capacity;
        wio_blob_fini(&lane->unpacked);
    }
    lane->is_open = false;
}

void wio_lane_fini(struct wio_cursor *cursor, struct wio_lane *lane)
{
    if (lane->is_open) {
        close_block(cursor, lane);
    }
    free(lane->events);
    free(lane->slice);
    lane->events = NULL;
    lane->slice = NULL;
    lane->count = 0;
    lane->pos = 0;
}

/* R-DAMAGE-2 */
static enum wio_status block_fault(const struct wio_cursor *cursor,
                                   const struct wio_block_ref *block,
                                   const struct wio_events *events, enum wio_status status,
                                   struct wio_error *err)
{
    const struct wio_reader_segment *segment = &cursor->trace->segments[block->segment];
    if (events->unknown != NULL) {
        return wio_error_set(err, status, segment->name, block->offset + WIO_BLOCK_HEAD_BYTES,
                             "expected a known %s in an event from number %llu on of stream %u, "
                             "found %u",
                             events->unknown, (unsigned long long)block->first_seq + events->done,
                             block->stream, events->unknown_id);
    }
    return wio_error_set(err, status, segment->name, block->offset + WIO_BLOCK_HEAD_BYTES,
                         "expected %u events from number %llu on of stream %u, found columns that "
                         "are not",
                         block->count, (unsigned long long)block->first_seq, block->stream);
}

/* The index and the block must agree, or the index led us to another block. */
static bool is_same(const struct wio_events_head *head, const struct wio_block_ref *block,
                    uint32_t stream_base)
{
    return head->stream + stream_base == block->stream && head->count == block->count &&
           head->first_seq == block->first_seq && head->first_ns == block->first_ns;
}

/* The block's payload into cursor->payload, its wanted columns behind `unpacked`. */
static enum wio_status unpack(struct wio_cursor *cursor, const struct wio_block_ref *block,
                              struct wio_events *events, struct wio_blob *unpacked,
                              struct wio_error *err)
{
    const struct wio_reader_segment *segment = &cursor->trace->segments[block->segment];
    struct wio_block_head head;
    events->unknown = NULL;
    WIO_TRY(
        wio_block_read(&segment->file, &cursor->pack, block->offset, &head, &cursor->payload, err));
    enum wio_status status = head.kind == WIO_BLOCK_EVENTS ? WIO_OK : WIO_ERR_FORMAT;
    if (status == WIO_OK) {
        status = wio_events_open(events, cursor->selection.wanted, &cursor->payload, &cursor->pack,
                                 unpacked);
    }
    if (status == WIO_OK && !is_same(&events->head, block, segment->context.stream_base)) {
        status = WIO_ERR_FORMAT;
    }
    return status == WIO_OK ? WIO_OK : block_fault(cursor, block, events, status, err);
}

/* A frugal lane finds its bytes where it left them, or makes them anew. */
static enum wio_status come_back(struct wio_cursor *cursor, struct wio_lane *lane,
                                 struct wio_error *err)
{
    struct wio_events fresh;
    if (cursor->shared_owner == lane->block) {
        return WIO_OK;
    }
    wio_blob_clear(&cursor->shared);
    cursor->shared_owner = NULL;
    WIO_TRY(unpack(cursor, lane->block, &fresh, &cursor->shared, err));
    wio_events_rebase(lane->events, &cursor->shared);
    cursor->shared_owner = lane->block;
    return WIO_OK;
}

static enum wio_status open_block(struct wio_cursor *cursor, struct wio_lane *lane,
                                  struct wio_error *err)
{
    lane->is_frugal = cursor->unpacked_bytes > cursor->unpacked_max;
    struct wio_blob *unpacked = lane->is_frugal ? &cursor->shared : &lane->unpacked;
    if (lane->is_frugal) {
        wio_blob_clear(unpacked);
        cursor->shared_owner = NULL;
    }
    lane->is_open = true;
    enum wio_status status = unpack(cursor, lane->block, lane->events, unpacked, err);
    if (lane->is_frugal) {
        cursor->shared_owner = status == WIO_OK ? lane->block : NULL;
    } else {
        cursor->unpacked_bytes += unpacked->capacity;
    }
    return status;
}

/* The next block that may hold something wanted; NULL behind the last. */
static const struct wio_block_ref *next_block(const struct wio_cursor *cursor,
                                              struct wio_lane *lane)
{
    const struct wio_trace *trace = cursor->trace;
    const struct wio_block_range *range = &trace->ranges[lane->stream];
    while (lane->next_block < range->count) {
        const struct wio_block_ref *block = &trace->blocks[range->first + lane->next_block++];
        if (wio_selection_has_block(&cursor->selection, trace, block)) {
            return block;
        }
    }
    return NULL;
}

static enum wio_status make_room(const struct wio_cursor *cursor, struct wio_lane *lane,
                                 struct wio_error *err)
{
    if (lane->slice == NULL) {
        lane->slice = calloc(cursor->slice_max, sizeof(*lane->slice));
        lane->events = calloc(1, sizeof(*lane->events));
    }
    if (lane->slice == NULL || lane->events == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, cursor->trace->path, WIO_ERROR_NO_OFFSET,
                             "no memory to read stream %u", lane->stream);
    }
    return WIO_OK;
}

/* One slice of the open block; lane->count = 0 where the block has ended. */
static enum wio_status read_slice(struct wio_cursor *cursor, struct wio_lane *lane,
                                  struct wio_error *err)
{
    const struct wio_events_context *context =
        &cursor->trace->segments[lane->block->segment].context;
    size_t count = 0;
    if (lane->is_frugal) {
        WIO_TRY(come_back(cursor, lane, err));
    }
    enum wio_status status =
        wio_events_read(lane->events, context, lane->slice, cursor->slice_max, &count);
    if (status != WIO_OK) {
        return block_fault(cursor, lane->block, lane->events, status, err);
    }
    if (count == 0) {
        close_block(cursor, lane);
    }
    wio_trace_correct_slice(cursor->trace, lane->stream, lane->slice, count);
    lane->count = wio_selection_keep(&cursor->selection, lane->slice, count);
    return WIO_OK;
}

enum wio_status wio_lane_fill(struct wio_cursor *cursor, struct wio_lane *lane,
                              struct wio_error *err)
{
    lane->count = 0;
    lane->pos = 0;
    WIO_TRY(make_room(cursor, lane, err));
    while (lane->count == 0) {
        if (!lane->is_open) {
            lane->block = next_block(cursor, lane);
            if (lane->block == NULL) {
                wio_lane_fini(cursor, lane);
                return WIO_END;
            }
            WIO_TRY(open_block(cursor, lane, err));
        }
        WIO_TRY(read_slice(cursor, lane, err));
    }
    return WIO_OK;
}
