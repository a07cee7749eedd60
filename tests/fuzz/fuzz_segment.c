/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole segment: opened, read by time and by stream, checked. All checksums are made right
 * first, or no changed byte would get past them; unless the first byte says otherwise.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <whyio/trace.h>

#include "base/crc.h"
#include "fuzz_files.h"
#include "trace/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_u32(uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

static uint32_t get_u32(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Heads and payloads from the front; lengths that lead out of the file are cut. */
static void repair_blocks(uint8_t *bytes, size_t end)
{
    size_t at = WIO_SEGMENT_HEADER_BYTES;
    while (end - at >= WIO_BLOCK_HEAD_BYTES) {
        size_t left = end - at - WIO_BLOCK_HEAD_BYTES;
        uint32_t stored = get_u32(bytes + at + 8);
        stored = stored <= left ? stored : (uint32_t)left;
        put_u32(bytes + at, WIO_BLOCK_MAGIC);
        put_u32(bytes + at + 8, stored);
        put_u32(bytes + at + 16, wio_crc32c(0, bytes + at + WIO_BLOCK_HEAD_BYTES, stored));
        put_u32(bytes + at + 20, wio_crc32c(0, bytes + at, 20));
        at += WIO_BLOCK_HEAD_BYTES + stored;
    }
}

static void repair(uint8_t *bytes, size_t size)
{
    size_t end = size - WIO_SEGMENT_TRAILER_BYTES;
    memcpy(bytes, WIO_SEGMENT_MAGIC, 8);
    put_u32(bytes + 8, WIO_SEGMENT_VERSION);
    put_u32(bytes + WIO_SEGMENT_HEADER_BYTES - 4,
            wio_crc32c(0, bytes, WIO_SEGMENT_HEADER_BYTES - 4));
    repair_blocks(bytes, end);
    put_u32(bytes + end + 8, (uint32_t)size);
    put_u32(bytes + end + 12, 0);
    put_u32(bytes + end + 16, wio_crc32c(0, bytes + end, 16));
    put_u32(bytes + end + 20, WIO_SEGMENT_TRAILER_MAGIC);
}

static void read_all(const struct wio_trace *trace, enum wio_order order)
{
    const struct wio_filter filter = {.struct_size = sizeof(filter), .order = order};
    struct wio_cursor *cursor = NULL;
    const struct wio_event *event = NULL;
    if (wio_cursor_create(trace, &filter, &cursor, NULL) != WIO_OK) {
        return;
    }
    while (wio_cursor_next(cursor, &event, NULL) == WIO_OK) {
        (void)wio_trace_string(trace, event->path, NULL);
        (void)wio_trace_stream(trace, event->stream)->tid;
    }
    wio_cursor_destroy(cursor);
}

static void count_fault(void *arg, const struct wio_error *fault)
{
    char text[512];
    wio_error_format(fault, text, sizeof(text));
    (*(unsigned *)arg)++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wio_trace *trace = NULL;
    unsigned faults = 0;
    uint8_t *bytes = malloc(size + 1);
    if (bytes == NULL) {
        return 0;
    }
    fuzz_make("a.seg");
    if (size > 0) {
        memcpy(bytes, data, size);
    }
    if (size >= WIO_SEGMENT_HEADER_BYTES + WIO_SEGMENT_TRAILER_BYTES && bytes[0] != 'D') {
        repair(bytes, size);
    }
    fuzz_write(bytes, size);
    free(bytes);
    if (wio_trace_open(fuzz_dir, &trace, NULL) == WIO_OK) {
        read_all(trace, WIO_ORDER_TIME);
        read_all(trace, WIO_ORDER_STREAM);
        wio_trace_close(trace);
    }
    enum wio_status status = wio_trace_check(fuzz_dir, count_fault, &faults, NULL);
    if ((status == WIO_END) != (faults > 0)) {
        abort();
    }
    return 0;
}
