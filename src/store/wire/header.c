/* SPDX-License-Identifier: Apache-2.0 */
#include "store/wire/header.h"

#include "base/cleanup.h"
#include "base/crc.h"

enum { AT_CRC = 60 };

static uint8_t *put16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
    return at + 2;
}

static uint8_t *put32(uint8_t *at, uint32_t value)
{
    return put16(put16(at, (uint16_t)value), (uint16_t)(value >> 16));
}

static uint8_t *put64(uint8_t *at, uint64_t value)
{
    return put32(put32(at, (uint32_t)value), (uint32_t)(value >> 32));
}

/* R-WIRE-1: the layout; R-WIRE-2: the CRC. */
void wio_wire_header_put(const struct wio_wire_header *header,
                         uint8_t bytes_out[WIO_WIRE_HEADER_BYTES])
{
    uint8_t *at = put32(bytes_out, WIO_WIRE_MAGIC);
    at = put16(at, WIO_WIRE_VERSION);
    at = put16(at, header->kind);
    at = put32(at, header->body_bytes);
    at = put16(at, header->flags);
    at = put16(at, header->hint);
    at = put64(at, header->number);
    at = put64(at, header->txn.client);
    at = put64(at, header->txn.number);
    at = put64(at, header->txn.birth_ns);
    at = put32(at, header->txn.attempt);
    at = put32(at, header->source);
    at = put32(at, header->body_crc);
    (void)put32(at, wio_crc32c(0, bytes_out, AT_CRC));
}

static enum wio_status get_fields(struct wio_buf *bytes, struct wio_wire_header *header)
{
    WIO_TRY(wio_buf_u16(bytes, &header->kind));
    WIO_TRY(wio_buf_u32(bytes, &header->body_bytes));
    WIO_TRY(wio_buf_u16(bytes, &header->flags));
    WIO_TRY(wio_buf_u16(bytes, &header->hint));
    WIO_TRY(wio_buf_u64(bytes, &header->number));
    WIO_TRY(wio_buf_u64(bytes, &header->txn.client));
    WIO_TRY(wio_buf_u64(bytes, &header->txn.number));
    WIO_TRY(wio_buf_u64(bytes, &header->txn.birth_ns));
    WIO_TRY(wio_buf_u32(bytes, &header->txn.attempt));
    WIO_TRY(wio_buf_u32(bytes, &header->source));
    return wio_buf_u32(bytes, &header->body_crc);
}

/* R-WIRE-3: what is refused before the body. */
static bool is_sound(const struct wio_wire_header *header)
{
    return (header->flags & ~(unsigned)WIO_WIRE_FLAGS) == 0 && header->kind != 0 &&
           wio_wire_class(header->kind) < WIO_WIRE_CLASSES &&
           header->body_bytes <= WIO_WIRE_BODY_MAX;
}

enum wio_status wio_wire_header_get(struct wio_buf bytes, struct wio_wire_header *header_out)
{
    const uint8_t *begin = NULL;
    struct wio_buf whole = bytes;
    uint32_t magic = 0;
    uint32_t crc = 0;
    uint16_t version = 0;
    WIO_TRY(wio_buf_bytes(&whole, WIO_WIRE_HEADER_BYTES, &begin));
    WIO_TRY(wio_buf_u32(&bytes, &magic));
    WIO_TRY(wio_buf_u16(&bytes, &version));
    *header_out = (struct wio_wire_header){0};
    WIO_TRY(get_fields(&bytes, header_out));
    WIO_TRY(wio_buf_u32(&bytes, &crc));
    if (magic != WIO_WIRE_MAGIC || crc != wio_crc32c(0, begin, AT_CRC)) {
        return WIO_ERR_FORMAT;
    }
    if (version != WIO_WIRE_VERSION) {
        return WIO_ERR_UNSUPPORTED;
    }
    return is_sound(header_out) ? WIO_OK : WIO_ERR_FORMAT;
}

/* R-WIRE-4 */
enum wio_status wio_wire_body_check(const struct wio_wire_header *header, struct wio_buf body)
{
    return wio_buf_left(&body) == header->body_bytes &&
                   wio_crc32c(0, body.data + body.pos, header->body_bytes) == header->body_crc
               ? WIO_OK
               : WIO_ERR_FORMAT;
}
