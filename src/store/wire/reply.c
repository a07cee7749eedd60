/* SPDX-License-Identifier: Apache-2.0 */
/* Replies, and what a server says unasked. Requests: message.c. */
#include "base/cleanup.h"
#include "store/wire/message.h"
#include "store/wire/parts.h"

static const uint16_t last_result = WIO_STORE_IN_USE;
static const uint16_t last_outcome = WIO_STORE_OUTCOME_ABORTED;

/* R-WIRE-9: a reply that is not OK says why and no more. */
static unsigned fields_of(uint16_t op, uint16_t result)
{
    unsigned request = 0;
    unsigned reply = 0;
    return wio_wire_fields(op, &request, &reply) && result == WIO_STORE_OK ? reply
                                                                           : WIO_HAS_NOTHING;
}

static bool is_sound(const struct wio_store_reply *reply)
{
    unsigned any = 0;
    return wio_wire_fields(reply->op, &any, &any) && reply->result <= last_result &&
           reply->reason < WIO_LOCK_REASONS && reply->outcome <= last_outcome &&
           reply->data_size <= WIO_STORE_DATA_MAX && reply->blockers.listed <= WIO_LOCK_BLOCKERS &&
           reply->blockers.listed <= reply->blockers.count;
}

/* ---- what all replies begin with ----------------------------------------------------------- */

static enum wio_status put_account(struct wio_blob *out, const struct wio_store_reply *reply)
{
    WIO_TRY(wio_blob_u16(out, reply->result));
    WIO_TRY(wio_blob_u16(out, reply->reason));
    WIO_TRY(wio_blob_u16(out, reply->outcome));
    WIO_TRY(wio_blob_u32(out, reply->queue_depth));
    WIO_TRY(wio_blob_u64(out, reply->retry_ns));
    WIO_TRY(wio_blob_u64(out, reply->received_ns));
    WIO_TRY(wio_blob_u64(out, reply->locked_ns));
    WIO_TRY(wio_blob_u64(out, reply->done_ns));
    WIO_TRY(wio_blob_u64(out, reply->sent_ns));
    WIO_TRY(wio_blob_u32(out, reply->blockers.count));
    WIO_TRY(wio_blob_u8(out, (uint8_t)reply->blockers.listed));
    for (uint32_t i = 0; i < reply->blockers.listed; i++) {
        WIO_TRY(wio_wire_put_blocker(out, &reply->blockers.list[i]));
    }
    return reply->has_told ? wio_wire_put_told(out, &reply->told) : WIO_OK;
}

static enum wio_status get_blockers(struct wio_buf *body, struct wio_lock_blockers *blockers)
{
    uint8_t listed = 0;
    WIO_TRY(wio_buf_u32(body, &blockers->count));
    WIO_TRY(wio_buf_u8(body, &listed));
    if (listed > WIO_LOCK_BLOCKERS) {
        return WIO_ERR_FORMAT;
    }
    blockers->listed = listed;
    for (uint32_t i = 0; i < listed; i++) {
        WIO_TRY(wio_wire_get_blocker(body, &blockers->list[i]));
    }
    return WIO_OK;
}

static enum wio_status get_account(struct wio_buf *body, struct wio_store_reply *reply)
{
    WIO_TRY(wio_buf_u16(body, &reply->result));
    WIO_TRY(wio_buf_u16(body, &reply->reason));
    WIO_TRY(wio_buf_u16(body, &reply->outcome));
    WIO_TRY(wio_buf_u32(body, &reply->queue_depth));
    WIO_TRY(wio_buf_u64(body, &reply->retry_ns));
    WIO_TRY(wio_buf_u64(body, &reply->received_ns));
    WIO_TRY(wio_buf_u64(body, &reply->locked_ns));
    WIO_TRY(wio_buf_u64(body, &reply->done_ns));
    WIO_TRY(wio_buf_u64(body, &reply->sent_ns));
    WIO_TRY(get_blockers(body, &reply->blockers));
    return reply->has_told ? wio_wire_get_told(body, &reply->told) : WIO_OK;
}

/* ---- replies ------------------------------------------------------------------------------- */

static enum wio_status put_fields(struct wio_blob *out, const struct wio_store_reply *reply,
                                  unsigned fields)
{
    if ((fields & WIO_HAS_OFFSET) != 0) {
        WIO_TRY(wio_blob_u64(out, reply->offset));
    }
    if ((fields & WIO_HAS_SIZE) != 0) {
        WIO_TRY(wio_blob_u64(out, reply->size));
    }
    return (fields & WIO_HAS_STAT) != 0 ? wio_wire_put_stat(out, &reply->stat) : WIO_OK;
}

enum wio_status wio_wire_put_reply(struct wio_blob *out, const struct wio_store_reply *reply,
                                   uint32_t *data_bytes_out)
{
    unsigned fields = fields_of(reply->op, reply->result);
    struct wio_wire_header header = {
        .kind = reply->op,
        .flags = (uint16_t)(WIO_WIRE_REPLY | (reply->has_told ? WIO_STORE_FLAG_ADMIT : 0u)),
        .number = reply->number,
        .txn = reply->txn,
    };
    size_t at = 0;
    if (!is_sound(reply)) {
        return WIO_ERR_USAGE;
    }
    *data_bytes_out = (fields & WIO_HAS_DATA) != 0 ? reply->data_size : 0;
    WIO_TRY(wio_wire_begin(out, &at));
    WIO_TRY(put_account(out, reply));
    WIO_TRY(put_fields(out, reply, fields));
    wio_wire_end(out, at, &header, reply->data, *data_bytes_out);
    return WIO_OK;
}

static enum wio_status get_fields(struct wio_buf *body, struct wio_store_reply *reply,
                                  unsigned fields)
{
    if ((fields & WIO_HAS_OFFSET) != 0) {
        WIO_TRY(wio_buf_u64(body, &reply->offset));
    }
    if ((fields & WIO_HAS_SIZE) != 0) {
        WIO_TRY(wio_buf_u64(body, &reply->size));
    }
    if ((fields & WIO_HAS_STAT) != 0) {
        WIO_TRY(wio_wire_get_stat(body, &reply->stat));
    }
    return (fields & WIO_HAS_DATA) != 0 ? wio_wire_get_data(body, &reply->data, &reply->data_size)
                                        : WIO_OK;
}

enum wio_status wio_wire_get_reply(const struct wio_wire_header *header, struct wio_buf body,
                                   struct wio_store_reply *reply_out)
{
    *reply_out = (struct wio_store_reply){
        .op = header->kind,
        .number = header->number,
        .txn = header->txn,
        .has_told = (header->flags & WIO_STORE_FLAG_ADMIT) != 0,
    };
    if ((header->flags & ~WIO_STORE_FLAG_ADMIT) != WIO_WIRE_REPLY || header->source != 0 ||
        header->hint != 0) {
        return WIO_ERR_FORMAT;
    }
    WIO_TRY(get_account(&body, reply_out));
    WIO_TRY(get_fields(&body, reply_out, fields_of(header->kind, reply_out->result)));
    return wio_buf_left(&body) == 0 && is_sound(reply_out) ? WIO_OK : WIO_ERR_FORMAT;
}

/* ---- unasked ------------------------------------------------------------------------------- */

enum wio_status wio_wire_put_push(struct wio_blob *out, const struct wio_store_push *push)
{
    struct wio_wire_header header = {.kind = push->op, .txn = push->txn};
    size_t at = 0;
    if (push->op != WIO_STORE_WOUND && push->op != WIO_STORE_WINDOW) {
        return WIO_ERR_USAGE;
    }
    WIO_TRY(wio_wire_begin(out, &at));
    if (push->op == WIO_STORE_WINDOW) {
        WIO_TRY(wio_blob_u16(out, push->window));
    } else {
        WIO_TRY(wio_wire_put_blocker(out, &push->because));
    }
    wio_wire_end(out, at, &header, NULL, 0);
    return WIO_OK;
}

enum wio_status wio_wire_get_push(const struct wio_wire_header *header, struct wio_buf body,
                                  struct wio_store_push *push_out)
{
    *push_out = (struct wio_store_push){.op = header->kind, .txn = header->txn};
    bool is_known = header->kind == WIO_STORE_WOUND || header->kind == WIO_STORE_WINDOW;
    if (!is_known || header->flags != 0 || header->source != 0 || header->hint != 0 ||
        header->number != 0) {
        return WIO_ERR_FORMAT;
    }
    if (header->kind == WIO_STORE_WINDOW) {
        WIO_TRY(wio_buf_u16(&body, &push_out->window));
    } else {
        WIO_TRY(wio_wire_get_blocker(&body, &push_out->because));
    }
    return wio_buf_left(&body) == 0 ? WIO_OK : WIO_ERR_FORMAT;
}
