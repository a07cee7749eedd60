/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "ops/calls.h"

int fixture_setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    if (fixture == NULL) {
        return -1;
    }
    (void)snprintf(fixture->dir, sizeof(fixture->dir), "%s/XXXXXX", wio_test_dir());
    if (mkdtemp(fixture->dir) == NULL) {
        free(fixture);
        return -1;
    }
    (void)snprintf(fixture->segment, sizeof(fixture->segment), "%s/a.seg", fixture->dir);
    *state = fixture;
    return 0;
}

int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;
    int failed = wio_io_remove_tree(fixture->dir, NULL) != WIO_OK;
    free(fixture);
    return failed ? -1 : 0;
}

uint64_t random_next(struct random_source *random)
{
    uint64_t x = random->state == 0 ? 88172645463325252ull : random->state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    random->state = x;
    return x * 2685821657736338717ull;
}

uint64_t random_below(struct random_source *random, uint64_t limit)
{
    return random_next(random) % limit;
}

/* Any value, but small ones, extremes and markers often. */
static uint64_t wild_number(struct random_source *random)
{
    switch (random_below(random, 6)) {
    case 0:
        return 0;
    case 1:
        return random_below(random, 256);
    case 2:
        return UINT64_MAX - random_below(random, 3);
    case 3:
        return (uint64_t)INT64_MIN + random_below(random, 3);
    case 4:
        return (uint64_t)INT64_MAX - random_below(random, 3);
    default:
        return random_next(random) >> random_below(random, 64);
    }
}

static struct wio_event wild_event(struct random_source *random, uint32_t paths)
{
    struct wio_event event = {
        .op = (uint16_t)random_below(random, WIO_OP_COUNT),
        .call = (uint16_t)random_below(random, WIO_CALL_COUNT),
        .flags = (uint16_t)wild_number(random),
        .error = (uint16_t)random_below(random, 3) == 0 ? (uint16_t)random_next(random) : 0,
        .fd = random_below(random, 4) == 0 ? WIO_NO_FD : (int32_t)wild_number(random),
        .fd2 = random_below(random, 2) == 0 ? WIO_NO_FD : (int32_t)wild_number(random),
        .path = (uint32_t)random_below(random, paths + 1),
        .path2 = (uint32_t)random_below(random, paths + 1),
        .source = (uint32_t)random_below(random, 3),
        .offset = random_below(random, 3) == 0 ? WIO_NO_OFFSET : (int64_t)wild_number(random),
        .offset2 = random_below(random, 3) == 0 ? WIO_NO_OFFSET : (int64_t)wild_number(random),
        .size = random_below(random, 3) == 0 ? WIO_NO_SIZE : wild_number(random),
        .result = (int64_t)wild_number(random),
    };
    for (unsigned i = 0; i < 4; i++) {
        event.arg[i] = random_below(random, 2) == 0 ? 0 : (int64_t)wild_number(random);
    }
    if (random_below(random, 3) == 0) {
        event.result = (int64_t)event.size;
    }
    if (random_below(random, 3) == 0) {
        event.gap_cpu_ns = 1 + (wild_number(random) >> 2);
        event.gap_slept = (uint8_t)random_below(random, 2);
    }
    if (random_below(random, 3) == 0) {
        event.dur_cpu_ns = 1 + (wild_number(random) >> 2);
        event.dur_slept = (uint8_t)random_below(random, 2);
    }
    return event;
}

static struct wio_event ordinary_event(struct random_source *random, uint32_t paths)
{
    static const uint16_t data_ops[] = {WIO_OP_read, WIO_OP_write, WIO_OP_pread, WIO_OP_pwrite};
    struct wio_event event = {
        .fd = 3 + (int32_t)random_below(random, 4),
        .fd2 = WIO_NO_FD,
        .offset2 = WIO_NO_OFFSET,
        .source = 1 + (uint32_t)random_below(random, 2),
    };
    event.path = 1 + (uint32_t)event.fd % paths;
    uint64_t kind = random_below(random, 10);
    if (kind < 8) {
        event.op = data_ops[random_below(random, 4)];
        event.size = 512ull << random_below(random, 5);
        event.result = (int64_t)event.size;
        event.offset = (int64_t)(random_below(random, 1000) * 4096);
        return event;
    }
    event.op = kind == 8 ? WIO_OP_stat : WIO_OP_open;
    event.fd = WIO_NO_FD;
    event.size = WIO_NO_SIZE;
    event.offset = WIO_NO_OFFSET;
    event.result = kind == 8 ? -1 : 7;
    event.error = kind == 8 ? 2 : 0;
    event.arg[0] = kind == 8 ? 0 : 0x42;
    return event;
}

struct wio_event random_event(struct random_source *random, enum event_style style, uint32_t stream,
                              uint32_t paths, uint64_t *clock_ns)
{
    struct wio_event event =
        style == EVENTS_WILD ? wild_event(random, paths) : ordinary_event(random, paths);
    event.stream = stream;
    event.t_ns = *clock_ns + random_below(random, 2000);
    event.dur_ns = 300 + random_below(random, 3000);
    *clock_ns = event.t_ns + (style == EVENTS_WILD ? 1 : event.dur_ns);
    return event;
}

static int differ(const char *field, uint64_t a, uint64_t b)
{
    if (a != b) {
        print_error("%s: %llx is not %llx\n", field, (unsigned long long)a, (unsigned long long)b);
    }
    return a != b;
}

#define DIFFER(field) differ(#field, (uint64_t)a->field, (uint64_t)b->field)

int events_equal(const struct wio_event *a, const struct wio_event *b)
{
    return !(DIFFER(t_ns) || DIFFER(dur_ns) || DIFFER(stream) || DIFFER(op) || DIFFER(call) ||
             DIFFER(flags) || DIFFER(error) || DIFFER(fd) || DIFFER(fd2) || DIFFER(path) ||
             DIFFER(path2) || DIFFER(source) || DIFFER(offset) || DIFFER(offset2) || DIFFER(size) ||
             DIFFER(result) || DIFFER(arg[0]) || DIFFER(arg[1]) || DIFFER(arg[2]) ||
             DIFFER(arg[3]) || DIFFER(gap_cpu_ns) || DIFFER(gap_slept) || DIFFER(dur_cpu_ns) ||
             DIFFER(dur_slept));
}

struct wio_segment *begin_segment(const char *name, uint32_t streams, uint32_t paths)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment *segment = NULL;
    struct wio_segment_params params = {
        .struct_size = sizeof(params),
        .base_unix_ns = 1700000000ull * 1000000000ull,
        .base_mono_ns = 5000000000ull,
        .boot_id = "0f1e2d3c-0000-0000-0000-000000000001",
    };
    assert_int_equal(wio_segment_create(name, &params, &segment, &err), WIO_OK);
    for (uint32_t i = 1; i <= paths; i++) {
        char text[64];
        uint32_t id = 0;
        int bytes = snprintf(text, sizeof(text), "/data/file%u", i);
        assert_int_equal(wio_segment_string(segment, text, (size_t)bytes, &id, &err), WIO_OK);
        assert_int_equal(id, i);
    }
    for (uint32_t i = 0; i < 2; i++) {
        struct wio_frame frame = {"/usr/bin/app", "abcdef", 0x1000 + i};
        uint32_t id = 0;
        assert_int_equal(wio_segment_source(segment, &frame, 1, &id, &err), WIO_OK);
        assert_int_equal(id, i + 1);
    }
    for (uint32_t i = 0; i < streams; i++) {
        struct wio_process_info process = {
            .pid = 1000 + (int32_t)i,
            .rank = (int32_t)i,
            .ranks = streams,
            .host = "node1",
            .exe = "/usr/bin/app",
            .parent = UINT32_MAX,
            .end = 1,
            .end_ns = 1000,
        };
        uint32_t index = 0;
        assert_int_equal(wio_segment_process(segment, &process, &index, &err), WIO_OK);
        assert_int_equal(wio_segment_stream(segment, index, process.pid, 0, &index, &err), WIO_OK);
        assert_int_equal(index, i);
    }
    return segment;
}

void write_ordinary_segment(const char *name, uint32_t streams, uint32_t count, uint64_t seed)
{
    struct random_source random = {seed};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment *segment = begin_segment(name, streams, 5);
    assert_int_equal(wio_segment_meta(segment, WIO_SEGMENT_META_RECORDER_DONE, "1", 1, &err),
                     WIO_OK);
    assert_int_equal(wio_segment_meta(segment, WIO_SEGMENT_META_COMMAND, "app\0-x", 6, &err),
                     WIO_OK);
    for (uint32_t stream = 0; stream < streams; stream++) {
        uint64_t clock_ns = random_below(&random, 10000);
        for (uint32_t i = 0; i < count; i++) {
            struct wio_event event = random_event(&random, EVENTS_ORDINARY, stream, 5, &clock_ns);
            assert_int_equal(wio_segment_append(segment, &event, &err), WIO_OK);
        }
    }
    assert_int_equal(wio_segment_finish(segment, &err), WIO_OK);
}
