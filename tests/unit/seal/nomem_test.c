/* SPDX-License-Identifier: Apache-2.0 */
/* Each allocation fails in turn while a trace is written, sealed, read and checked: an error, and
 * nothing leaks. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <whyio/segment.h>
#include <whyio/trace.h>

#include "seal/seal.h"
#include "support/alloc.h"
#include "support/unit.h"

#include "ring_fixture.h"

static enum wio_status add_events(struct wio_segment *segment, struct wio_error *err)
{
    struct wio_process_info process = {.pid = 5, .host = "n", .rank = -1, .parent = UINT32_MAX};
    struct wio_event event = {.op = 1, .fd = 3, .fd2 = WIO_NO_FD, .size = 7};
    const struct wio_frame frame = {"/bin/a", "ff", 9};
    uint32_t index = 0;
    enum wio_status status = wio_segment_process(segment, &process, &index, err);
    if (status == WIO_OK) {
        status = wio_segment_stream(segment, index, 5, 0, &event.stream, err);
    }
    if (status == WIO_OK) {
        status = wio_segment_string(segment, "/a/b", 4, &event.path, err);
    }
    if (status == WIO_OK) {
        status = wio_segment_source(segment, &frame, 1, &event.source, err);
    }
    for (uint32_t i = 0; i < 100 && status == WIO_OK; i++) {
        event.t_ns = 10 * (uint64_t)i;
        status = wio_segment_append(segment, &event, err);
    }
    return status;
}

static enum wio_status write_one(void *arg)
{
    const struct wio_segment_params params = {.struct_size = sizeof(params)};
    struct wio_segment *segment = NULL;
    (void)unlink(arg);
    enum wio_status status = wio_segment_create(arg, &params, &segment, NULL);
    if (status != WIO_OK) {
        /* an open file that could not be named is "input or output failed" */
        return WIO_ERR_NOMEM;
    }
    status = add_events(segment, NULL);
    if (status != WIO_OK) {
        wio_segment_abandon(segment);
        return status;
    }
    return wio_segment_finish(segment, NULL);
}

static void ignore(void *arg, const struct wio_error *fault)
{
    (void)arg;
    (void)fault;
}

static enum wio_status read_one(void *arg)
{
    struct wio_trace *trace = NULL;
    struct wio_cursor *cursor = NULL;
    const struct wio_event *event = NULL;
    enum wio_status status = wio_trace_open(arg, &trace, NULL);
    if (status == WIO_OK) {
        status = wio_cursor_create(trace, NULL, &cursor, NULL);
    }
    while (status == WIO_OK) {
        status = wio_cursor_next(cursor, &event, NULL);
    }
    wio_cursor_destroy(cursor);
    wio_trace_close(trace);
    return status == WIO_END ? WIO_OK : WIO_ERR_NOMEM;
}

static enum wio_status check_one(void *arg)
{
    enum wio_status status = wio_trace_check(arg, ignore, NULL, NULL);
    return status == WIO_OK ? WIO_OK : WIO_ERR_NOMEM;
}

static enum wio_status seal_one(void *arg)
{
    const struct wio_seal_params params = {
        .struct_size = sizeof(params), .keep_rings = true, .look_at_files = true};
    int fd = -1;
    enum wio_status status = wio_seal_to_fd(arg, NULL, &fd, &params, NULL);
    if (fd >= 0) {
        (void)close(fd);
    }
    return status == WIO_OK ? WIO_OK : WIO_ERR_NOMEM;
}

static void each_failure_is_an_error(void **state)
{
    (void)state;
    char *name = wio_test_path("a.seg");
    char *dir = strdup(wio_test_dir());
    assert_true(wio_alloc_every_failure(write_one, name) > 10);
    assert_true(wio_alloc_every_failure(read_one, dir) > 10);
    assert_true(wio_alloc_every_failure(check_one, dir) > 10);
    free(name);
    free(dir);
}

static void each_failure_of_sealing_is_an_error(void **state)
{
    (void)state;
    struct ring_builder ring;
    struct wio_slot_ext *ext = NULL;
    char *dir = wio_test_path("sealed");
    char *raw = wio_test_path("sealed/raw");
    ring_begin(&ring, 100, 5000000000ull);
    ring_clock(&ring, 0, 100, 100);
    ring_text(&ring, 0, WIO_SLOT_META, WIO_META_EXE, 0, "/bin/x", 6);
    ring_string(&ring, 0, 1, 0, "/usr/../tmp");
    ring_event(&ring, 0, "stat")->path = 1;
    ring_event_ext(&ring, 0, "aio_read", &ext)->result = WIO_RESULT_PENDING;
    ext->key = 4;
    ring_complete(&ring, 0, 4, 1);
    ring_clock(&ring, 0, 200, 200);
    ring_event(&ring, 0, "read")->source = 0x1000;
    ring_save(&ring, raw, "a.ring");
    assert_true(wio_alloc_every_failure(seal_one, dir) > 20);
    free(dir);
    free(raw);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_failure_is_an_error),
        cmocka_unit_test(each_failure_of_sealing_is_an_error),
    };
    return WIO_RUN(tests);
}
