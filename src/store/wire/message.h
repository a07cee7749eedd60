/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of the store (store/messages.h) as bytes and back (docs/STORE-PROTOCOL.md#bodies).
 * Each has exactly one encoding, so that what is read can be written to the same bytes. Pure.
 *
 * What an operation's body consists of is one table, fields.def. Data, which may be long, is the
 * last field and is not copied: a message is the bytes that the encoder appended, then the data.
 */
#ifndef WIO_STORE_WIRE_MESSAGE_H
#define WIO_STORE_WIRE_MESSAGE_H

#include "store/wire/header.h"

/* Fields of a body, in this order. */
enum wio_wire_field {
    WIO_HAS_NOTHING = 0,
    WIO_HAS_FILE = 1 << 1, /* file, generation */
    WIO_HAS_SEGMENT = 1 << 2,
    WIO_HAS_GROUP = 1 << 3,
    WIO_HAS_WHENCE = 1 << 4,
    WIO_HAS_MODE = 1 << 5,
    WIO_HAS_OFFSET = 1 << 6,
    WIO_HAS_SIZE = 1 << 7,
    WIO_HAS_OPEN_FLAGS = 1 << 8,
    WIO_HAS_FILE_MODE = 1 << 9,
    WIO_HAS_OWNER = 1 << 10,  /* uid, gid */
    WIO_HAS_LAYOUT = 1 << 11, /* segments, stripe_unit */
    WIO_HAS_TIMES = 1 << 12,  /* atime_ns, mtime_ns */
    WIO_HAS_STAT = 1 << 13,
    WIO_HAS_PARTICIPANTS = 1 << 14,
    WIO_HAS_PATH = 1 << 15,
    WIO_HAS_PATH2 = 1 << 16,
    WIO_HAS_DATA = 1 << 17
};

/* False: there is no such operation. Fields of requests and of replies with result OK. */
bool wio_wire_fields(uint16_t op, unsigned *request_out, unsigned *reply_out);

/* Append header and body without the data, which the caller sends behind it: request->data of
 * request->data_size bytes where the operation has data, else none (*data_bytes_out says).
 * WIO_ERR_USAGE: there is no such operation, or a field is beyond its bounds. WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_wire_put_request(struct wio_blob *out,
                                                    const struct wio_store_request *request,
                                                    uint32_t *data_bytes_out);
WIO_MUST_CHECK enum wio_status wio_wire_put_reply(struct wio_blob *out,
                                                  const struct wio_store_reply *reply,
                                                  uint32_t *data_bytes_out);
WIO_MUST_CHECK enum wio_status wio_wire_put_push(struct wio_blob *out,
                                                 const struct wio_store_push *push);

/*
 * Read a whole body, whose CRC is the caller's to have checked. Data and paths point into it;
 * participants go into `participants`, which lives as long. WIO_ERR_FORMAT or WIO_ERR_TRUNCATED:
 * no such operation, numbers that are none of their field's, bytes behind the end. Nothing is
 * allocated.
 */
WIO_MUST_CHECK enum wio_status
wio_wire_get_request(const struct wio_wire_header *header, struct wio_buf body,
                     uint16_t participants[WIO_STORE_PARTICIPANTS_MAX],
                     struct wio_store_request *request_out);
WIO_MUST_CHECK enum wio_status wio_wire_get_reply(const struct wio_wire_header *header,
                                                  struct wio_buf body,
                                                  struct wio_store_reply *reply_out);
WIO_MUST_CHECK enum wio_status wio_wire_get_push(const struct wio_wire_header *header,
                                                 struct wio_buf body,
                                                 struct wio_store_push *push_out);

#endif
