/* SPDX-License-Identifier: Apache-2.0 */
#include "store/storage/redo.h"

#include <string.h>

#include "base/cleanup.h"
#include "store/log/log.h"

enum { CHANGE_BYTES = 32, CHANGE_ALIGN = 8 };

static size_t padded(uint32_t bytes)
{
    return ((size_t)bytes + CHANGE_ALIGN - 1) / CHANGE_ALIGN * CHANGE_ALIGN;
}

/* R-REDO-1 */
enum wio_status wio_change_encode(struct wio_blob *redo, const struct wio_redo_change *change)
{
    WIO_TRY(wio_blob_reserve(redo, CHANGE_BYTES + padded(change->bytes)));
    WIO_TRY(wio_blob_u32(redo, change->kind));
    WIO_TRY(wio_blob_u32(redo, change->id.segment));
    WIO_TRY(wio_blob_u64(redo, change->id.file));
    WIO_TRY(wio_blob_u64(redo, change->offset));
    WIO_TRY(wio_blob_u32(redo, change->bytes));
    WIO_TRY(wio_blob_u32(redo, 0));
    if (change->bytes > 0) {
        memcpy(redo->data + redo->size, change->data, change->bytes);
        memset(redo->data + redo->size + change->bytes, 0, padded(change->bytes) - change->bytes);
        redo->size += padded(change->bytes);
    }
    return WIO_OK;
}

enum wio_status wio_change_decode(struct wio_buf *redo, struct wio_redo_change *change_out)
{
    uint32_t kind = 0;
    uint32_t reserved = 0;
    const uint8_t *data = NULL;
    if (wio_buf_left(redo) == 0) {
        return WIO_END;
    }
    WIO_TRY(wio_buf_u32(redo, &kind));
    WIO_TRY(wio_buf_u32(redo, &change_out->id.segment));
    WIO_TRY(wio_buf_u64(redo, &change_out->id.file));
    WIO_TRY(wio_buf_u64(redo, &change_out->offset));
    WIO_TRY(wio_buf_u32(redo, &change_out->bytes));
    WIO_TRY(wio_buf_u32(redo, &reserved));
    if (kind == 0 || kind >= WIO_CHANGE_KINDS || change_out->id.segment >= 4096 ||
        change_out->bytes > WIO_LOG_REDO_MAX || change_out->offset > WIO_STORAGE_OFFSET_MAX) {
        return WIO_ERR_FORMAT;
    }
    WIO_TRY(wio_buf_bytes(redo, padded(change_out->bytes), &data));
    change_out->kind = (uint8_t)kind;
    change_out->data = data;
    return WIO_OK;
}

/* R-REDO-2: the block gets the bytes that it had; what the segment has of it beyond was a hole. */
static enum wio_status apply_image(struct wio_storage *storage,
                                   const struct wio_redo_change *change, struct wio_error *err)
{
    static const uint8_t zeros[WIO_STORAGE_BLOCK];
    uint64_t size = 0;
    uint64_t from = change->offset + change->bytes;
    uint64_t to = (change->offset / WIO_STORAGE_BLOCK + 1) * WIO_STORAGE_BLOCK;
    if (change->bytes > 0) {
        WIO_TRY(wio_storage_write(storage, change->id, change->offset, change->data, change->bytes,
                                  err));
    }
    WIO_TRY(wio_storage_size(storage, change->id, &size, err));
    to = to < size ? to : size;
    return from < to ? wio_storage_write(storage, change->id, from, zeros, (size_t)(to - from), err)
                     : WIO_OK;
}

static enum wio_status apply_change(struct wio_storage *storage,
                                    const struct wio_redo_change *change, struct wio_error *err)
{
    switch ((enum wio_redo_change_kind)change->kind) {
    case WIO_CHANGE_IMAGE:
        return apply_image(storage, change, err);
    case WIO_CHANGE_WRITE:
        return wio_storage_write(storage, change->id, change->offset, change->data, change->bytes,
                                 err);
    case WIO_CHANGE_TRUNCATE:
        return wio_storage_truncate(storage, change->id, change->offset, err);
    case WIO_CHANGE_REMOVE:
        return wio_storage_remove(storage, change->id.file, err);
    case WIO_CHANGE_DROP:
        return wio_storage_drop(storage, change->id, err);
    case WIO_CHANGE_KINDS:
        break;
    }
    return wio_error_set(err, WIO_ERR_FORMAT, "log", WIO_ERROR_NO_OFFSET,
                         "expected a change of a known kind, found %u", change->kind);
}

enum wio_status redo_apply(struct wio_storage *storage, const void *redo, size_t bytes,
                           enum redo_part part, struct wio_error *err)
{
    struct wio_buf buf = wio_buf_of(redo, bytes);
    struct wio_redo_change change;
    enum wio_status status;
    while ((status = wio_change_decode(&buf, &change)) == WIO_OK) {
        unsigned its_part = change.kind == WIO_CHANGE_IMAGE ? REDO_IMAGES : REDO_REST;
        if ((its_part & (unsigned)part) != 0) {
            WIO_TRY(apply_change(storage, &change, err));
        }
    }
    return status == WIO_END
               ? WIO_OK
               : wio_error_set(err, status, "log", WIO_ERROR_NO_OFFSET,
                               "expected a change at byte %zu of a record's redo", buf.pos);
}
