/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames out of the bytes of a connection: memory for what comes next, and the frames that are
 * there as a whole. The memory is bounded by what the caller allows, whatever a header says: a
 * header is judged when its 64 bytes are there, and only then there is room for its body.
 */
#ifndef WIO_STORE_LINK_STREAM_H
#define WIO_STORE_LINK_STREAM_H

#include "store/wire/header.h"

/* Zero-initialise. */
struct wio_link_stream {
    uint8_t *data;
    size_t capacity;
    size_t begin; /* of the first frame that was not taken */
    size_t end;
};

struct wio_link_frame {
    struct wio_wire_header header;
    struct wio_buf body;  /* in the stream's memory: until the next call */
    const uint8_t *bytes; /* header and body */
    size_t size;
    const uint8_t *tag; /* NULL: none */
};

void wio_link_stream_fini(struct wio_link_stream *stream);

/* Bytes that belong to a frame that is not there as a whole. */
static inline size_t wio_link_stream_held(const struct wio_link_stream *stream)
{
    return stream->end - stream->begin;
}

/* Room for at least one byte, behind those that are there; `ahead` is how much to take beyond the
 * frame at hand (0: not one byte of the next one). NULL: out of memory. */
uint8_t *wio_link_stream_room(struct wio_link_stream *stream, size_t ahead, size_t tag_bytes,
                              size_t *size_out);
static inline void wio_link_stream_came(struct wio_link_stream *stream, size_t bytes)
{
    stream->end += bytes;
}

/* The next frame. WIO_END: not there as a whole. Else an error of its header (wio_wire_header_get),
 * or WIO_ERR_FORMAT for a body that is longer than `body_max` or does not fit its CRC. */
WIO_MUST_CHECK enum wio_status wio_link_stream_next(struct wio_link_stream *stream,
                                                    uint32_t body_max, size_t tag_bytes,
                                                    struct wio_link_frame *frame_out);

#endif
