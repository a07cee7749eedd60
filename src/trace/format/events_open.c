/* SPDX-License-Identifier: Apache-2.0 */
/* A block of events, opened: its head, and those of its columns that are wanted. */
#include <string.h>

#include <whyio/trace.h>

#include "base/cleanup.h"
#include "trace/format/events.h"

#define BIT(column) (1u << (column))

uint32_t wio_events_wanted(uint64_t mask)
{
    static const struct {
        uint64_t asked;
        uint32_t columns; /* with those that they are relative to */
    } needs[] = {
        {WIO_COLUMN_TIME, BIT(WIO_COL_GAP) | BIT(WIO_COL_DURATION)},
        {WIO_COLUMN_DURATION, BIT(WIO_COL_DURATION)},
        {WIO_COLUMN_FD, BIT(WIO_COL_FD)},
        {WIO_COLUMN_PATH, BIT(WIO_COL_FD) | BIT(WIO_COL_PATH)},
        {WIO_COLUMN_OFFSET, BIT(WIO_COL_FD) | BIT(WIO_COL_SIZE) | BIT(WIO_COL_OFFSET)},
        {WIO_COLUMN_SIZE, BIT(WIO_COL_SIZE)},
        {WIO_COLUMN_RESULT, BIT(WIO_COL_SIZE) | BIT(WIO_COL_RESULT)},
        {WIO_COLUMN_ERROR, BIT(WIO_COL_ERROR)},
        {WIO_COLUMN_SOURCE, BIT(WIO_COL_SOURCE)},
        {WIO_COLUMN_FLAGS, BIT(WIO_COL_FLAGS)},
        {WIO_COLUMN_SECOND, BIT(WIO_COL_PATH2) | BIT(WIO_COL_FD2) | BIT(WIO_COL_OFFSET2)},
        {WIO_COLUMN_ARGS,
         BIT(WIO_COL_ARG0) | BIT(WIO_COL_ARG1) | BIT(WIO_COL_ARG2) | BIT(WIO_COL_ARG3)},
        {WIO_COLUMN_CPU, BIT(WIO_COL_GAP_CPU) | BIT(WIO_COL_DUR_CPU)},
    };
    if (mask == 0) {
        return UINT32_MAX;
    }
    uint32_t wanted = BIT(WIO_COL_CALL) | BIT(WIO_COL_SHAPE);
    for (size_t i = 0; i < WIO_ARRAY_SIZE(needs); i++) {
        wanted |= mask & needs[i].asked ? needs[i].columns : 0;
    }
    return wanted;
}

enum wio_status wio_events_parse_head(struct wio_buf *buf, struct wio_events_head *head_out)
{
    uint64_t stream = 0;
    uint64_t count = 0;
    WIO_TRY(wio_buf_varint(buf, &stream));
    WIO_TRY(wio_buf_varint(buf, &count));
    WIO_TRY(wio_buf_varint(buf, &head_out->first_seq));
    WIO_TRY(wio_buf_varint(buf, &head_out->first_ns));
    WIO_TRY(wio_buf_varint(buf, &head_out->last_ns));
    WIO_TRY(wio_buf_varint(buf, &head_out->dropped));
    if (stream >= UINT32_MAX || count < 1 || count > WIO_EVENTS_MAX) {
        return WIO_ERR_FORMAT;
    }
    head_out->stream = (uint32_t)stream;
    head_out->count = (uint32_t)count;
    return WIO_OK;
}

struct column_head {
    uint8_t id;
    uint8_t encoding;
    size_t stored;
    size_t raw;
};

static enum wio_status parse_column(struct wio_buf *buf, uint32_t count, struct column_head *head)
{
    uint64_t stored = 0;
    WIO_TRY(wio_buf_u8(buf, &head->id));
    WIO_TRY(wio_buf_u8(buf, &head->encoding));
    WIO_TRY(wio_buf_varint(buf, &stored));
    uint64_t raw = stored;
    if (head->encoding & WIO_ENCODING_ZSTD) {
        WIO_TRY(wio_buf_varint(buf, &raw));
    }
    /* R-COL-6: no encoding needs more, so nothing can ask for more memory. */
    if (stored > wio_buf_left(buf) || raw > 16 + 20 * (uint64_t)count) {
        return WIO_ERR_FORMAT;
    }
    head->stored = (size_t)stored;
    head->raw = (size_t)raw;
    return WIO_OK;
}

static enum wio_status open_column(struct wio_events *events, const struct column_head *head,
                                   const uint8_t *bytes, struct wio_pack *pack,
                                   struct wio_blob *unpacked)
{
    WIO_TRY(wio_blob_reserve(unpacked, head->raw + 1));
    uint8_t *raw = unpacked->data + unpacked->size;
    if (head->encoding & WIO_ENCODING_ZSTD) {
        WIO_TRY(wio_pack_get(pack, bytes, head->stored, raw, head->raw));
    } else {
        memcpy(raw, bytes, head->raw);
    }
    events->starts[head->id] = (uint32_t)unpacked->size;
    unpacked->size += head->raw;
    uint8_t encoding = (uint8_t)(head->encoding & ~WIO_ENCODING_ZSTD);
    return wio_column_open(&events->columns[head->id], encoding, raw, head->raw);
}

enum wio_status wio_events_open(struct wio_events *events, uint32_t wanted,
                                const struct wio_blob *payload, struct wio_pack *pack,
                                struct wio_blob *unpacked)
{
    struct wio_buf buf = wio_buf_of(payload->data, payload->size);
    uint32_t seen = 0;
    memset(events, 0, sizeof(*events));
    WIO_TRY(wio_events_parse_head(&buf, &events->head));
    events->wanted = wanted;
    events->previous_end = events->head.first_ns;
    for (unsigned id = 0; id < WIO_COL_COUNT; id++) {
        wio_column_zero(&events->columns[id]);
    }
    while (wio_buf_left(&buf) > 0) {
        struct column_head head;
        const uint8_t *bytes = NULL;
        WIO_TRY(parse_column(&buf, events->head.count, &head));
        WIO_TRY(wio_buf_bytes(&buf, head.stored, &bytes));
        if (head.id >= WIO_COL_COUNT) {
            continue;
        }
        /* R-COL-6: or a small block could unpack to any size. */
        if ((seen & BIT(head.id)) != 0) {
            return WIO_ERR_FORMAT;
        }
        seen |= BIT(head.id);
        if ((wanted & BIT(head.id)) != 0) {
            WIO_TRY(open_column(events, &head, bytes, pack, unpacked));
        }
    }
    wio_events_rebase(events, unpacked);
    return WIO_OK;
}

void wio_events_rebase(struct wio_events *events, const struct wio_blob *unpacked)
{
    for (unsigned id = 0; id < WIO_COL_COUNT; id++) {
        if (events->columns[id].buf.data != NULL) {
            events->columns[id].buf.data = unpacked->data + events->starts[id];
        }
    }
}
