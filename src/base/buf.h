/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cursors over bytes. All reads of untrusted bytes go through struct wio_buf: every function
 * checks the bounds and returns WIO_ERR_TRUNCATED without moving the cursor. Little endian.
 */
#ifndef WIO_BASE_BUF_H
#define WIO_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

/* Borrowed bytes and a read position. Copy it freely to look ahead. */
struct wio_buf {
    const uint8_t *data;
    size_t size;
    size_t pos;
};

static inline struct wio_buf wio_buf_of(const void *data, size_t size)
{
    return (struct wio_buf){(const uint8_t *)data, size, 0};
}

static inline size_t wio_buf_left(const struct wio_buf *buf)
{
    return buf->size - buf->pos;
}

WIO_MUST_CHECK static inline enum wio_status wio_buf_u8(struct wio_buf *buf, uint8_t *out)
{
    if (buf->pos >= buf->size) {
        return WIO_ERR_TRUNCATED;
    }
    *out = buf->data[buf->pos++];
    return WIO_OK;
}
WIO_MUST_CHECK enum wio_status wio_buf_u16(struct wio_buf *buf, uint16_t *out);
WIO_MUST_CHECK enum wio_status wio_buf_u32(struct wio_buf *buf, uint32_t *out);
WIO_MUST_CHECK enum wio_status wio_buf_u64(struct wio_buf *buf, uint64_t *out);
/* The rest of wio_buf_varint: values over 127. */
WIO_MUST_CHECK enum wio_status wio_buf_varint_long(struct wio_buf *buf, uint64_t *out);
/* LEB128, at most 10 bytes; a longer or overflowing one is WIO_ERR_FORMAT. */
WIO_MUST_CHECK static inline enum wio_status wio_buf_varint(struct wio_buf *buf, uint64_t *out)
{
    if (buf->pos < buf->size && buf->data[buf->pos] < 0x80) {
        *out = buf->data[buf->pos++];
        return WIO_OK;
    }
    return wio_buf_varint_long(buf, out);
}

static inline uint64_t wio_zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

static inline int64_t wio_unzigzag(uint64_t value)
{
    return (int64_t)((value >> 1) ^ (0 - (value & 1)));
}

/* Zigzag LEB128. */
WIO_MUST_CHECK static inline enum wio_status wio_buf_svarint(struct wio_buf *buf, int64_t *out)
{
    uint64_t raw = 0;
    enum wio_status status = wio_buf_varint(buf, &raw);
    if (status == WIO_OK) {
        *out = wio_unzigzag(raw);
    }
    return status;
}

/* The same of a number below 2^32: WIO_ERR_FORMAT if it is larger. */
WIO_MUST_CHECK enum wio_status wio_buf_varint32(struct wio_buf *buf, uint32_t *out);

/* Borrow the next `size` bytes. */
WIO_MUST_CHECK enum wio_status wio_buf_bytes(struct wio_buf *buf, size_t size, const uint8_t **out);
/* The next `size` bytes into `out`. */
WIO_MUST_CHECK enum wio_status wio_buf_copy(struct wio_buf *buf, void *out, size_t size);
/* A varint length and that many bytes. */
WIO_MUST_CHECK enum wio_status wio_buf_text(struct wio_buf *buf, const char **text_out,
                                            size_t *bytes_out);
/* A sub-cursor over the next `size` bytes. */
WIO_MUST_CHECK enum wio_status wio_buf_sub(struct wio_buf *buf, size_t size, struct wio_buf *out);

/* Growing bytes that are owned; zero-initialise, release with wio_blob_fini. */
struct wio_blob {
    uint8_t *data;
    size_t size;
    size_t capacity;
};

/* Bytes that the longest varint takes. */
#define WIO_VARINT_MAX 10u

void wio_blob_fini(struct wio_blob *blob);
static inline void wio_blob_clear(struct wio_blob *blob)
{
    blob->size = 0;
}
/* Room for `more` further bytes; afterwards data + size may be written up to that. */
WIO_MUST_CHECK enum wio_status wio_blob_reserve(struct wio_blob *blob, size_t more);
WIO_MUST_CHECK enum wio_status wio_blob_put(struct wio_blob *blob, const void *bytes, size_t size);
WIO_MUST_CHECK enum wio_status wio_blob_u8(struct wio_blob *blob, uint8_t value);
WIO_MUST_CHECK enum wio_status wio_blob_u16(struct wio_blob *blob, uint16_t value);
WIO_MUST_CHECK enum wio_status wio_blob_u32(struct wio_blob *blob, uint32_t value);
WIO_MUST_CHECK enum wio_status wio_blob_u64(struct wio_blob *blob, uint64_t value);
WIO_MUST_CHECK enum wio_status wio_blob_varint(struct wio_blob *blob, uint64_t value);
WIO_MUST_CHECK enum wio_status wio_blob_svarint(struct wio_blob *blob, int64_t value);
WIO_MUST_CHECK enum wio_status wio_blob_text(struct wio_blob *blob, const char *text, size_t bytes);

#endif
