/* SPDX-License-Identifier: Apache-2.0 */
/* What an operation's messages consist of, and requests. Replies: reply.c. */
#include "store/wire/message.h"

#include <string.h>

#include "base/cleanup.h"
#include "store/wire/parts.h"

bool wio_wire_fields(uint16_t op, unsigned *request_out, unsigned *reply_out)
{
    switch (op) {
#define X(name, request, reply)                                                                    \
    case WIO_STORE_##name:                                                                         \
        *request_out = (request);                                                                  \
        *reply_out = (reply);                                                                      \
        return true;
#include "store/wire/fields.def"
#undef X
    default:
        return false;
    }
}

/* R-WIRE-7: the participants follow a vote that is asked for. */
static unsigned fields_of(uint16_t op, uint16_t flags)
{
    unsigned request = 0;
    unsigned reply = 0;
    (void)wio_wire_fields(op, &request, &reply);
    bool is_vote = op == WIO_STORE_PREPARE || (flags & WIO_STORE_FLAG_PREPARE) != 0;
    return request | (is_vote ? WIO_HAS_PARTICIPANTS : WIO_HAS_NOTHING);
}

/* ---- bounds, of what is written and of what is read ---------------------------------------- */

/* R-WIRE-8: no range wraps around, none is longer than a message. */
static bool is_range(const struct wio_store_request *request, unsigned fields)
{
    uint64_t size = (fields & WIO_HAS_DATA) != 0 ? request->data_size : request->size;
    bool moves = request->op == WIO_STORE_READ || request->op == WIO_STORE_WRITE;
    return (fields & WIO_HAS_OFFSET) == 0 || (fields & WIO_HAS_WHENCE) != 0 ||
           (size <= UINT64_MAX - request->offset && (!moves || size <= WIO_STORE_DATA_MAX));
}

static bool is_path(const char *path, uint32_t size)
{
    return size <= WIO_STORE_PATH_MAX && (size == 0 || memchr(path, '\0', size) == NULL);
}

static bool is_sound(const struct wio_store_request *request, unsigned fields)
{
    const unsigned open_flags = WIO_STORE_OPEN_CREATE | WIO_STORE_OPEN_EXCL | WIO_STORE_OPEN_TRUNC |
                                WIO_STORE_OPEN_READ | WIO_STORE_OPEN_WRITE;
    return is_range(request, fields) && request->whence <= WIO_STORE_WHENCE_ADD &&
           request->mode < WIO_LOCK_MODES && (request->open_flags & ~open_flags) == 0 &&
           request->segments <= WIO_STORE_SEGMENTS_MAX &&
           request->segment < WIO_STORE_SEGMENTS_MAX &&
           request->participant_count <= WIO_STORE_PARTICIPANTS_MAX &&
           is_path(request->path, request->path_size) &&
           is_path(request->path2, request->path2_size);
}

/* ---- out: R-WIRE-6, the order of the fields
 * ----------------------------------------------------------------------------------- */

static enum wio_status put_where(struct wio_blob *out, const struct wio_store_request *request,
                                 unsigned fields)
{
    if ((fields & WIO_HAS_FILE) != 0) {
        WIO_TRY(wio_blob_u64(out, request->file));
        WIO_TRY(wio_blob_u64(out, request->generation));
    }
    if ((fields & WIO_HAS_SEGMENT) != 0) {
        WIO_TRY(wio_blob_u32(out, request->segment));
    }
    if ((fields & WIO_HAS_GROUP) != 0) {
        WIO_TRY(wio_blob_u32(out, request->group));
    }
    if ((fields & WIO_HAS_WHENCE) != 0) {
        WIO_TRY(wio_blob_u8(out, request->whence));
    }
    if ((fields & WIO_HAS_MODE) != 0) {
        WIO_TRY(wio_blob_u8(out, request->mode));
    }
    if ((fields & WIO_HAS_OFFSET) != 0) {
        WIO_TRY(wio_blob_u64(out, request->offset));
    }
    return (fields & WIO_HAS_SIZE) != 0 ? wio_blob_u64(out, request->size) : WIO_OK;
}

static enum wio_status put_attributes(struct wio_blob *out, const struct wio_store_request *request,
                                      unsigned fields)
{
    if ((fields & WIO_HAS_OPEN_FLAGS) != 0) {
        WIO_TRY(wio_blob_u32(out, request->open_flags));
    }
    if ((fields & WIO_HAS_FILE_MODE) != 0) {
        WIO_TRY(wio_blob_u32(out, request->file_mode));
    }
    if ((fields & WIO_HAS_OWNER) != 0) {
        WIO_TRY(wio_blob_u32(out, request->uid));
        WIO_TRY(wio_blob_u32(out, request->gid));
    }
    if ((fields & WIO_HAS_LAYOUT) != 0) {
        WIO_TRY(wio_blob_u32(out, request->segments));
        WIO_TRY(wio_blob_u32(out, request->stripe_unit));
    }
    if ((fields & WIO_HAS_TIMES) != 0) {
        WIO_TRY(wio_blob_u64(out, (uint64_t)request->atime_ns));
        WIO_TRY(wio_blob_u64(out, (uint64_t)request->mtime_ns));
    }
    return WIO_OK;
}

static enum wio_status put_participants(struct wio_blob *out,
                                        const struct wio_store_request *request)
{
    WIO_TRY(wio_blob_u16(out, (uint16_t)request->participant_count));
    for (uint32_t i = 0; i < request->participant_count; i++) {
        WIO_TRY(wio_blob_u16(out, request->participants[i]));
    }
    return WIO_OK;
}

static enum wio_status put_texts(struct wio_blob *out, const struct wio_store_request *request,
                                 unsigned fields)
{
    if ((fields & WIO_HAS_PARTICIPANTS) != 0) {
        WIO_TRY(put_participants(out, request));
    }
    if ((fields & WIO_HAS_PATH) != 0) {
        WIO_TRY(wio_wire_put_text(out, request->path, request->path_size));
    }
    return (fields & WIO_HAS_PATH2) != 0
               ? wio_wire_put_text(out, request->path2, request->path2_size)
               : WIO_OK;
}

enum wio_status wio_wire_put_request(struct wio_blob *out, const struct wio_store_request *request,
                                     uint32_t *data_bytes_out)
{
    unsigned any = 0;
    unsigned fields = fields_of(request->op, request->flags);
    struct wio_wire_header header = {
        .kind = request->op,
        .flags = request->flags,
        .hint = request->hint,
        .number = request->number,
        .txn = request->txn,
        .source = request->source,
    };
    if (!wio_wire_fields(request->op, &any, &any) || !is_sound(request, fields) ||
        (request->flags & (WIO_WIRE_REPLY | ~WIO_WIRE_FLAGS)) != 0) {
        return WIO_ERR_USAGE;
    }
    size_t at = 0;
    *data_bytes_out = (fields & WIO_HAS_DATA) != 0 ? request->data_size : 0;
    WIO_TRY(wio_wire_begin(out, &at));
    if ((request->flags & WIO_STORE_FLAG_ADMIT) != 0) {
        WIO_TRY(wio_wire_put_asks(out, &request->asks));
    }
    WIO_TRY(put_where(out, request, fields));
    WIO_TRY(put_attributes(out, request, fields));
    WIO_TRY(put_texts(out, request, fields));
    wio_wire_end(out, at, &header, request->data, *data_bytes_out);
    return WIO_OK;
}

/* ---- in: R-WIRE-5, one encoding
 * ------------------------------------------------------------------------------------ */

static enum wio_status get_where(struct wio_buf *body, struct wio_store_request *request,
                                 unsigned fields)
{
    if ((fields & WIO_HAS_FILE) != 0) {
        WIO_TRY(wio_buf_u64(body, &request->file));
        WIO_TRY(wio_buf_u64(body, &request->generation));
    }
    if ((fields & WIO_HAS_SEGMENT) != 0) {
        WIO_TRY(wio_buf_u32(body, &request->segment));
    }
    if ((fields & WIO_HAS_GROUP) != 0) {
        WIO_TRY(wio_buf_u32(body, &request->group));
    }
    if ((fields & WIO_HAS_WHENCE) != 0) {
        WIO_TRY(wio_buf_u8(body, &request->whence));
    }
    if ((fields & WIO_HAS_MODE) != 0) {
        WIO_TRY(wio_buf_u8(body, &request->mode));
    }
    if ((fields & WIO_HAS_OFFSET) != 0) {
        WIO_TRY(wio_buf_u64(body, &request->offset));
    }
    return (fields & WIO_HAS_SIZE) != 0 ? wio_buf_u64(body, &request->size) : WIO_OK;
}

static enum wio_status get_attributes(struct wio_buf *body, struct wio_store_request *request,
                                      unsigned fields)
{
    if ((fields & WIO_HAS_OPEN_FLAGS) != 0) {
        WIO_TRY(wio_buf_u32(body, &request->open_flags));
    }
    if ((fields & WIO_HAS_FILE_MODE) != 0) {
        WIO_TRY(wio_buf_u32(body, &request->file_mode));
    }
    if ((fields & WIO_HAS_OWNER) != 0) {
        WIO_TRY(wio_buf_u32(body, &request->uid));
        WIO_TRY(wio_buf_u32(body, &request->gid));
    }
    if ((fields & WIO_HAS_LAYOUT) != 0) {
        WIO_TRY(wio_buf_u32(body, &request->segments));
        WIO_TRY(wio_buf_u32(body, &request->stripe_unit));
    }
    if ((fields & WIO_HAS_TIMES) != 0) {
        WIO_TRY(wio_wire_get_i64(body, &request->atime_ns));
        WIO_TRY(wio_wire_get_i64(body, &request->mtime_ns));
    }
    return WIO_OK;
}

static enum wio_status get_participants(struct wio_buf *body,
                                        uint16_t participants[WIO_STORE_PARTICIPANTS_MAX],
                                        struct wio_store_request *request)
{
    uint16_t count = 0;
    WIO_TRY(wio_buf_u16(body, &count));
    if (count > WIO_STORE_PARTICIPANTS_MAX) {
        return WIO_ERR_FORMAT;
    }
    for (uint32_t i = 0; i < count; i++) {
        WIO_TRY(wio_buf_u16(body, &participants[i]));
    }
    request->participants = participants;
    request->participant_count = count;
    return WIO_OK;
}

static enum wio_status get_texts(struct wio_buf *body, struct wio_store_request *request,
                                 unsigned fields)
{
    if ((fields & WIO_HAS_PATH) != 0) {
        WIO_TRY(wio_wire_get_text(body, WIO_STORE_PATH_MAX, &request->path, &request->path_size));
    }
    if ((fields & WIO_HAS_PATH2) != 0) {
        WIO_TRY(wio_wire_get_text(body, WIO_STORE_PATH_MAX, &request->path2, &request->path2_size));
    }
    return (fields & WIO_HAS_DATA) != 0
               ? wio_wire_get_data(body, &request->data, &request->data_size)
               : WIO_OK;
}

enum wio_status wio_wire_get_request(const struct wio_wire_header *header, struct wio_buf body,
                                     uint16_t participants[WIO_STORE_PARTICIPANTS_MAX],
                                     struct wio_store_request *request_out)
{
    unsigned any = 0;
    unsigned fields = fields_of(header->kind, header->flags);
    *request_out = (struct wio_store_request){
        .op = header->kind,
        .flags = header->flags,
        .hint = header->hint,
        .number = header->number,
        .txn = header->txn,
        .source = header->source,
    };
    if (!wio_wire_fields(header->kind, &any, &any) || (header->flags & WIO_WIRE_REPLY) != 0) {
        return WIO_ERR_FORMAT;
    }
    if ((header->flags & WIO_STORE_FLAG_ADMIT) != 0) {
        WIO_TRY(wio_wire_get_asks(&body, &request_out->asks));
    }
    WIO_TRY(get_where(&body, request_out, fields));
    WIO_TRY(get_attributes(&body, request_out, fields));
    if ((fields & WIO_HAS_PARTICIPANTS) != 0) {
        WIO_TRY(get_participants(&body, participants, request_out));
    }
    WIO_TRY(get_texts(&body, request_out, fields));
    return wio_buf_left(&body) == 0 && is_sound(request_out, fields) ? WIO_OK : WIO_ERR_FORMAT;
}
