/* SPDX-License-Identifier: Apache-2.0 */
/* Writer -> reader: what goes in comes out, field by field. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "ops/calls.h"
#include "trace_fixture.h"

static int by_begin(const void *a, const void *b)
{
    const struct wio_event *left = a;
    const struct wio_event *right = b;
    if (left->t_ns != right->t_ns) {
        return left->t_ns < right->t_ns ? -1 : 1;
    }
    if (left->dur_ns != right->dur_ns) {
        return left->dur_ns > right->dur_ns ? -1 : 1;
    }
    return (left->seq > right->seq) - (left->seq < right->seq);
}

/* R-COL-1 to R-COL-6, R-EVENTS-1: a stream of events at random. */
static void round_trip(struct fixture *fixture, enum event_style style, uint32_t count,
                       uint64_t seed)
{
    struct random_source random = {seed};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_event *events = calloc(count, sizeof(*events));
    uint64_t clock_ns = 0;
    struct wio_segment *segment = begin_segment(fixture->segment, 1, 200);
    for (uint32_t i = 0; i < count; i++) {
        events[i] = random_event(&random, style, 0, 200, &clock_ns);
        events[i].seq = i; /* order of arrival, until sorted */
        assert_int_equal(wio_segment_append(segment, &events[i], &err), WIO_OK);
    }
    assert_int_equal(wio_segment_finish(segment, &err), WIO_OK);
    qsort(events, count, sizeof(*events), by_begin);

    struct wio_trace *trace = NULL;
    struct wio_cursor *cursor = NULL;
    const struct wio_event *event = NULL;
    if (wio_trace_open(fixture->dir, &trace, &err) != WIO_OK) {
        fail_msg("%s: %s", err.file, err.message);
    }
    assert_int_equal(wio_cursor_create(trace, NULL, &cursor, &err), WIO_OK);
    for (uint32_t i = 0; i < count; i++) {
        if (wio_cursor_next(cursor, &event, &err) != WIO_OK) {
            fail_msg("event %u: %s", i, err.message);
        }
        assert_true(events_equal(&events[i], event));
        assert_int_equal(event->seq, i);
    }
    assert_int_equal(wio_cursor_next(cursor, &event, &err), WIO_END);
    wio_cursor_destroy(cursor);
    wio_trace_close(trace);
    free(events);
}

static void wild_events_come_back(void **state)
{
    round_trip(*state, EVENTS_WILD, 10000, 1);
}

static void ordinary_events_come_back(void **state)
{
    round_trip(*state, EVENTS_ORDINARY, 20000, 2);
}

static void single_event_comes_back(void **state)
{
    round_trip(*state, EVENTS_WILD, 1, 3);
}

static void blocks_at_their_limit_come_back(void **state)
{
    round_trip(*state, EVENTS_ORDINARY, 8192, 4);
}

static void many_calls_share_slots(void **state)
{
    round_trip(*state, EVENTS_WILD, 4097, 5);
}

/* R-EVENTS-2: a call that held 4,000 others is written after them and sorted in before them. */
static void late_event_is_sorted(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment *segment = begin_segment(fixture->segment, 1, 1);
    struct wio_event event = {.op = WIO_OP_read, .fd = 3, .fd2 = WIO_NO_FD, .size = 1};
    for (uint32_t i = 0; i < 10000; i++) {
        event.t_ns = 1000 + 10ull * i;
        event.dur_ns = 5;
        assert_int_equal(wio_segment_append(segment, &event, &err), WIO_OK);
        if (i % 4001 == 4000) {
            event.t_ns = event.t_ns - 40000 + 5;
            event.dur_ns = 40000;
            assert_int_equal(wio_segment_append(segment, &event, &err), WIO_OK);
        }
    }
    assert_int_equal(wio_segment_finish(segment, &err), WIO_OK);
    struct wio_trace *trace = NULL;
    struct wio_cursor *cursor = NULL;
    const struct wio_event *read = NULL;
    assert_int_equal(wio_trace_open(fixture->dir, &trace, &err), WIO_OK);
    assert_int_equal(wio_cursor_create(trace, NULL, &cursor, &err), WIO_OK);
    uint64_t last = 0;
    uint64_t seq = 0;
    while (wio_cursor_next(cursor, &read, &err) == WIO_OK) {
        assert_true(read->t_ns >= last);
        assert_int_equal(read->seq, seq++);
        last = read->t_ns;
    }
    assert_int_equal(seq, 10002);
    wio_cursor_destroy(cursor);
    wio_trace_close(trace);
}

/* An argument list of `bytes` that packs as those of a compiler do: about 1 to 16. */
static char *long_arguments(struct random_source *random, size_t bytes)
{
    char *text = malloc(bytes + 1);
    assert_non_null(text);
    for (size_t at = 0; at < bytes; at++) {
        text[at] = at % 64 < 4 ? (char)('a' + random_below(random, 26)) : 'x';
    }
    text[bytes] = '\0';
    return text;
}

/* R-TABLE-4: what the processes of a long build say of themselves is more than a block holds. */
static void processes_fill_several_blocks(void **state)
{
    enum { COUNT = 70, ARGV_BYTES = 1 << 20 };
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct random_source random = {7};
    struct wio_segment *segment = begin_segment(fixture->segment, 0, 0);
    char *argv[COUNT];
    uint32_t index = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        argv[i] = long_arguments(&random, ARGV_BYTES);
        const struct wio_process_info process = {.pid = 100 + (int32_t)i,
                                                 .rank = -1,
                                                 .host = "node1",
                                                 .argv = argv[i],
                                                 .parent = i == 0 ? UINT32_MAX : i - 1};
        assert_ok(wio_segment_process(segment, &process, &index, &err), &err);
        assert_ok(wio_segment_stream(segment, index, process.pid, 0, &index, &err), &err);
    }
    assert_ok(wio_segment_finish(segment, &err), &err);
    struct wio_trace *trace = NULL;
    assert_ok(wio_trace_open(fixture->dir, &trace, &err), &err);
    assert_int_equal(wio_trace_process_count(trace), COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct wio_process_info *info = wio_trace_process(trace, i);
        assert_string_equal(info->argv, argv[i]);
        assert_int_equal(info->parent, i == 0 ? UINT32_MAX : i - 1);
        assert_int_equal(wio_trace_stream(trace, i)->process, i);
        free(argv[i]);
    }
    wio_trace_close(trace);
}

/* R-DAMAGE-3 counts what is kept: children of fork have their parent's program, which is kept
 * once. */
static void processes_of_one_program_are_small(void **state)
{
    enum { COUNT = 3000 };
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct random_source random = {8};
    struct wio_segment *segment = begin_segment(fixture->segment, 0, 0);
    char *argv = long_arguments(&random, 8192);
    uint32_t index = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct wio_process_info process = {.pid = 100 + (int32_t)i,
                                                 .rank = -1,
                                                 .host = "node1",
                                                 .exe = "/bin/sh",
                                                 .argv = argv,
                                                 .cwd = i % 2 == 0 ? "/a" : "/b",
                                                 .parent = UINT32_MAX};
        assert_ok(wio_segment_process(segment, &process, &index, &err), &err);
    }
    assert_ok(wio_segment_finish(segment, &err), &err);
    struct wio_trace *trace = NULL;
    assert_ok(wio_trace_open(fixture->dir, &trace, &err), &err);
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct wio_process_info *info = wio_trace_process(trace, i);
        assert_string_equal(info->argv, argv);
        assert_string_equal(info->exe, "/bin/sh");
        assert_string_equal(info->job, "");
        assert_string_equal(info->cwd, i % 2 == 0 ? "/a" : "/b");
    }
    wio_trace_close(trace);
    free(argv);
}

static void existing_segment_is_kept(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment *segment = NULL;
    struct wio_segment_params params = {.struct_size = sizeof(params)};
    write_ordinary_segment(fixture->segment, 1, 10, 1);
    assert_int_equal(wio_segment_create(fixture->segment, &params, &segment, &err), WIO_ERR_IO);
    assert_int_equal(err.sys_errno, 17 /* EEXIST */);
    assert_non_null(strstr(err.file, "a.seg"));
}

static void abandoned_segment_leaves_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = NULL;
    wio_segment_abandon(begin_segment(fixture->segment, 1, 1));
    wio_segment_abandon(NULL);
    /* R-DIR-4 */
    assert_int_equal(wio_trace_open(fixture->dir, &trace, &err), WIO_ERR_FORMAT);
    assert_non_null(strstr(err.message, "expected segments"));
}

/* R-STREAM-1: images of one process, made by exec, count on: (pid, tid, seq) is unique. */
static void exec_goes_on_counting(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment *segment = begin_segment(fixture->segment, 1, 1);
    struct wio_process_info image = {.pid = 1000, .host = "node1", .parent = 0, .rank = -1};
    struct wio_event event = {.op = WIO_OP_read, .fd = 3, .fd2 = WIO_NO_FD, .size = 1};
    uint32_t index = 0;
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(wio_segment_append(segment, &event, &err), WIO_OK);
    }
    assert_int_equal(wio_segment_process(segment, &image, &index, &err), WIO_OK);
    assert_int_equal(wio_segment_stream(segment, index, 1000, 0, &event.stream, &err), WIO_OK);
    event.t_ns = 100;
    assert_int_equal(wio_segment_append(segment, &event, &err), WIO_OK);
    assert_int_equal(wio_segment_finish(segment, &err), WIO_OK);
    struct wio_trace *trace = NULL;
    struct wio_trace_info info;
    assert_int_equal(wio_trace_open(fixture->dir, &trace, &err), WIO_OK);
    assert_int_equal(wio_trace_stream(trace, 1)->first_seq, 7);
    assert_int_equal(wio_trace_process(trace, 1)->parent, 0);
    wio_trace_get_info(trace, &info);
    assert_int_equal(info.processes, 1);
    assert_int_equal(info.images, 2);
    assert_int_equal(info.threads, 1);
    wio_trace_close(trace);
}

static void unknown_numbers_add_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment *segment = begin_segment(fixture->segment, 1, 2);
    struct wio_event event = {.op = WIO_OP_read, .fd = 3, .fd2 = WIO_NO_FD, .size = 1};
    struct wio_file_info file = {.path = 1000000000};
    struct wio_trace *trace = NULL;
    struct wio_trace_info info;
    uint32_t index = 77;
    assert_int_equal(wio_segment_stream(segment, 1, 1, 0, &index, &err), WIO_ERR_USAGE);
    assert_int_equal(index, 77);
    assert_int_equal(wio_segment_file(segment, &file, &err), WIO_ERR_USAGE);
    event.stream = 1;
    assert_int_equal(wio_segment_append(segment, &event, &err), WIO_ERR_USAGE);
    event.stream = 0;
    event.path = 1000000000;
    assert_int_equal(wio_segment_append(segment, &event, &err), WIO_ERR_USAGE);
    assert_string_not_equal(err.message, "");
    event.path = 1;
    event.path2 = 1000000000;
    assert_int_equal(wio_segment_append(segment, &event, &err), WIO_ERR_USAGE);
    event.path2 = 2;
    assert_int_equal(wio_segment_append(segment, &event, &err), WIO_OK);
    assert_int_equal(wio_segment_finish(segment, &err), WIO_OK);
    assert_int_equal(wio_trace_open(fixture->dir, &trace, &err), WIO_OK);
    wio_trace_get_info(trace, &info);
    assert_int_equal(info.events, 1);
    assert_int_equal(wio_trace_stream_count(trace), 1);
    wio_trace_close(trace);
}

/* A writer takes the descriptor, also where it cannot be made. */
static void the_descriptor_is_closed_on_failure(void **state)
{
    (void)state;
    const struct wio_segment_params params = {.struct_size = sizeof(params)};
    const struct wio_segment_params none = {0};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment *segment = NULL;
    int fd = memfd_create("segment", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(wio_segment_create_fd(fd, "x", &none, &segment, &err), WIO_ERR_USAGE);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(wio_segment_create_fd(fd, "x", &params, &segment, &err), WIO_ERR_IO);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    assert_null(segment);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(wild_events_come_back),
        TEST(ordinary_events_come_back),
        TEST(single_event_comes_back),
        TEST(blocks_at_their_limit_come_back),
        TEST(many_calls_share_slots),
        TEST(late_event_is_sorted),
        TEST(processes_fill_several_blocks),
        TEST(processes_of_one_program_are_small),
        TEST(existing_segment_is_kept),
        TEST(abandoned_segment_leaves_nothing),
        TEST(exec_goes_on_counting),
        TEST(unknown_numbers_add_nothing),
        TEST(the_descriptor_is_closed_on_failure),
    };
    return WIO_RUN(tests);
}
