/* SPDX-License-Identifier: Apache-2.0 */
/* What servers answer to the requests of an operation. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "store/api/api_internal.h"

/* ---- bytes that were read ------------------------------------------------------------------ */

/* A run of a piece into the caller's memory: what is there, and zeros behind it. */
static void put(uint8_t *to, const struct wio_store_run *run, const uint8_t *data, uint64_t got)
{
    uint64_t have = got > run->in_piece ? got - run->in_piece : 0;
    have = have < run->size ? have : run->size;
    if (have > 0) {
        memcpy(to + run->in_range, data + run->in_piece, have);
    }
    memset(to + run->in_range + have, 0, run->size - have);
}

static void scatter(struct api_op *op, const struct wio_store_piece *piece, const uint8_t *data,
                    uint64_t got)
{
    if (!api_call_lock(&op->call)) {
        return;
    }
    if (op->place.is_segment) {
        const struct wio_store_run run = {piece->offset - op->at, 0, piece->size};
        put(op->into, &run, data, got);
    } else {
        struct wio_store_run run = {0};
        while (wio_layout_next_run(&op->place.layout, op->at, op->size, piece, &run)) {
            put(op->into, &run, data, got);
        }
    }
    api_call_unlock(&op->call);
}

static void take_read(struct api_op *op, const struct api_request *request,
                      const struct wio_store_reply *reply)
{
    const struct wio_store_piece *piece = &request->piece;
    uint64_t got = reply->data_size < piece->size ? reply->data_size : piece->size;
    scatter(op, piece, reply->data, got);
    op->is_short |= got < piece->size;
    if (got > 0) {
        uint64_t end = piece->offset + got;
        if (!op->place.is_segment) {
            end = wio_layout_linear(&op->place.layout, piece->segment, end - 1) + 1;
        }
        op->data_end = end > op->data_end ? end : op->data_end;
    }
}

/* ---- answers ------------------------------------------------------------------------------- */

static void take_size(struct api_op *op, const struct api_request *request,
                      const struct wio_store_reply *reply)
{
    uint64_t end = reply->size;
    if (!op->place.is_segment) {
        end = wio_layout_size(&op->place.layout, request->piece.segment, end);
    }
    op->file_end = end > op->file_end ? end : op->file_end;
}

void api_take(struct api_op *op, uint32_t index, const struct wio_store_reply *reply)
{
    const struct api_request *request = &op->requests[index];
    switch (request->op) {
    case WIO_STORE_READ:
        take_read(op, request, reply);
        break;
    case WIO_STORE_WRITE:
        op->before = reply->offset;
        break;
    case WIO_STORE_SIZE:
        take_size(op, request, reply);
        break;
    case WIO_STORE_POINTER:
        if (op->stage == API_STAGE_POINTER) {
            op->position = reply->offset;
            op->at = op->kind == API_SEEK ? op->at : reply->offset;
        }
        break;
    default:
        break;
    }
}

/* ---- stages -------------------------------------------------------------------------------- */

/* Behind the bytes: how many of them there were. */
static void count_read(struct api_op *op)
{
    uint64_t end = op->at + op->size;
    bool is_known = op->place.is_segment || op->place.layout.segments == 1;
    if (!op->is_short || op->data_end == end) {
        op->got = op->size;
    } else if (is_known) {
        op->got = op->data_end > op->at ? op->data_end - op->at : 0;
    } else if (op->stage == API_STAGE_END) {
        end = op->file_end < end ? op->file_end : end;
        op->got = end > op->at ? end - op->at : 0;
    } else {
        op->is_unsure = api_plan_is_single(op);
    }
}

static int seek_to(struct api_op *op)
{
    uint64_t from = op->whence == SEEK_CUR   ? op->position
                    : op->whence == SEEK_END ? op->file_end
                                             : 0;
    if (__builtin_add_overflow((int64_t)from, op->delta, (int64_t *)&op->position) ||
        (int64_t)op->position < 0) {
        return EINVAL;
    }
    return 0;
}

int api_take_stage(struct api_op *op)
{
    switch (op->stage) {
    case API_STAGE_POINTER:
        if (op->is_shared && op->kind != API_SEEK && op->at > INT64_MAX - op->size) {
            return EFBIG;
        }
        break;
    case API_STAGE_SIZES:
        op->at = op->is_append ? op->file_end : op->at;
        if (op->is_append && op->at > INT64_MAX - op->size) {
            return EFBIG;
        }
        return op->kind == API_SEEK ? seek_to(op) : 0;
    case API_STAGE_BYTES:
    case API_STAGE_END:
        if (op->kind == API_READ) {
            count_read(op);
        }
        break;
    case API_STAGE_MOVE:
    case API_STAGE_DONE:
        break;
    }
    return 0;
}
