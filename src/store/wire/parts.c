/* SPDX-License-Identifier: Apache-2.0 */
#include "store/wire/parts.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/crc.h"

enum wio_status wio_wire_begin(struct wio_blob *out, size_t *at_out)
{
    *at_out = out->size;
    WIO_TRY(wio_blob_reserve(out, WIO_WIRE_HEADER_BYTES));
    out->size += WIO_WIRE_HEADER_BYTES;
    return WIO_OK;
}

void wio_wire_end(struct wio_blob *out, size_t at, struct wio_wire_header *header, const void *data,
                  uint32_t data_bytes)
{
    size_t body = at + WIO_WIRE_HEADER_BYTES;
    header->body_bytes = (uint32_t)(out->size - body) + data_bytes;
    header->body_crc = wio_crc32c(0, out->data + body, out->size - body);
    header->body_crc = wio_crc32c(header->body_crc, data, data_bytes);
    wio_wire_header_put(header, out->data + at);
}

enum wio_status wio_wire_put_text(struct wio_blob *out, const char *text, uint32_t bytes)
{
    WIO_TRY(wio_blob_u16(out, (uint16_t)bytes));
    return bytes > 0 ? wio_blob_put(out, text, bytes) : WIO_OK;
}

enum wio_status wio_wire_get_text(struct wio_buf *body, uint32_t most, const char **text_out,
                                  uint32_t *bytes_out)
{
    const uint8_t *bytes = NULL;
    uint16_t size = 0;
    WIO_TRY(wio_buf_u16(body, &size));
    WIO_TRY(wio_buf_bytes(body, size, &bytes));
    *text_out = (const char *)bytes;
    *bytes_out = size;
    return size <= most ? WIO_OK : WIO_ERR_FORMAT;
}

enum wio_status wio_wire_put_name(struct wio_blob *out, const char *name)
{
    return wio_wire_put_text(out, name, (uint32_t)strlen(name));
}

enum wio_status wio_wire_get_name(struct wio_buf *body, char *name_out, size_t room)
{
    const char *text = NULL;
    uint32_t bytes = 0;
    WIO_TRY(wio_wire_get_text(body, (uint32_t)room - 1, &text, &bytes));
    for (uint32_t i = 0; i < bytes; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) {
            return WIO_ERR_FORMAT;
        }
    }
    memcpy(name_out, text, bytes);
    name_out[bytes] = '\0';
    return WIO_OK;
}

enum wio_status wio_wire_get_i64(struct wio_buf *body, int64_t *out)
{
    uint64_t bits = 0;
    WIO_TRY(wio_buf_u64(body, &bits));
    *out = (int64_t)bits;
    return WIO_OK;
}

enum wio_status wio_wire_get_data(struct wio_buf *body, const uint8_t **data_out,
                                  uint32_t *bytes_out)
{
    size_t left = wio_buf_left(body);
    if (left > WIO_STORE_DATA_MAX) {
        return WIO_ERR_FORMAT;
    }
    *bytes_out = (uint32_t)left;
    return wio_buf_bytes(body, left, data_out);
}

/* ---- blockers: R-WIRE-10 ------------------------------------------------------------------- */

enum wio_status wio_wire_put_blocker(struct wio_blob *out, const struct wio_lock_blocker *blocker)
{
    WIO_TRY(wio_blob_u64(out, blocker->txn.client));
    WIO_TRY(wio_blob_u64(out, blocker->txn.number));
    WIO_TRY(wio_blob_u64(out, blocker->txn.birth_ns));
    WIO_TRY(wio_blob_u32(out, blocker->txn.attempt));
    WIO_TRY(wio_blob_u32(out, blocker->job));
    WIO_TRY(wio_blob_u32(out, blocker->source));
    WIO_TRY(wio_blob_u32(out, blocker->range.segment));
    WIO_TRY(wio_blob_u64(out, blocker->range.file));
    WIO_TRY(wio_blob_u64(out, blocker->range.from));
    WIO_TRY(wio_blob_u64(out, blocker->range.to));
    WIO_TRY(wio_blob_u8(out, blocker->mode));
    return wio_blob_u8(out, blocker->role);
}

enum wio_status wio_wire_get_blocker(struct wio_buf *body, struct wio_lock_blocker *blocker_out)
{
    struct wio_lock_blocker *blocker = blocker_out;
    *blocker = (struct wio_lock_blocker){0};
    WIO_TRY(wio_buf_u64(body, &blocker->txn.client));
    WIO_TRY(wio_buf_u64(body, &blocker->txn.number));
    WIO_TRY(wio_buf_u64(body, &blocker->txn.birth_ns));
    WIO_TRY(wio_buf_u32(body, &blocker->txn.attempt));
    WIO_TRY(wio_buf_u32(body, &blocker->job));
    WIO_TRY(wio_buf_u32(body, &blocker->source));
    WIO_TRY(wio_buf_u32(body, &blocker->range.segment));
    WIO_TRY(wio_buf_u64(body, &blocker->range.file));
    WIO_TRY(wio_buf_u64(body, &blocker->range.from));
    WIO_TRY(wio_buf_u64(body, &blocker->range.to));
    WIO_TRY(wio_buf_u8(body, &blocker->mode));
    WIO_TRY(wio_buf_u8(body, &blocker->role));
    return blocker->mode < WIO_LOCK_MODES && blocker->role < WIO_LOCK_ROLES &&
                   blocker->range.from <= blocker->range.to
               ? WIO_OK
               : WIO_ERR_FORMAT;
}

/* ---- stat ---------------------------------------------------------------------------------- */

enum wio_status wio_wire_put_stat(struct wio_blob *out, const struct wio_store_stat *stat)
{
    WIO_TRY(wio_blob_u64(out, stat->file));
    WIO_TRY(wio_blob_u64(out, stat->generation));
    WIO_TRY(wio_blob_u64(out, stat->size));
    WIO_TRY(wio_blob_u64(out, stat->used));
    WIO_TRY(wio_blob_u32(out, stat->mode));
    WIO_TRY(wio_blob_u32(out, stat->uid));
    WIO_TRY(wio_blob_u32(out, stat->gid));
    WIO_TRY(wio_blob_u32(out, stat->links));
    WIO_TRY(wio_blob_u32(out, stat->segments));
    WIO_TRY(wio_blob_u32(out, stat->stripe_unit));
    WIO_TRY(wio_blob_u64(out, (uint64_t)stat->atime_ns));
    WIO_TRY(wio_blob_u64(out, (uint64_t)stat->mtime_ns));
    return wio_blob_u64(out, (uint64_t)stat->ctime_ns);
}

enum wio_status wio_wire_get_stat(struct wio_buf *body, struct wio_store_stat *stat)
{
    WIO_TRY(wio_buf_u64(body, &stat->file));
    WIO_TRY(wio_buf_u64(body, &stat->generation));
    WIO_TRY(wio_buf_u64(body, &stat->size));
    WIO_TRY(wio_buf_u64(body, &stat->used));
    WIO_TRY(wio_buf_u32(body, &stat->mode));
    WIO_TRY(wio_buf_u32(body, &stat->uid));
    WIO_TRY(wio_buf_u32(body, &stat->gid));
    WIO_TRY(wio_buf_u32(body, &stat->links));
    WIO_TRY(wio_buf_u32(body, &stat->segments));
    WIO_TRY(wio_buf_u32(body, &stat->stripe_unit));
    WIO_TRY(wio_wire_get_i64(body, &stat->atime_ns));
    WIO_TRY(wio_wire_get_i64(body, &stat->mtime_ns));
    return wio_wire_get_i64(body, &stat->ctime_ns);
}
