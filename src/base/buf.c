/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Little endian bytes to a number; the caller has checked the bounds. */
static uint64_t load(const uint8_t *data, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = bytes; i > 0; i--) {
        value = value << 8 | data[i - 1];
    }
    return value;
}

static enum wio_status take(struct wio_buf *buf, size_t bytes, uint64_t *out)
{
    if (wio_buf_left(buf) < bytes) {
        return WIO_ERR_TRUNCATED;
    }
    *out = load(buf->data + buf->pos, bytes);
    buf->pos += bytes;
    return WIO_OK;
}

enum wio_status wio_buf_u16(struct wio_buf *buf, uint16_t *out)
{
    uint64_t value = 0;
    WIO_TRY(take(buf, sizeof(*out), &value));
    *out = (uint16_t)value;
    return WIO_OK;
}

enum wio_status wio_buf_u32(struct wio_buf *buf, uint32_t *out)
{
    uint64_t value = 0;
    WIO_TRY(take(buf, sizeof(*out), &value));
    *out = (uint32_t)value;
    return WIO_OK;
}

enum wio_status wio_buf_u64(struct wio_buf *buf, uint64_t *out)
{
    return take(buf, sizeof(*out), out);
}

enum wio_status wio_buf_varint_long(struct wio_buf *buf, uint64_t *out)
{
    uint64_t value = 0;
    size_t left = wio_buf_left(buf);
    for (size_t i = 0; i < WIO_VARINT_MAX; i++) {
        if (i == left) {
            return WIO_ERR_TRUNCATED;
        }
        uint8_t byte = buf->data[buf->pos + i];
        /* The tenth byte has room for the topmost bit of 64 only. */
        if (i == WIO_VARINT_MAX - 1 && byte > 1) {
            return WIO_ERR_FORMAT;
        }
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            buf->pos += i + 1;
            *out = value;
            return WIO_OK;
        }
    }
    return WIO_ERR_FORMAT;
}

enum wio_status wio_buf_varint32(struct wio_buf *buf, uint32_t *out)
{
    uint64_t value = 0;
    WIO_TRY(wio_buf_varint(buf, &value));
    *out = (uint32_t)value;
    return value <= UINT32_MAX ? WIO_OK : WIO_ERR_FORMAT;
}

enum wio_status wio_buf_bytes(struct wio_buf *buf, size_t size, const uint8_t **out)
{
    if (wio_buf_left(buf) < size) {
        return WIO_ERR_TRUNCATED;
    }
    *out = buf->data + buf->pos;
    buf->pos += size;
    return WIO_OK;
}

enum wio_status wio_buf_text(struct wio_buf *buf, const char **text_out, size_t *bytes_out)
{
    struct wio_buf ahead = *buf;
    uint64_t size = 0;
    const uint8_t *bytes = NULL;
    WIO_TRY(wio_buf_varint(&ahead, &size));
    if (size > wio_buf_left(&ahead)) {
        return WIO_ERR_TRUNCATED;
    }
    WIO_TRY(wio_buf_bytes(&ahead, (size_t)size, &bytes));
    *buf = ahead;
    *text_out = (const char *)bytes;
    *bytes_out = (size_t)size;
    return WIO_OK;
}

enum wio_status wio_buf_copy(struct wio_buf *buf, void *out, size_t size)
{
    const uint8_t *bytes = NULL;
    WIO_TRY(wio_buf_bytes(buf, size, &bytes));
    memcpy(out, bytes, size);
    return WIO_OK;
}

enum wio_status wio_buf_sub(struct wio_buf *buf, size_t size, struct wio_buf *out)
{
    const uint8_t *bytes = NULL;
    WIO_TRY(wio_buf_bytes(buf, size, &bytes));
    *out = wio_buf_of(bytes, size);
    return WIO_OK;
}

void wio_blob_fini(struct wio_blob *blob)
{
    free(blob->data);
    *blob = (struct wio_blob){0};
}

enum wio_status wio_blob_reserve(struct wio_blob *blob, size_t more)
{
    if (blob->capacity - blob->size >= more) {
        return WIO_OK;
    }
    size_t needed = 0;
    if (__builtin_add_overflow(blob->size, more, &needed)) {
        return WIO_ERR_NOMEM;
    }
    size_t capacity = blob->capacity < 64 ? 64 : blob->capacity;
    while (capacity < needed) {
        if (__builtin_mul_overflow(capacity, (size_t)2, &capacity)) {
            return WIO_ERR_NOMEM;
        }
    }
    uint8_t *data = realloc(blob->data, capacity);
    if (data == NULL) {
        return WIO_ERR_NOMEM;
    }
    blob->data = data;
    blob->capacity = capacity;
    return WIO_OK;
}

enum wio_status wio_blob_put(struct wio_blob *blob, const void *bytes, size_t size)
{
    WIO_TRY(wio_blob_reserve(blob, size));
    if (size > 0) {
        memcpy(blob->data + blob->size, bytes, size);
        blob->size += size;
    }
    return WIO_OK;
}

static inline enum wio_status put_number(struct wio_blob *blob, uint64_t value, size_t bytes)
{
    WIO_TRY(wio_blob_reserve(blob, bytes));
    uint8_t *out = blob->data + blob->size; /* not through blob: one store, not one per byte */
    for (size_t i = 0; i < bytes; i++) {
        out[i] = (uint8_t)(value >> (8 * i));
    }
    blob->size += bytes;
    return WIO_OK;
}

enum wio_status wio_blob_u8(struct wio_blob *blob, uint8_t value)
{
    return put_number(blob, value, sizeof(value));
}

enum wio_status wio_blob_u16(struct wio_blob *blob, uint16_t value)
{
    return put_number(blob, value, sizeof(value));
}

enum wio_status wio_blob_u32(struct wio_blob *blob, uint32_t value)
{
    return put_number(blob, value, sizeof(value));
}

enum wio_status wio_blob_u64(struct wio_blob *blob, uint64_t value)
{
    return put_number(blob, value, sizeof(value));
}

enum wio_status wio_blob_varint(struct wio_blob *blob, uint64_t value)
{
    WIO_TRY(wio_blob_reserve(blob, WIO_VARINT_MAX));
    uint8_t *out = blob->data + blob->size;
    while (value >= 0x80) {
        *out++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *out++ = (uint8_t)value;
    blob->size = (size_t)(out - blob->data);
    return WIO_OK;
}

enum wio_status wio_blob_svarint(struct wio_blob *blob, int64_t value)
{
    return wio_blob_varint(blob, wio_zigzag(value));
}

enum wio_status wio_blob_text(struct wio_blob *blob, const char *text, size_t bytes)
{
    WIO_TRY(wio_blob_varint(blob, bytes));
    return wio_blob_put(blob, text, bytes);
}
