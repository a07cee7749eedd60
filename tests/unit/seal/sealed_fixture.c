/* SPDX-License-Identifier: Apache-2.0 */
#include "sealed_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/io.h"

struct sealed open_all(const char *dir)
{
    struct sealed sealed = {0};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_cursor *cursor = NULL;
    const struct wio_event *event = NULL;
    assert_ok(wio_trace_open(dir, &sealed.trace, &err), &err);
    assert_ok(wio_cursor_create(sealed.trace, NULL, &cursor, &err), &err);
    struct wio_trace_info info;
    wio_trace_get_info(sealed.trace, &info);
    sealed.events = calloc(info.events + 1, sizeof(*sealed.events));
    while (wio_cursor_next(cursor, &event, &err) == WIO_OK) {
        sealed.events[sealed.count++] = *event;
    }
    assert_int_equal(sealed.count, info.events);
    wio_cursor_destroy(cursor);
    return sealed;
}

void close_all(struct sealed *sealed)
{
    wio_trace_close(sealed->trace);
    free(sealed->events);
}

const char *raw_dir(const struct fixture *fixture)
{
    static char path[300];
    (void)snprintf(path, sizeof(path), "%s/raw", fixture->dir);
    return path;
}

const char *path_of(const struct sealed *sealed, size_t i)
{
    return wio_trace_string(sealed->trace, sealed->events[i].path, NULL);
}

void begin_process(struct ring_builder *ring)
{
    ring_begin(ring, 100, 5000000000ull);
    ring_clock(ring, 0, 100, 100);
}

void set_this_boot(struct ring_builder *ring)
{
    struct wio_blob text = {0};
    assert_int_equal(wio_io_read_file("/proc/sys/kernel/random/boot_id", 64, &text, NULL), WIO_OK);
    (void)snprintf(ring->header.boot_id, sizeof(ring->header.boot_id), "%.36s",
                   (const char *)text.data);
    wio_blob_fini(&text);
}
