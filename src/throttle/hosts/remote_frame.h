/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A frame: what a message is on the wire.
 *
 *     u64 magic, u32 kind, u32 bytes of the body, u64 number | body | tag over all before it
 *
 * The number counts the frames of one direction of a connection, from 0. Pure: bytes in, bytes out.
 */
#ifndef WIO_THROTTLE_HOSTS_REMOTE_FRAME_H
#define WIO_THROTTLE_HOSTS_REMOTE_FRAME_H

#include "throttle/hosts/remote.h"

#define WIO_REMOTE_HEAD_BYTES 24u

struct wio_remote_frame {
    uint32_t kind;
    uint64_t number;
    struct wio_buf body;
    const uint8_t *tag;
    size_t tagged; /* bytes that it is over, from the first one on */
};

/*
 * The frame that `bytes` begin with, which it points into. WIO_END where it is not there as a
 * whole: *needed_out bytes tell more. WIO_ERR_FORMAT for what is no frame, and for one with a body
 * of more than `most` bytes, or more than its kind has. The tag is not checked.
 */
WIO_MUST_CHECK enum wio_status wio_remote_frame_get(struct wio_buf bytes, uint32_t most,
                                                    struct wio_remote_frame *frame_out,
                                                    size_t *needed_out);

/* Append a frame. WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_remote_frame_put(struct wio_blob *out, uint32_t kind,
                                                    uint64_t number, const struct wio_blob *body,
                                                    const struct wio_remote_key *key);

#endif
