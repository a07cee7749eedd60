/* SPDX-License-Identifier: Apache-2.0 */
/* What admission adds to requests and replies: R-WIRE-17, R-WIRE-18. WINDOW, R-WIRE-19, is in
 * reply.c. */
#include "admit/counts.h"
#include "base/cleanup.h"
#include "store/wire/parts.h"

static bool has_ticket(const struct wio_ticket *ticket)
{
    return ticket->sequence != 0 || ticket->mac != 0;
}

static enum wio_status put_ticket(struct wio_blob *out, const struct wio_ticket *ticket)
{
    WIO_TRY(wio_blob_u8(out, has_ticket(ticket)));
    if (!has_ticket(ticket)) {
        return WIO_OK;
    }
    WIO_TRY(wio_blob_u64(out, ticket->sequence));
    WIO_TRY(wio_blob_u64(out, ticket->mac));
    WIO_TRY(wio_blob_u32(out, ticket->incarnation));
    return wio_blob_u16(out, ticket->retries);
}

static enum wio_status get_ticket(struct wio_buf *body, struct wio_ticket *ticket)
{
    uint8_t is_there = 0;
    WIO_TRY(wio_buf_u8(body, &is_there));
    if (is_there > 1) {
        return WIO_ERR_FORMAT;
    }
    if (is_there == 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_buf_u64(body, &ticket->sequence));
    WIO_TRY(wio_buf_u64(body, &ticket->mac));
    WIO_TRY(wio_buf_u32(body, &ticket->incarnation));
    WIO_TRY(wio_buf_u16(body, &ticket->retries));
    return has_ticket(ticket) ? WIO_OK : WIO_ERR_FORMAT;
}

enum wio_status wio_wire_put_asks(struct wio_blob *out, const struct wio_store_asks *asks)
{
    WIO_TRY(wio_blob_u64(out, asks->remaining_ns));
    WIO_TRY(wio_blob_u64(out, asks->demand_ns));
    WIO_TRY(wio_blob_u16(out, asks->demand));
    WIO_TRY(wio_blob_u16(out, asks->flags));
    return put_ticket(out, &asks->ticket);
}

enum wio_status wio_wire_get_asks(struct wio_buf *body, struct wio_store_asks *asks_out)
{
    WIO_TRY(wio_buf_u64(body, &asks_out->remaining_ns));
    WIO_TRY(wio_buf_u64(body, &asks_out->demand_ns));
    WIO_TRY(wio_buf_u16(body, &asks_out->demand));
    WIO_TRY(wio_buf_u16(body, &asks_out->flags));
    WIO_TRY(get_ticket(body, &asks_out->ticket));
    return (asks_out->flags & ~WIO_STORE_ASKS_HOLDS) == 0 ? WIO_OK : WIO_ERR_FORMAT;
}

enum wio_status wio_wire_put_told(struct wio_blob *out, const struct wio_store_told *told)
{
    WIO_TRY(wio_blob_u8(out, told->reason));
    WIO_TRY(wio_blob_u8(out, told->has_window));
    WIO_TRY(wio_blob_u16(out, told->window));
    WIO_TRY(wio_blob_u16(out, told->hint));
    return put_ticket(out, &told->ticket);
}

enum wio_status wio_wire_get_told(struct wio_buf *body, struct wio_store_told *told_out)
{
    uint8_t has_window = 0;
    WIO_TRY(wio_buf_u8(body, &told_out->reason));
    WIO_TRY(wio_buf_u8(body, &has_window));
    WIO_TRY(wio_buf_u16(body, &told_out->window));
    WIO_TRY(wio_buf_u16(body, &told_out->hint));
    WIO_TRY(get_ticket(body, &told_out->ticket));
    told_out->has_window = has_window == 1;
    return has_window <= 1 && told_out->reason < WIO_ADMIT_REASON_COUNT ? WIO_OK : WIO_ERR_FORMAT;
}
