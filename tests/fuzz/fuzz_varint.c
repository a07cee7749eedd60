/* SPDX-License-Identifier: Apache-2.0 */
/* Every way to read bytes through struct wio_buf: what is read must be writable to the same bytes
 * (where the encoding was the shortest), a failing read must not move the cursor. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

static void check_varint(struct wio_buf *buf)
{
    struct wio_blob blob = {0};
    size_t before = buf->pos;
    uint64_t value = 0;
    if (wio_buf_varint(buf, &value) != WIO_OK) {
        require(buf->pos == before);
        buf->pos = buf->size;
        return;
    }
    require(buf->pos > before && buf->pos - before <= WIO_VARINT_MAX);
    require(wio_blob_varint(&blob, value) == WIO_OK);
    require(blob.size <= buf->pos - before);
    struct wio_buf again = wio_buf_of(blob.data, blob.size);
    uint64_t back = 0;
    require(wio_buf_varint(&again, &back) == WIO_OK && back == value);
    require(wio_buf_left(&again) == 0);
    wio_blob_fini(&blob);
}

static void check_text(struct wio_buf *buf)
{
    size_t before = buf->pos;
    const char *text = NULL;
    size_t bytes = 0;
    if (wio_buf_text(buf, &text, &bytes) != WIO_OK) {
        require(buf->pos == before);
        buf->pos = buf->size;
        return;
    }
    require((const uint8_t *)text + bytes == buf->data + buf->pos);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wio_buf numbers = wio_buf_of(data, size);
    while (wio_buf_left(&numbers) > 0) {
        check_varint(&numbers);
    }
    struct wio_buf texts = wio_buf_of(data, size);
    while (wio_buf_left(&texts) > 0) {
        check_text(&texts);
    }
    return 0;
}
