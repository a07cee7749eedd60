/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of transactions of all segments, merged by time: one block of each is unpacked. */
#include "trace/txn/txn.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "trace/txn/txn_rows.h"
#include "trace/txn/txn_tables.h"

/* R-TXN-2: what a block of rows may be unpacked. */
#define ROWS_MAX_BYTES (4u << 20)
/* R-DAMAGE-1: unpacked blocks of all segments together. */
#define UNPACKED_MAX_BYTES (64u << 20)

/* The rows of one segment. */
struct lane {
    uint32_t segment;
    uint32_t next_table; /* of the segment, to look for a block of rows from */
    uint64_t offset;     /* of the block at hand */
    uint64_t rows_left;  /* of it */
    struct wio_blob block;
    struct wio_buf buf;
    struct wio_txn_coder coder;
    struct wio_txn_row row;
    struct wio_txn_blocker blockers[WIO_TXN_BLOCKERS];
};

struct wio_txn_cursor {
    const struct wio_trace *trace;
    struct wio_txn_tables tables;
    uint32_t *bases;
    struct wio_pack pack;
    struct lane *lanes; /* one for each segment */
    uint32_t lanes_made;
    uint32_t *order; /* heap of the lanes that have a row, by its time */
    uint32_t lane_count;
    size_t unpacked_bytes;
    bool has_given; /* the row of order[0] was returned */
};

bool wio_trace_has_transactions(const struct wio_trace *trace)
{
    for (uint32_t i = 0; i < trace->segment_count; i++) {
        const struct wio_reader_segment *segment = &trace->segments[i];
        for (uint32_t k = 0; k < segment->table_count; k++) {
            if (segment->tables[k].kind == WIO_BLOCK_TXN_ROWS) {
                return true;
            }
        }
    }
    return false;
}

void wio_txn_cursor_destroy(struct wio_txn_cursor *cursor)
{
    if (cursor == NULL) {
        return;
    }
    for (uint32_t i = 0; i < cursor->lanes_made; i++) {
        wio_blob_fini(&cursor->lanes[i].block);
        wio_txn_coder_fini(&cursor->lanes[i].coder);
    }
    free(cursor->lanes);
    free(cursor->order);
    free(cursor->bases);
    wio_txn_tables_fini(&cursor->tables);
    wio_pack_fini(&cursor->pack);
    free(cursor);
}

static const struct wio_reader_segment *segment_of(const struct wio_txn_cursor *cursor,
                                                   const struct lane *lane)
{
    return &cursor->trace->segments[lane->segment];
}

static enum wio_status bad_rows(const struct wio_txn_cursor *cursor, const struct lane *lane,
                                enum wio_status status, const char *expected, struct wio_error *err)
{
    const char *name = segment_of(cursor, lane)->name;
    if (status == WIO_ERR_NOMEM) {
        return wio_error_set(err, status, name, lane->offset, "no memory for transactions");
    }
    return wio_error_set(err, WIO_ERR_FORMAT, name, lane->offset + WIO_BLOCK_HEAD_BYTES,
                         "expected %s at byte %zu of the rows of transactions", expected,
                         lane->buf.pos);
}

/* R-TXN-2 */
static enum wio_status open_block(struct wio_txn_cursor *cursor, struct lane *lane, uint64_t offset,
                                  struct wio_error *err)
{
    const struct wio_reader_segment *segment = segment_of(cursor, lane);
    struct wio_block_head head;
    uint64_t ignored_ns = 0;
    lane->offset = offset;
    lane->buf = wio_buf_of(NULL, 0);
    WIO_TRY(wio_block_read_head(&segment->file, offset, &head, err));
    cursor->unpacked_bytes -= lane->block.capacity;
    if (head.raw_bytes > ROWS_MAX_BYTES ||
        cursor->unpacked_bytes + head.raw_bytes > UNPACKED_MAX_BYTES) {
        cursor->unpacked_bytes += lane->block.capacity;
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, segment->name, offset,
                             "expected at most 4 MiB of rows of transactions in a block, and 64 MiB"
                             " in those that are read at once");
    }
    enum wio_status status =
        wio_block_read(&segment->file, &cursor->pack, offset, &head, &lane->block, err);
    cursor->unpacked_bytes += lane->block.capacity;
    WIO_TRY(status);
    lane->buf = wio_buf_of(lane->block.data, lane->block.size);
    status = wio_buf_varint(&lane->buf, &lane->rows_left);
    status = status == WIO_OK ? wio_buf_varint(&lane->buf, &ignored_ns) : status;
    status = status == WIO_OK ? wio_buf_varint(&lane->buf, &ignored_ns) : status;
    if (status != WIO_OK || lane->rows_left == 0 || lane->rows_left > WIO_TXN_ROWS_MAX) {
        return bad_rows(cursor, lane, status, "1 to 4,096 rows", err);
    }
    wio_txn_coder_clear(&lane->coder);
    return WIO_OK;
}

/* WIO_END: the segment has no further block of rows. */
static enum wio_status next_block(struct wio_txn_cursor *cursor, struct lane *lane,
                                  struct wio_error *err)
{
    const struct wio_reader_segment *segment = segment_of(cursor, lane);
    while (lane->next_table < segment->table_count) {
        const struct wio_table_ref *table = &segment->tables[lane->next_table++];
        if (table->kind == WIO_BLOCK_TXN_ROWS) {
            return open_block(cursor, lane, table->offset, err);
        }
    }
    return WIO_END;
}

/* Ids of origins become those of the trace; one that is not there is an error. */
static bool place_origin(const struct wio_txn_cursor *cursor, const struct lane *lane, uint32_t *id)
{
    uint32_t base = cursor->bases[lane->segment];
    if (*id > cursor->bases[lane->segment + 1] - base) {
        return false;
    }
    *id += *id == 0 ? 0 : base;
    return true;
}

static bool place_row(const struct wio_txn_cursor *cursor, struct lane *lane)
{
    struct wio_txn_row *row = &lane->row;
    bool is_placed = place_origin(cursor, lane, &row->origin);
    for (uint32_t i = 0; i < row->blocker_listed; i++) {
        is_placed = place_origin(cursor, lane, &lane->blockers[i].origin) && is_placed;
    }
    row->t_ns += segment_of(cursor, lane)->context.shift_ns;
    return is_placed;
}

/* The lane's next row. Rows of a block and blocks of a segment are in the order of time; where a
 * hostile trace breaks that, the merge only is out of order. */
static enum wio_status fill(struct wio_txn_cursor *cursor, struct lane *lane, struct wio_error *err)
{
    while (lane->rows_left == 0) {
        if (wio_buf_left(&lane->buf) != 0) {
            return bad_rows(cursor, lane, WIO_ERR_FORMAT, "the end", err);
        }
        WIO_TRY(next_block(cursor, lane, err));
    }
    enum wio_status status = wio_txn_row_get(&lane->coder, &lane->buf, lane->blockers, &lane->row);
    if (status != WIO_OK) {
        return bad_rows(cursor, lane, status, "a row", err);
    }
    lane->rows_left--;
    return place_row(cursor, lane) ? WIO_OK
                                   : bad_rows(cursor, lane, WIO_ERR_FORMAT, "a known origin", err);
}

static bool is_before(const struct wio_txn_cursor *cursor, uint32_t a, uint32_t b)
{
    uint64_t left = cursor->lanes[cursor->order[a]].row.t_ns;
    uint64_t right = cursor->lanes[cursor->order[b]].row.t_ns;
    return left != right ? left < right : cursor->order[a] < cursor->order[b];
}

static void sift_down(struct wio_txn_cursor *cursor, uint32_t at)
{
    for (;;) {
        uint32_t least = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2; child++) {
            if (child < cursor->lane_count && is_before(cursor, child, least)) {
                least = child;
            }
        }
        if (least == at) {
            return;
        }
        uint32_t moved = cursor->order[at];
        cursor->order[at] = cursor->order[least];
        cursor->order[least] = moved;
        at = least;
    }
}

static enum wio_status make_lanes(struct wio_txn_cursor *cursor, struct wio_error *err)
{
    const struct wio_trace *trace = cursor->trace;
    cursor->lanes = calloc((size_t)trace->segment_count + 1, sizeof(*cursor->lanes));
    cursor->order = calloc((size_t)trace->segment_count + 1, sizeof(*cursor->order));
    if (cursor->lanes == NULL || cursor->order == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, trace->path, WIO_ERROR_NO_OFFSET,
                             "no memory to read transactions");
    }
    for (uint32_t i = 0; i < trace->segment_count; i++) {
        struct lane *lane = &cursor->lanes[cursor->lanes_made++];
        lane->segment = i;
        enum wio_status status = fill(cursor, lane, err);
        if (status == WIO_OK) {
            cursor->order[cursor->lane_count++] = cursor->lanes_made - 1;
        } else if (status != WIO_END) {
            return status;
        }
    }
    for (uint32_t i = cursor->lane_count; i > 0; i--) {
        sift_down(cursor, i - 1);
    }
    return WIO_OK;
}

static void destroy_cleanup(struct wio_txn_cursor **cursor)
{
    wio_txn_cursor_destroy(*cursor);
}

enum wio_status wio_txn_cursor_create(const struct wio_trace *trace,
                                      struct wio_txn_cursor **cursor_out, struct wio_error *err)
{
    WIO_CLEANUP(destroy_cleanup) struct wio_txn_cursor *cursor = calloc(1, sizeof(*cursor));
    if (cursor == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, trace->path, WIO_ERROR_NO_OFFSET,
                             "no memory to read transactions");
    }
    cursor->trace = trace;
    WIO_TRY(wio_txn_tables_read(&cursor->tables, trace, &cursor->bases, err));
    WIO_TRY(make_lanes(cursor, err));
    *cursor_out = cursor;
    cursor = NULL;
    return WIO_OK;
}

enum wio_status wio_txn_cursor_next(struct wio_txn_cursor *cursor,
                                    const struct wio_txn_row **row_out, struct wio_error *err)
{
    if (cursor->has_given) {
        cursor->has_given = false;
        enum wio_status status = fill(cursor, &cursor->lanes[cursor->order[0]], err);
        if (status == WIO_END) {
            cursor->order[0] = cursor->order[--cursor->lane_count];
        } else if (status != WIO_OK) {
            return status;
        }
        sift_down(cursor, 0);
    }
    if (cursor->lane_count == 0) {
        return WIO_END;
    }
    *row_out = &cursor->lanes[cursor->order[0]].row;
    cursor->has_given = true;
    return WIO_OK;
}

uint32_t wio_txn_origin_count(const struct wio_txn_cursor *cursor)
{
    return cursor->tables.origin_count;
}

const struct wio_txn_origin *wio_txn_cursor_origin(const struct wio_txn_cursor *cursor, uint32_t id)
{
    return &cursor->tables.origins[id < cursor->tables.origin_count ? id : 0];
}

const struct wio_txn_server *wio_txn_cursor_server(const struct wio_txn_cursor *cursor,
                                                   uint32_t server)
{
    const uint64_t *index = wio_map_get(&cursor->tables.server_index, server);
    return index == NULL ? NULL : &cursor->tables.servers[*index];
}

const struct wio_txn_file *wio_txn_cursor_file(const struct wio_txn_cursor *cursor, uint64_t file)
{
    const uint64_t *index = wio_map_get(&cursor->tables.file_index, file);
    return index == NULL ? NULL : &cursor->tables.files[*index];
}
