/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The 64 bytes in front of every message of the store (docs/STORE-PROTOCOL.md#header). They are
 * read and judged before one byte of the body is: what they say bounds the memory that the body
 * may take. Pure: bytes in, numbers out.
 */
#ifndef WIO_STORE_WIRE_HEADER_H
#define WIO_STORE_WIRE_HEADER_H

#include <stdint.h>

#include <whyio/status.h>

#include "base/buf.h"
#include "store/messages.h"

#define WIO_WIRE_MAGIC UINT32_C(0x534f4957) /* "WIOS" */
#define WIO_WIRE_VERSION 1u

enum {
    WIO_WIRE_HEADER_BYTES = 64,
    WIO_WIRE_BODY_MAX = 16 << 20, /* of any message, whatever a connection allows */
    WIO_WIRE_CLASS_KINDS = 16,    /* kinds of a class of messages */
    WIO_WIRE_CLASSES = 8          /* each has a word of feature bits in HELLO and WELCOME */
};

/* Of a header, beside enum wio_store_flag. A bit that is not known is an error: new ones come with
 * a feature bit. */
enum {
    WIO_WIRE_REPLY = 1 << 15, /* answers the request of this number */
    WIO_WIRE_FLAGS = WIO_WIRE_REPLY | WIO_STORE_FLAG_SINGLE | WIO_STORE_FLAG_STABLE |
                     WIO_STORE_FLAG_PREPARE | WIO_STORE_FLAG_REJECT | WIO_STORE_FLAG_NOFOLLOW |
                     WIO_STORE_FLAG_INCREMENT | WIO_STORE_FLAG_BEGIN | WIO_STORE_FLAG_TRY |
                     WIO_STORE_FLAG_COMMIT | WIO_STORE_FLAG_ADMIT
};

struct wio_wire_header {
    uint16_t kind; /* enum wio_store_op, enum wio_wire_session */
    uint16_t flags;
    uint16_t hint;       /* room for what the application says of an access; 0: nothing */
    uint32_t body_bytes; /* without the tag of a connection with a key */
    uint64_t number;     /* of the request, counted by its client; replies repeat it */
    struct wio_txn txn;  /* all 0: none; replies repeat it */
    uint32_t source;     /* call site by DEFINE_SOURCE; 0: unknown */
    uint32_t body_crc;   /* CRC32C of the body */
};

static inline unsigned wio_wire_class(uint16_t kind)
{
    return kind / WIO_WIRE_CLASS_KINDS;
}

/* 64 bytes, with the CRC of the header; `body_crc` is taken as it is. */
void wio_wire_header_put(const struct wio_wire_header *header,
                         uint8_t bytes_out[WIO_WIRE_HEADER_BYTES]);

/*
 * WIO_ERR_TRUNCATED: fewer than 64 bytes. WIO_ERR_FORMAT: not this protocol, damaged (CRC), a flag
 * or class that is not known, a body over WIO_WIRE_BODY_MAX. WIO_ERR_UNSUPPORTED: another version,
 * whose CRC fits. What a kind's body may have is the reader's of the body to say.
 */
WIO_MUST_CHECK enum wio_status wio_wire_header_get(struct wio_buf bytes,
                                                   struct wio_wire_header *header_out);

/* WIO_ERR_FORMAT where the body is not the one that the header was made for. */
WIO_MUST_CHECK enum wio_status wio_wire_body_check(const struct wio_wire_header *header,
                                                   struct wio_buf body);

#endif
