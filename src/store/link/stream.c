/* SPDX-License-Identifier: Apache-2.0 */
#include "store/link/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

enum {
    SMALL = 512,         /* the first memory of a connection */
    KEPT_MAX = 128 << 10 /* memory that is kept between frames */
};

void wio_link_stream_fini(struct wio_link_stream *stream)
{
    free(stream->data);
    *stream = (struct wio_link_stream){0};
}

/* Bytes of the frame at hand, as far as it is known: a header that was refused needs none. */
static size_t frame_bytes(const struct wio_link_stream *stream, size_t tag_bytes)
{
    struct wio_wire_header header;
    size_t held = wio_link_stream_held(stream);
    if (held < WIO_WIRE_HEADER_BYTES ||
        wio_wire_header_get(wio_buf_of(stream->data + stream->begin, held), &header) != WIO_OK) {
        return WIO_WIRE_HEADER_BYTES;
    }
    return WIO_WIRE_HEADER_BYTES + (size_t)header.body_bytes + tag_bytes;
}

/* What is held goes to the front; memory that one long frame needed is given back. */
static void settle(struct wio_link_stream *stream)
{
    size_t held = wio_link_stream_held(stream);
    if (held > 0 && stream->begin > 0) {
        memmove(stream->data, stream->data + stream->begin, held);
    }
    stream->begin = 0;
    stream->end = held;
    if (held == 0 && stream->capacity > KEPT_MAX) {
        wio_link_stream_fini(stream);
    }
}

static bool grow(struct wio_link_stream *stream, size_t wanted)
{
    size_t capacity = wanted < SMALL ? SMALL : wanted;
    uint8_t *data = realloc(stream->data, capacity);
    if (data == NULL) {
        return false;
    }
    stream->data = data;
    stream->capacity = capacity;
    return true;
}

uint8_t *wio_link_stream_room(struct wio_link_stream *stream, size_t ahead, size_t tag_bytes,
                              size_t *size_out)
{
    size_t held = wio_link_stream_held(stream);
    size_t wanted = frame_bytes(stream, tag_bytes);
    wanted = (wanted > held ? wanted : held + 1);
    size_t most = wanted + ahead;
    if (held == 0 || stream->begin + wanted > stream->capacity) {
        settle(stream);
    }
    if (stream->begin + wanted > stream->capacity && !grow(stream, most)) {
        return NULL;
    }
    size_t room = stream->capacity - stream->end;
    size_t left = stream->begin + most - stream->end;
    *size_out = room < left ? room : left;
    return stream->data + stream->end;
}

enum wio_status wio_link_stream_next(struct wio_link_stream *stream, uint32_t body_max,
                                     size_t tag_bytes, struct wio_link_frame *frame_out)
{
    size_t held = wio_link_stream_held(stream);
    if (held < WIO_WIRE_HEADER_BYTES) {
        return WIO_END;
    }
    const uint8_t *at = stream->data + stream->begin;
    WIO_TRY(wio_wire_header_get(wio_buf_of(at, held), &frame_out->header));
    if (frame_out->header.body_bytes > body_max) {
        return WIO_ERR_FORMAT;
    }
    size_t size = WIO_WIRE_HEADER_BYTES + (size_t)frame_out->header.body_bytes;
    if (held < size + tag_bytes) {
        return WIO_END;
    }
    frame_out->body = wio_buf_of(at + WIO_WIRE_HEADER_BYTES, frame_out->header.body_bytes);
    frame_out->bytes = at;
    frame_out->size = size;
    frame_out->tag = tag_bytes > 0 ? at + size : NULL;
    stream->begin += size + tag_bytes;
    return wio_wire_body_check(&frame_out->header, frame_out->body);
}
