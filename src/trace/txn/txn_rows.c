/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/txn/txn_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"

/* R-TXN-3: what a row has beside the fields that every row has. */
enum shape {
    SHAPE_NEW_NAME = 1 << 0, /* another attempt than the row before */
    SHAPE_SERVER = 1 << 1,
    SHAPE_RANGE = 1 << 2,
    SHAPE_NEW_FILE = 1 << 3, /* of the range; else that of the row before */
    SHAPE_RESULT = 1 << 4,
    SHAPE_TIMES = 1 << 5,
    SHAPE_BYTES = 1 << 6,
    SHAPE_DEPTH = 1 << 7,
    SHAPE_BLOCKERS = 1 << 8,
    SHAPE_ORIGIN = 1 << 9, /* another one than the row before */
    SHAPE_FLAGS = 1 << 10,
    SHAPE_TRANSFER = 1 << 11,
    SHAPE_ALL = (1 << 12) - 1
};

void wio_txn_coder_fini(struct wio_txn_coder *coder)
{
    free(coder->clients);
    wio_map_fini(&coder->client_index);
}

void wio_txn_coder_clear(struct wio_txn_coder *coder)
{
    coder->client_count = 0;
    wio_map_fini(&coder->client_index);
    coder->client_index = (struct wio_map){0};
    coder->before = (struct wio_txn_row){0};
}

static enum wio_status add_client(struct wio_txn_coder *coder, uint64_t client)
{
    void *array = coder->clients;
    WIO_TRY(wio_grow(&array, sizeof(*coder->clients), &coder->client_capacity,
                     coder->client_count + 1));
    coder->clients = array;
    coder->clients[coder->client_count++] = (struct wio_txn_last){.client = client};
    return WIO_OK;
}

/* R-TXN-4 */
static enum wio_status put_client(struct wio_txn_coder *coder, uint64_t client,
                                  struct wio_blob *out, struct wio_txn_last **last_out)
{
    const uint64_t *known = wio_map_get(&coder->client_index, client);
    uint64_t index = known != NULL ? *known : coder->client_count;
    WIO_TRY(wio_blob_varint(out, index));
    if (known == NULL) {
        WIO_TRY(add_client(coder, client));
        WIO_TRY(wio_map_put(&coder->client_index, client, index));
        WIO_TRY(wio_blob_u64(out, client));
    }
    *last_out = &coder->clients[index];
    return WIO_OK;
}

static enum wio_status get_client(struct wio_txn_coder *coder, struct wio_buf *buf,
                                  struct wio_txn_last **last_out)
{
    uint64_t index = 0;
    WIO_TRY(wio_buf_varint(buf, &index));
    if (index > coder->client_count || index >= WIO_TXN_CLIENTS_MAX) {
        return WIO_ERR_FORMAT;
    }
    if (index == coder->client_count) {
        uint64_t client = 0;
        WIO_TRY(wio_buf_u64(buf, &client));
        WIO_TRY(add_client(coder, client));
    }
    *last_out = &coder->clients[index];
    return WIO_OK;
}

static enum wio_status put_name(struct wio_txn_coder *coder, const struct wio_txn_name *name,
                                struct wio_blob *out)
{
    struct wio_txn_last *last = NULL;
    WIO_TRY(put_client(coder, name->client, out, &last));
    WIO_TRY(wio_blob_svarint(out, (int64_t)(name->number - last->number)));
    WIO_TRY(wio_blob_svarint(out, (int64_t)(name->birth_ns - last->birth_ns)));
    last->number = name->number;
    last->birth_ns = name->birth_ns;
    return wio_blob_varint(out, name->attempt);
}

static enum wio_status get_u16(struct wio_buf *buf, uint16_t *out)
{
    uint64_t value = 0;
    WIO_TRY(wio_buf_varint(buf, &value));
    *out = (uint16_t)value;
    return value <= UINT16_MAX ? WIO_OK : WIO_ERR_FORMAT;
}

static enum wio_status get_name(struct wio_txn_coder *coder, struct wio_buf *buf,
                                struct wio_txn_name *name_out)
{
    struct wio_txn_last *last = NULL;
    int64_t number = 0;
    int64_t birth = 0;
    WIO_TRY(get_client(coder, buf, &last));
    WIO_TRY(wio_buf_svarint(buf, &number));
    WIO_TRY(wio_buf_svarint(buf, &birth));
    last->number += (uint64_t)number;
    last->birth_ns += (uint64_t)birth;
    *name_out = (struct wio_txn_name){
        .client = last->client, .number = last->number, .birth_ns = last->birth_ns};
    return wio_buf_varint32(buf, &name_out->attempt);
}

/* Without its file: R-TXN-5. */
static enum wio_status put_range(const struct wio_txn_range *range, uint64_t from,
                                 struct wio_blob *out)
{
    WIO_TRY(wio_blob_varint(out, range->segment));
    WIO_TRY(wio_blob_svarint(out, (int64_t)(range->from - from)));
    return wio_blob_varint(out, range->to - range->from);
}

static enum wio_status get_range(struct wio_buf *buf, uint64_t from, struct wio_txn_range *range)
{
    int64_t moved = 0;
    uint64_t length = 0;
    WIO_TRY(wio_buf_varint32(buf, &range->segment));
    WIO_TRY(wio_buf_svarint(buf, &moved));
    WIO_TRY(wio_buf_varint(buf, &length));
    range->from = from + (uint64_t)moved;
    range->to = range->from + length;
    return range->to >= range->from ? WIO_OK : WIO_ERR_FORMAT;
}

static enum wio_status put_blocker(struct wio_txn_coder *coder, const struct wio_txn_row *row,
                                   const struct wio_txn_blocker *blocker, struct wio_blob *out)
{
    WIO_TRY(put_name(coder, &blocker->txn, out));
    WIO_TRY(wio_blob_svarint(out, (int64_t)(blocker->range.file - row->range.file)));
    WIO_TRY(put_range(&blocker->range, row->range.from, out));
    WIO_TRY(wio_blob_varint(out, blocker->origin));
    WIO_TRY(wio_blob_u8(out, blocker->mode));
    return wio_blob_u8(out, blocker->role);
}

static enum wio_status get_blocker(struct wio_txn_coder *coder, const struct wio_txn_row *row,
                                   struct wio_buf *buf, struct wio_txn_blocker *blocker_out)
{
    int64_t file = 0;
    WIO_TRY(get_name(coder, buf, &blocker_out->txn));
    WIO_TRY(wio_buf_svarint(buf, &file));
    blocker_out->range.file = row->range.file + (uint64_t)file;
    WIO_TRY(get_range(buf, row->range.from, &blocker_out->range));
    WIO_TRY(wio_buf_varint32(buf, &blocker_out->origin));
    WIO_TRY(wio_buf_u8(buf, &blocker_out->mode));
    return wio_buf_u8(buf, &blocker_out->role);
}

/* R-TXN-6 */
static enum wio_status put_blockers(struct wio_txn_coder *coder, const struct wio_txn_row *row,
                                    struct wio_blob *out)
{
    WIO_TRY(wio_blob_varint(out, row->blocker_count));
    WIO_TRY(wio_blob_varint(out, row->blocker_listed));
    for (uint32_t i = 0; i < row->blocker_listed; i++) {
        WIO_TRY(put_blocker(coder, row, &row->blockers[i], out));
    }
    return WIO_OK;
}

static enum wio_status get_blockers(struct wio_txn_coder *coder, struct wio_buf *buf,
                                    struct wio_txn_blocker *blockers, struct wio_txn_row *row)
{
    WIO_TRY(wio_buf_varint32(buf, &row->blocker_count));
    WIO_TRY(wio_buf_varint32(buf, &row->blocker_listed));
    if (row->blocker_listed > WIO_TXN_BLOCKERS || row->blocker_listed > row->blocker_count) {
        return WIO_ERR_FORMAT;
    }
    for (uint32_t i = 0; i < row->blocker_listed; i++) {
        WIO_TRY(get_blocker(coder, row, buf, &blockers[i]));
    }
    return WIO_OK;
}

static bool is_same_name(const struct wio_txn_name *a, const struct wio_txn_name *b)
{
    return a->client == b->client && a->number == b->number && a->birth_ns == b->birth_ns &&
           a->attempt == b->attempt;
}

static unsigned shape_of(const struct wio_txn_coder *coder, const struct wio_txn_row *row)
{
    const struct wio_txn_row *before = &coder->before;
    bool has_range = row->range.to != 0;
    unsigned shape = 0;
    shape |= is_same_name(&row->txn, &before->txn) ? 0 : SHAPE_NEW_NAME;
    shape |= row->server == WIO_TXN_NO_SERVER ? 0 : SHAPE_SERVER;
    shape |= has_range ? SHAPE_RANGE : 0;
    shape |= has_range && row->range.file != before->range.file ? SHAPE_NEW_FILE : 0;
    shape |= row->result == 0 && row->reason == 0 && row->outcome == 0 ? 0 : SHAPE_RESULT;
    shape |= (row->queue_ns | row->lock_ns | row->storage_ns | row->run_ns) == 0 ? 0 : SHAPE_TIMES;
    shape |= row->bytes == 0 ? 0 : SHAPE_BYTES;
    shape |= row->queue_depth == 0 ? 0 : SHAPE_DEPTH;
    shape |= row->blocker_count == 0 ? 0 : SHAPE_BLOCKERS;
    shape |= row->origin == before->origin ? 0 : SHAPE_ORIGIN;
    shape |= row->flags == 0 ? 0 : SHAPE_FLAGS;
    shape |= row->transfer_ns == 0 ? 0 : SHAPE_TRANSFER;
    return shape;
}

static enum wio_status put_numbers(const struct wio_txn_row *row, unsigned shape,
                                   struct wio_blob *out)
{
    const struct {
        unsigned shape;
        uint64_t value;
    } numbers[] = {
        {SHAPE_RESULT, row->result},     {SHAPE_RESULT, row->reason},
        {SHAPE_RESULT, row->outcome},    {SHAPE_TIMES, row->queue_ns},
        {SHAPE_TIMES, row->lock_ns},     {SHAPE_TIMES, row->storage_ns},
        {SHAPE_TIMES, row->run_ns},      {SHAPE_BYTES, row->bytes},
        {SHAPE_DEPTH, row->queue_depth}, {SHAPE_ORIGIN, row->origin},
        {SHAPE_FLAGS, row->flags},       {SHAPE_TRANSFER, row->transfer_ns},
    };
    for (size_t i = 0; i < WIO_ARRAY_SIZE(numbers); i++) {
        if ((shape & numbers[i].shape) != 0) {
            WIO_TRY(wio_blob_varint(out, numbers[i].value));
        }
    }
    return WIO_OK;
}

static enum wio_status get_times(struct wio_buf *buf, struct wio_txn_row *row)
{
    uint64_t *times[] = {&row->queue_ns, &row->lock_ns, &row->storage_ns, &row->run_ns};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(times); i++) {
        WIO_TRY(wio_buf_varint(buf, times[i]));
    }
    return WIO_OK;
}

static enum wio_status get_numbers(struct wio_buf *buf, unsigned shape, struct wio_txn_row *row)
{
    if ((shape & SHAPE_RESULT) != 0) {
        WIO_TRY(get_u16(buf, &row->result));
        WIO_TRY(get_u16(buf, &row->reason));
        WIO_TRY(get_u16(buf, &row->outcome));
    }
    if ((shape & SHAPE_TIMES) != 0) {
        WIO_TRY(get_times(buf, row));
    }
    if ((shape & SHAPE_BYTES) != 0) {
        WIO_TRY(wio_buf_varint(buf, &row->bytes));
    }
    if ((shape & SHAPE_DEPTH) != 0) {
        WIO_TRY(wio_buf_varint32(buf, &row->queue_depth));
    }
    if ((shape & SHAPE_ORIGIN) != 0) {
        WIO_TRY(wio_buf_varint32(buf, &row->origin));
    }
    if ((shape & SHAPE_FLAGS) != 0) {
        WIO_TRY(get_u16(buf, &row->flags));
    }
    return (shape & SHAPE_TRANSFER) != 0 ? wio_buf_varint(buf, &row->transfer_ns) : WIO_OK;
}

enum wio_status wio_txn_row_put(struct wio_txn_coder *coder, const struct wio_txn_row *row,
                                struct wio_blob *out)
{
    unsigned shape = shape_of(coder, row);
    WIO_TRY(wio_blob_varint(out, shape));
    WIO_TRY(wio_blob_varint(out, row->t_ns - coder->before.t_ns));
    WIO_TRY(wio_blob_u8(out, row->kind));
    WIO_TRY(wio_blob_varint(out, row->op));
    if ((shape & SHAPE_NEW_NAME) != 0) {
        WIO_TRY(put_name(coder, &row->txn, out));
    }
    if ((shape & SHAPE_SERVER) != 0) {
        WIO_TRY(wio_blob_varint(out, row->server));
    }
    if ((shape & SHAPE_NEW_FILE) != 0) {
        WIO_TRY(wio_blob_varint(out, row->range.file));
    }
    if ((shape & SHAPE_RANGE) != 0) {
        WIO_TRY(wio_blob_u8(out, row->mode));
        WIO_TRY(put_range(&row->range, coder->before.range.from, out));
    }
    WIO_TRY(put_numbers(row, shape, out));
    if ((shape & SHAPE_BLOCKERS) != 0) {
        WIO_TRY(put_blockers(coder, row, out));
    }
    struct wio_txn_range range = (shape & SHAPE_RANGE) != 0 ? row->range : coder->before.range;
    coder->before = *row;
    coder->before.range = range;
    coder->before.blockers = NULL;
    return WIO_OK;
}

/* The row's range starts as that of the row before. */
static enum wio_status get_place(struct wio_buf *buf, unsigned shape, struct wio_txn_row *row)
{
    if ((shape & SHAPE_SERVER) != 0) {
        WIO_TRY(wio_buf_varint32(buf, &row->server));
    }
    if ((shape & SHAPE_NEW_FILE) != 0) {
        WIO_TRY(wio_buf_varint(buf, &row->range.file));
    }
    if ((shape & SHAPE_RANGE) != 0) {
        WIO_TRY(wio_buf_u8(buf, &row->mode));
        WIO_TRY(get_range(buf, row->range.from, &row->range));
    }
    return WIO_OK;
}

static enum wio_status get_head(struct wio_txn_coder *coder, struct wio_buf *buf,
                                unsigned *shape_out, struct wio_txn_row *row)
{
    uint64_t shape = 0;
    uint64_t later = 0;
    WIO_TRY(wio_buf_varint(buf, &shape));
    WIO_TRY(wio_buf_varint(buf, &later));
    WIO_TRY(wio_buf_u8(buf, &row->kind));
    WIO_TRY(get_u16(buf, &row->op));
    row->t_ns = coder->before.t_ns + later;
    *shape_out = (unsigned)shape;
    bool is_odd = (shape & SHAPE_NEW_FILE) != 0 && (shape & SHAPE_RANGE) == 0;
    return shape > SHAPE_ALL || is_odd || row->t_ns < later ? WIO_ERR_FORMAT : WIO_OK;
}

enum wio_status wio_txn_row_get(struct wio_txn_coder *coder, struct wio_buf *buf,
                                struct wio_txn_blocker *blockers, struct wio_txn_row *row_out)
{
    const struct wio_txn_row *before = &coder->before;
    unsigned shape = 0;
    *row_out = (struct wio_txn_row){.txn = before->txn,
                                    .range = before->range,
                                    .origin = before->origin,
                                    .server = WIO_TXN_NO_SERVER,
                                    .blockers = blockers};
    WIO_TRY(get_head(coder, buf, &shape, row_out));
    if ((shape & SHAPE_NEW_NAME) != 0) {
        WIO_TRY(get_name(coder, buf, &row_out->txn));
    }
    WIO_TRY(get_place(buf, shape, row_out));
    WIO_TRY(get_numbers(buf, shape, row_out));
    if ((shape & SHAPE_RANGE) == 0) {
        row_out->range = (struct wio_txn_range){0};
    }
    if ((shape & SHAPE_BLOCKERS) != 0) {
        WIO_TRY(get_blockers(coder, buf, blockers, row_out));
    }
    struct wio_txn_range range = (shape & SHAPE_RANGE) != 0 ? row_out->range : before->range;
    coder->before = *row_out;
    coder->before.range = range;
    return WIO_OK;
}
