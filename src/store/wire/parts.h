/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces that several bodies have. Of store/wire alone. */
#ifndef WIO_STORE_WIRE_PARTS_H
#define WIO_STORE_WIRE_PARTS_H

#include "store/messages.h"
#include "store/wire/header.h"

/* Room for a header, which wio_wire_end fills in when the body behind it is known; `data` is the
 * body's last field, sent behind what is in `out`. */
WIO_MUST_CHECK enum wio_status wio_wire_begin(struct wio_blob *out, size_t *at_out);
void wio_wire_end(struct wio_blob *out, size_t at, struct wio_wire_header *header, const void *data,
                  uint32_t data_bytes);

/* u16 length and that many bytes; reading: at most `most`. */
WIO_MUST_CHECK enum wio_status wio_wire_put_text(struct wio_blob *out, const char *text,
                                                 uint32_t bytes);
WIO_MUST_CHECK enum wio_status wio_wire_get_text(struct wio_buf *body, uint32_t most,
                                                 const char **text_out, uint32_t *bytes_out);
/* The same into an array, ended by NUL; reading: bytes below blank and DEL are WIO_ERR_FORMAT. */
WIO_MUST_CHECK enum wio_status wio_wire_put_name(struct wio_blob *out, const char *name);
WIO_MUST_CHECK enum wio_status wio_wire_get_name(struct wio_buf *body, char *name_out, size_t room);

WIO_MUST_CHECK enum wio_status wio_wire_get_i64(struct wio_buf *body, int64_t *out);
/* All that is left. */
WIO_MUST_CHECK enum wio_status wio_wire_get_data(struct wio_buf *body, const uint8_t **data_out,
                                                 uint32_t *bytes_out);

WIO_MUST_CHECK enum wio_status wio_wire_put_blocker(struct wio_blob *out,
                                                    const struct wio_lock_blocker *blocker);
WIO_MUST_CHECK enum wio_status wio_wire_get_blocker(struct wio_buf *body,
                                                    struct wio_lock_blocker *blocker_out);

/* What FLAG_ADMIT adds; it is the first of a request's body, and follows the blockers of a reply.
 */
WIO_MUST_CHECK enum wio_status wio_wire_put_asks(struct wio_blob *out,
                                                 const struct wio_store_asks *asks);
WIO_MUST_CHECK enum wio_status wio_wire_get_asks(struct wio_buf *body,
                                                 struct wio_store_asks *asks_out);
WIO_MUST_CHECK enum wio_status wio_wire_put_told(struct wio_blob *out,
                                                 const struct wio_store_told *told);
WIO_MUST_CHECK enum wio_status wio_wire_get_told(struct wio_buf *body,
                                                 struct wio_store_told *told_out);

WIO_MUST_CHECK enum wio_status wio_wire_put_stat(struct wio_blob *out,
                                                 const struct wio_store_stat *stat);
WIO_MUST_CHECK enum wio_status wio_wire_get_stat(struct wio_buf *body,
                                                 struct wio_store_stat *stat_out);

#endif
