/* SPDX-License-Identifier: Apache-2.0 */
/* Reading rows of edges: one block at a time, those of one stream by a search in the index. */
#include <stdlib.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/sized.h"
#include "trace/edges/edge_internal.h"

struct wio_edge_cursor {
    const struct wio_edge_file *file;
    struct wio_edge_filter filter;
    enum wio_block_kind kind;
    struct wio_pack pack;
    struct wio_blob payload;
    struct wio_buf buf;
    struct wio_edge_numbers numbers;
    uint32_t block; /* the next one to read */
    uint32_t left;  /* rows of the block at hand */
    bool is_first;  /* the next row is its first */
    bool has_last;  /* `last` is the last row of the block before */
    struct wio_edge_numbers last;
    bool has_ended;
    struct wio_edge_row edge;
    struct wio_member_row member;
    struct wio_wait_row wait;
};

void wio_edge_cursor_destroy(struct wio_edge_cursor *cursor)
{
    if (cursor == NULL) {
        return;
    }
    wio_pack_fini(&cursor->pack);
    wio_blob_fini(&cursor->payload);
    free(cursor);
}

static const struct wio_edge_blocks *blocks_of(const struct wio_edge_cursor *cursor)
{
    return &cursor->file->rows[cursor->kind - WIO_BLOCK_EDGES_IN];
}

/* Does the block begin at or before what is looked for? */
static bool begins_before(const struct wio_edge_block *block, const struct wio_edge_filter *filter)
{
    return block->first != filter->stream ? block->first < filter->stream
                                          : block->first_seq < filter->from_seq;
}

/* The last block that begins before it: everything looked for is there or behind. */
static uint32_t find_block(const struct wio_edge_blocks *blocks,
                           const struct wio_edge_filter *filter)
{
    size_t behind = WIO_FIRST(i, 0, blocks->count, !begins_before(&blocks->items[i], filter));
    return behind == 0 ? 0 : (uint32_t)behind - 1;
}

enum wio_status wio_edge_cursor_create(const struct wio_edge_file *file,
                                       const struct wio_edge_filter *asked,
                                       struct wio_edge_cursor **cursor_out, struct wio_error *err)
{
    static const enum wio_block_kind kinds[] = {
        [WIO_EDGES_IN] = WIO_BLOCK_EDGES_IN,     [WIO_EDGES_OUT] = WIO_BLOCK_EDGES_OUT,
        [WIO_EDGES_MEMBERS] = WIO_BLOCK_MEMBERS, [WIO_EDGES_COLLECTIVES] = WIO_BLOCK_COLLECTIVES,
        [WIO_EDGES_WAITS] = WIO_BLOCK_WAITS,
    };
    struct wio_edge_filter filter;
    WIO_TRY(wio_take_sized(&filter, sizeof(filter), asked, "struct wio_edge_filter", err));
    if ((unsigned)filter.kind >= WIO_ARRAY_SIZE(kinds) ||
        (filter.kind == WIO_EDGES_COLLECTIVES && filter.has_stream)) {
        return wio_error_set(err, WIO_ERR_USAGE, file->name, WIO_ERROR_NO_OFFSET,
                             "edges cannot be read like that");
    }
    struct wio_edge_cursor *cursor = calloc(1, sizeof(*cursor));
    if (cursor == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, file->name, WIO_ERROR_NO_OFFSET,
                             "no memory to read edges");
    }
    cursor->file = file;
    cursor->filter = filter;
    cursor->kind = kinds[filter.kind];
    cursor->block = filter.has_stream ? find_block(blocks_of(cursor), &filter) : 0;
    *cursor_out = cursor;
    return WIO_OK;
}

/* R-DAMAGE-2 */
static enum wio_status block_fault(const struct wio_edge_cursor *cursor, enum wio_status status,
                                   struct wio_error *err)
{
    const struct wio_edge_block *block = &blocks_of(cursor)->items[cursor->block - 1];
    return wio_error_set(err, status, cursor->file->name, block->offset + WIO_BLOCK_HEAD_BYTES,
                         "expected %u rows of edges, found something else at byte %zu of the block",
                         block->count, cursor->buf.pos);
}

static enum wio_status open_block(struct wio_edge_cursor *cursor, struct wio_error *err)
{
    const struct wio_edge_block *block = &blocks_of(cursor)->items[cursor->block++];
    struct wio_block_head head;
    struct wio_edge_head rows;
    WIO_TRY(wio_block_read(&cursor->file->file, &cursor->pack, block->offset, &head,
                           &cursor->payload, err));
    cursor->buf = wio_buf_of(cursor->payload.data, cursor->payload.size);
    enum wio_status status = wio_edge_head_get(&cursor->buf, &rows);
    if (status == WIO_OK && (head.kind != cursor->kind || rows.first != block->first ||
                             rows.first_seq != block->first_seq || rows.last != block->last ||
                             rows.count != block->count)) {
        status = WIO_ERR_FORMAT; /* or the index led us to another block */
    }
    if (status != WIO_OK) {
        return block_fault(cursor, status, err);
    }
    cursor->left = block->count;
    cursor->is_first = true;
    cursor->numbers = (struct wio_edge_numbers){{rows.first}};
    return WIO_OK;
}

/* R-EDGE-3: the order holds over blocks, too. */
static bool is_behind_last(const struct wio_edge_cursor *cursor)
{
    return !cursor->is_first || !cursor->has_last ||
           wio_edge_numbers_ordered(&cursor->last, &cursor->numbers);
}

/* The next numbers of any kind; WIO_END behind the last. R-EDGE-3: in order, within the head. */
static enum wio_status next_numbers(struct wio_edge_cursor *cursor, struct wio_error *err)
{
    const struct wio_edge_blocks *blocks = blocks_of(cursor);
    if (cursor->left == 0) {
        if (cursor->block >= blocks->count ||
            (cursor->filter.has_stream &&
             blocks->items[cursor->block].first > cursor->filter.stream)) {
            return WIO_END;
        }
        cursor->last = cursor->numbers;
        WIO_TRY(open_block(cursor, err));
    }
    const struct wio_edge_numbers before = cursor->numbers;
    enum wio_status status =
        wio_edge_numbers_get(&cursor->buf, cursor->kind, cursor->is_first, &cursor->numbers);
    if (status == WIO_OK &&
        (!wio_edge_numbers_ordered(&before, &cursor->numbers) || !is_behind_last(cursor) ||
         cursor->numbers.at[0] > blocks->items[cursor->block - 1].last)) {
        status = WIO_ERR_FORMAT;
    }
    cursor->is_first = false;
    cursor->has_last = true;
    cursor->left--;
    if (status == WIO_OK && cursor->left == 0 && wio_buf_left(&cursor->buf) > 0) {
        status = WIO_ERR_FORMAT;
    }
    return status == WIO_OK ? WIO_OK : block_fault(cursor, status, err);
}

/* The next numbers of the stream that is looked for. */
static enum wio_status next_of_stream(struct wio_edge_cursor *cursor, struct wio_error *err)
{
    const struct wio_edge_filter *filter = &cursor->filter;
    if (cursor->has_ended) {
        return WIO_END;
    }
    for (;;) {
        enum wio_status status = next_numbers(cursor, err);
        if (status == WIO_OK && filter->has_stream && cursor->numbers.at[0] > filter->stream) {
            status = WIO_END;
        }
        if (status != WIO_OK) {
            cursor->has_ended = true;
            return status;
        }
        if (!filter->has_stream || (cursor->numbers.at[0] == filter->stream &&
                                    cursor->numbers.at[1] >= filter->from_seq)) {
            return WIO_OK;
        }
    }
}

static bool is_evidence_wanted(const struct wio_edge_filter *filter, unsigned evidence,
                               uint32_t object)
{
    return (filter->evidences == 0 || (filter->evidences >> evidence & 1) != 0) &&
           (filter->object == 0 || filter->object == object);
}

static bool is_edge_wanted(const struct wio_edge_filter *filter, const struct wio_edge_row *row)
{
    return (filter->has_implied || !row->is_implied) &&
           (filter->classes == 0 || (filter->classes >> row->edge_class & 1) != 0) &&
           is_evidence_wanted(filter, row->evidence, row->object);
}

static enum wio_status other_kind(const struct wio_edge_cursor *cursor, struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_USAGE, cursor->file->name, WIO_ERROR_NO_OFFSET,
                         "the cursor reads rows of another kind");
}

enum wio_status wio_edge_cursor_next(struct wio_edge_cursor *cursor,
                                     const struct wio_edge_row **row_out, struct wio_error *err)
{
    if (cursor->kind != WIO_BLOCK_EDGES_IN && cursor->kind != WIO_BLOCK_EDGES_OUT) {
        return other_kind(cursor, err);
    }
    do {
        WIO_TRY(next_of_stream(cursor, err));
        if (!wio_edge_of_numbers(cursor->kind, &cursor->numbers, &cursor->file->bounds,
                                 &cursor->edge)) {
            cursor->has_ended = true;
            return block_fault(cursor, WIO_ERR_FORMAT, err);
        }
    } while (!is_edge_wanted(&cursor->filter, &cursor->edge));
    *row_out = &cursor->edge;
    return WIO_OK;
}

enum wio_status wio_edge_cursor_next_member(struct wio_edge_cursor *cursor,
                                            const struct wio_member_row **row_out,
                                            struct wio_error *err)
{
    if (cursor->kind != WIO_BLOCK_MEMBERS && cursor->kind != WIO_BLOCK_COLLECTIVES) {
        return other_kind(cursor, err);
    }
    do {
        WIO_TRY(next_of_stream(cursor, err));
        if (!wio_member_of_numbers(cursor->kind, &cursor->numbers, &cursor->file->bounds,
                                   &cursor->member)) {
            cursor->has_ended = true;
            return block_fault(cursor, WIO_ERR_FORMAT, err);
        }
    } while (!is_evidence_wanted(&cursor->filter, cursor->member.evidence, cursor->member.object));
    *row_out = &cursor->member;
    return WIO_OK;
}

enum wio_status wio_edge_cursor_next_wait(struct wio_edge_cursor *cursor,
                                          const struct wio_wait_row **row_out,
                                          struct wio_error *err)
{
    if (cursor->kind != WIO_BLOCK_WAITS) {
        return other_kind(cursor, err);
    }
    WIO_TRY(next_of_stream(cursor, err));
    if (!wio_wait_of_numbers(&cursor->numbers, &cursor->file->bounds, &cursor->wait)) {
        cursor->has_ended = true;
        return block_fault(cursor, WIO_ERR_FORMAT, err);
    }
    *row_out = &cursor->wait;
    return WIO_OK;
}
