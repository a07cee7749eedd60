/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of a segment: the input is a list of (kind, length, payload), as after unpacking. */
#include <stdint.h>
#include <stdlib.h>

#include "trace/read/trace_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_tables(struct wio_trace *trace, struct wio_buf input)
{
    uint8_t kind = 0;
    uint16_t bytes = 0;
    struct wio_buf part;
    while (wio_buf_u8(&input, &kind) == WIO_OK && wio_buf_u16(&input, &bytes) == WIO_OK &&
           wio_buf_sub(&input, bytes, &part) == WIO_OK) {
        struct wio_blob payload = {0};
        size_t parsed = 0;
        if (wio_blob_put(&payload, part.data, part.size) == WIO_OK) {
            (void)!wio_reader_table(trace, 0, kind % 10, &payload, &parsed);
        }
        if (parsed > part.size) {
            abort();
        }
        wio_blob_fini(&payload);
    }
}

static void look_up(const struct wio_trace *trace)
{
    struct wio_frame frames[4];
    for (uint32_t i = 0; i < wio_trace_string_count(trace); i++) {
        size_t bytes = 0;
        if (wio_trace_string(trace, i, &bytes)[bytes] != '\0') {
            abort(); /* R-TABLE-2 */
        }
    }
    for (uint32_t i = 0; i < trace->source_count; i++) {
        (void)wio_trace_source(trace, i, frames, 4);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wio_trace *trace = calloc(1, sizeof(*trace));
    if (trace != NULL) {
        trace->dir = -1;
    }
    if (trace == NULL || (trace->segments = calloc(1, sizeof(*trace->segments))) == NULL ||
        wio_trace_first_entries(trace) != WIO_OK) {
        wio_trace_close(trace);
        return 0;
    }
    trace->segment_count = 1;
    trace->segments[0].file.fd = -1;
    read_tables(trace, wio_buf_of(data, size));
    look_up(trace);
    wio_trace_close(trace);
    return 0;
}
