/* SPDX-License-Identifier: Apache-2.0 */
/* An operation as requests to segments. Touches nothing but the operation. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "store/api/api_internal.h"

/* ---- pieces -------------------------------------------------------------------------------- */

static enum wio_status add(struct api_op *op, const struct api_request *request)
{
    WIO_TRY(wio_grow((void **)&op->requests, sizeof(*op->requests), &op->room, op->count + 1));
    op->requests[op->count++] = *request;
    return WIO_OK;
}

/* A piece in parts that one request may have. */
static enum wio_status add_piece(struct api_op *op, uint16_t code, struct wio_store_piece piece,
                                 const uint8_t *data)
{
    for (uint64_t done = 0; done < piece.size;) {
        uint64_t part = piece.size - done;
        part = part < WIO_STORE_DATA_MAX ? part : WIO_STORE_DATA_MAX;
        const struct api_request request = {
            .op = code,
            .target = wio_layout_target(&op->place.layout, piece.segment),
            .piece = {piece.segment, piece.offset + done, part},
            .data = data != NULL ? data + done : NULL,
        };
        WIO_TRY(add(op, &request));
        done += part;
    }
    return WIO_OK;
}

/* How many segments have bytes of the range; the first is that of its first byte. */
static uint32_t segments_of(const struct wio_layout *layout, uint64_t offset, uint64_t size)
{
    uint64_t units = (offset + size - 1) / layout->stripe_unit - offset / layout->stripe_unit + 1;
    return units < layout->segments ? (uint32_t)units : layout->segments;
}

static struct wio_store_piece piece_of(const struct api_op *op, uint32_t i)
{
    const struct wio_layout *layout = &op->place.layout;
    if (op->place.is_segment) {
        return (struct wio_store_piece){op->place.segment, op->at, op->size};
    }
    uint64_t first = op->at / layout->stripe_unit;
    uint32_t segment = (uint32_t)((first + i) % layout->segments);
    return wio_layout_piece(layout, op->at, op->size, segment);
}

/* ---- bytes --------------------------------------------------------------------------------- */

static uint32_t piece_count(const struct api_op *op)
{
    return op->place.is_segment ? 1 : segments_of(&op->place.layout, op->at, op->size);
}

static void gather(const struct api_op *op, const struct wio_store_piece *piece, uint8_t *to)
{
    struct wio_store_run run = {0};
    while (wio_layout_next_run(&op->place.layout, op->at, op->size, piece, &run)) {
        memcpy(to + run.in_piece, op->data + run.in_range, run.size);
    }
}

static enum wio_status plan_write(struct api_op *op)
{
    uint32_t count = piece_count(op);
    uint8_t *to = op->data;
    if (count > 1) {
        op->packed = op->packed != NULL ? op->packed : malloc(op->size);
        to = op->packed;
    }
    if (to == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct wio_store_piece piece = piece_of(op, i);
        if (count > 1) {
            gather(op, &piece, to);
        }
        WIO_TRY(add_piece(op, WIO_STORE_WRITE, piece, to));
        to += piece.size;
    }
    return WIO_OK;
}

static enum wio_status plan_read(struct api_op *op)
{
    uint32_t count = piece_count(op);
    for (uint32_t i = 0; i < count; i++) {
        WIO_TRY(add_piece(op, WIO_STORE_READ, piece_of(op, i), NULL));
    }
    return WIO_OK;
}

static enum wio_status plan_add(struct api_op *op)
{
    struct wio_store_piece piece = {op->place.segment, op->at, sizeof(op->number)};
    if (!op->place.is_segment) {
        piece.segment = wio_layout_locate(&op->place.layout, op->at, &piece.offset);
    }
    for (unsigned i = 0; i < sizeof(op->number); i++) {
        op->number[i] = (uint8_t)((uint64_t)op->delta >> (8 * i));
    }
    return add_piece(op, WIO_STORE_WRITE, piece, op->number);
}

/* One request to each segment. */
static enum wio_status plan_all(struct api_op *op, uint16_t code)
{
    const struct wio_layout *layout = &op->place.layout;
    bool is_one = op->place.is_segment && code == WIO_STORE_SIZE;
    for (uint32_t i = 0; i < (is_one ? 1 : layout->segments); i++) {
        uint32_t segment = is_one ? op->place.segment : i;
        const struct api_request request = {
            .op = code,
            .target = wio_layout_target(layout, segment),
            .piece = {segment, 0, 0},
            .size = wio_layout_segment_size(layout, op->size, segment),
        };
        WIO_TRY(add(op, &request));
    }
    return WIO_OK;
}

/* ---- stages -------------------------------------------------------------------------------- */

static enum wio_status plan_bytes(struct api_op *op)
{
    switch (op->kind) {
    case API_READ:
        return plan_read(op);
    case API_WRITE:
        return plan_write(op);
    case API_ADD:
        return plan_add(op);
    case API_TRUNCATE:
        return plan_all(op, WIO_STORE_TRUNCATE);
    case API_DROP:
        return plan_all(op, WIO_STORE_DROP);
    case API_SIZE:
    case API_SEEK:
        break;
    }
    return WIO_OK;
}

/* Shared pointers are kept by one target for each file. */
static enum wio_status plan_pointer(struct api_op *op)
{
    const struct api_request request = {
        .op = WIO_STORE_POINTER,
        .target = (uint16_t)(op->place.file % op->place.layout.targets),
    };
    return add(op, &request);
}

static bool wants_sizes(const struct api_op *op)
{
    return op->kind == API_SIZE || op->is_append ||
           (op->kind == API_SEEK && op->whence == SEEK_END);
}

/* A read that met the end of a segment, and is not known to reach into the file behind it. */
static bool wants_end(const struct api_op *op)
{
    return op->kind == API_READ && op->is_short && !op->is_unsure && !op->place.is_segment &&
           op->place.layout.segments > 1 && op->data_end < op->at + op->size;
}

enum wio_status api_plan_stage(struct api_op *op)
{
    op->count = 0;
    op->issued = 0;
    op->answered = 0;
    switch (op->stage) {
    case API_STAGE_POINTER:
        return op->is_shared && op->kind != API_SEEK            ? plan_pointer(op)
               : op->kind == API_SEEK && op->whence == SEEK_CUR ? plan_pointer(op)
                                                                : WIO_OK;
    case API_STAGE_SIZES:
        return wants_sizes(op) ? plan_all(op, WIO_STORE_SIZE) : WIO_OK;
    case API_STAGE_BYTES:
        return plan_bytes(op);
    case API_STAGE_END:
        return wants_end(op) ? plan_all(op, WIO_STORE_SIZE) : WIO_OK;
    case API_STAGE_MOVE:
        return op->kind == API_SEEK || (op->kind == API_READ && op->is_shared && op->got > 0)
                   ? plan_pointer(op)
                   : WIO_OK;
    case API_STAGE_DONE:
        break;
    }
    return WIO_OK;
}

void api_plan_begin(struct api_op *op)
{
    op->stage = API_STAGE_POINTER;
    op->at = op->offset;
    op->is_short = false;
    op->data_end = 0;
    op->file_end = 0;
    op->got = 0;
    op->is_unsure = false;
    op->count = 0;
}

/* What a transaction by itself may consist of, and how many requests that are. */
bool api_plan_is_single(const struct api_op *op)
{
    uint32_t segments = op->place.layout.segments;
    if (op->is_not_single || op->is_shared || op->is_append) {
        return op->kind == API_SEEK && op->whence == SEEK_SET;
    }
    switch (op->kind) {
    case API_READ:
    case API_WRITE:
        return piece_count(op) == 1 && op->size <= WIO_STORE_DATA_MAX;
    case API_ADD:
        return true;
    case API_SIZE:
        return segments == 1 || op->place.is_segment;
    case API_TRUNCATE:
    case API_DROP:
        return segments == 1;
    case API_SEEK:
        break;
    }
    return false;
}

bool api_plan_keep(struct api_op *op)
{
    bool is_one = op->kind == API_WRITE && !op->is_shared && !op->is_append && op->size > 0 &&
                  op->size <= WIO_STORE_DATA_MAX;
    api_plan_begin(op);
    if (!is_one || piece_count(op) != 1) {
        return false;
    }
    op->stage = API_STAGE_BYTES;
    return api_plan_stage(op) == WIO_OK && op->count == 1;
}

/* ---- requests ------------------------------------------------------------------------------ */

static void point(const struct api_op *op, struct wio_store_request *request)
{
    bool is_set = op->kind == API_SEEK && op->stage == API_STAGE_MOVE;
    request->group = op->place.group;
    request->whence = is_set ? WIO_STORE_WHENCE_SET : WIO_STORE_WHENCE_ADD;
    if (is_set) {
        request->offset = op->position;
    } else if (op->kind == API_WRITE) {
        request->offset = op->size;
    } else if (op->stage == API_STAGE_MOVE) {
        request->offset = op->got;
    }
}

struct wio_store_request api_plan_request(const struct api_op *op, const struct api_request *from)
{
    struct wio_store_request request = {
        .op = from->op,
        .hint = op->place.hint,
        .source = op->place.source,
        .file = op->place.file,
        .generation = op->place.generation,
        .segment = from->piece.segment,
    };
    switch (from->op) {
    case WIO_STORE_READ:
        request.offset = from->piece.offset;
        request.size = from->piece.size;
        break;
    case WIO_STORE_WRITE:
        request.offset = from->piece.offset;
        request.data = from->data;
        request.data_size = (uint32_t)from->piece.size;
        request.flags = op->kind == API_ADD ? WIO_STORE_FLAG_INCREMENT : 0;
        break;
    case WIO_STORE_TRUNCATE:
        request.size = from->size;
        break;
    case WIO_STORE_POINTER:
        point(op, &request);
        break;
    default: /* SIZE, DROP */
        break;
    }
    return request;
}
