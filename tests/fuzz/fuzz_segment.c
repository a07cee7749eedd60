/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole segment: opened, read by time and by stream, checked. All checksums are made right
 * first, or no changed byte would get past them; unless the first byte says otherwise.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <whyio/trace.h>

#include "fuzz_files.h"
#include "fuzz_repair.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
        fuzz_repair(bytes, size, WIO_SEGMENT_MAGIC);
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
