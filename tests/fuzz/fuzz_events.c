/* SPDX-License-Identifier: Apache-2.0 */
/* The payload of an EVENTS block, read to its end in slices of two sizes that must agree. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/format/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t read_all(const struct wio_blob *payload, struct wio_pack *pack, size_t slice_max,
                         enum wio_status *status)
{
    static const struct wio_events_call calls[64] = {{0}};
    const struct wio_events_context context = {
        .calls = calls, .call_count = 64, .string_count = UINT32_MAX, .source_count = UINT32_MAX};
    static struct wio_event slice[WIO_SLICE_MAX];
    struct wio_blob unpacked = {0};
    struct wio_events events;
    uint64_t sum = 0;
    size_t count = 0;
    *status = wio_events_open(&events, UINT32_MAX, payload, pack, &unpacked);
    while (*status == WIO_OK) {
        *status = wio_events_read(&events, &context, slice, slice_max, &count);
        if (*status != WIO_OK || count == 0) {
            break;
        }
        for (size_t i = 0; i < count; i++) {
            sum = sum * 31 + slice[i].t_ns + slice[i].size + (uint64_t)slice[i].offset +
                  slice[i].path2 + (uint64_t)slice[i].arg[3];
        }
    }
    wio_blob_fini(&unpacked);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wio_blob payload = {0};
    struct wio_pack pack = {0};
    enum wio_status first = WIO_OK;
    enum wio_status second = WIO_OK;
    if (wio_blob_put(&payload, data, size) == WIO_OK) {
        uint64_t whole = read_all(&payload, &pack, WIO_SLICE_MAX, &first);
        uint64_t sliced = read_all(&payload, &pack, 7, &second);
        /* A damaged block may end early in both, but a whole one is the same however it is cut. */
        if (first == WIO_OK && (second != WIO_OK || whole != sliced)) {
            abort();
        }
    }
    wio_pack_fini(&pack);
    wio_blob_fini(&payload);
    return 0;
}
