/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/hosts/remote_frame.h"

#include "base/cleanup.h"

/* "WIOHOST" and the protocol. */
#define MAGIC (UINT64_C(0x00545350484f4957) | (uint64_t)WIO_REMOTE_PROTOCOL << 56)

enum wio_status wio_remote_frame_get(struct wio_buf bytes, uint32_t most,
                                     struct wio_remote_frame *frame_out, size_t *needed_out)
{
    uint64_t magic = 0;
    uint32_t size = 0;
    *frame_out = (struct wio_remote_frame){0};
    *needed_out = WIO_REMOTE_HEAD_BYTES;
    if (wio_buf_left(&bytes) < WIO_REMOTE_HEAD_BYTES) {
        return WIO_END;
    }
    const uint8_t *first = bytes.data + bytes.pos;
    WIO_TRY(wio_buf_u64(&bytes, &magic));
    WIO_TRY(wio_buf_u32(&bytes, &frame_out->kind));
    WIO_TRY(wio_buf_u32(&bytes, &size));
    WIO_TRY(wio_buf_u64(&bytes, &frame_out->number));
    bool is_known = magic == MAGIC && frame_out->kind > 0 && frame_out->kind < WIO_REMOTE_KINDS;
    if (!is_known || size > most || size > wio_remote_body_max(frame_out->kind)) {
        return WIO_ERR_FORMAT;
    }
    *needed_out = (size_t)WIO_REMOTE_HEAD_BYTES + size + WIO_REMOTE_TAG_BYTES;
    if (wio_buf_left(&bytes) < (size_t)size + WIO_REMOTE_TAG_BYTES) {
        return WIO_END;
    }
    WIO_TRY(wio_buf_sub(&bytes, size, &frame_out->body));
    frame_out->tagged = WIO_REMOTE_HEAD_BYTES + (size_t)size;
    frame_out->tag = first + frame_out->tagged;
    return WIO_OK;
}

enum wio_status wio_remote_frame_put(struct wio_blob *out, uint32_t kind, uint64_t number,
                                     const struct wio_blob *body, const struct wio_remote_key *key)
{
    uint8_t tag[WIO_REMOTE_TAG_BYTES];
    size_t first = out->size;
    WIO_TRY(wio_blob_u64(out, MAGIC));
    WIO_TRY(wio_blob_u32(out, kind));
    WIO_TRY(wio_blob_u32(out, (uint32_t)body->size));
    WIO_TRY(wio_blob_u64(out, number));
    WIO_TRY(wio_blob_put(out, body->data, body->size));
    wio_remote_tag(key, out->data + first, out->size - first, tag);
    return wio_blob_put(out, tag, sizeof(tag));
}
