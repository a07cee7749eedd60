/* SPDX-License-Identifier: Apache-2.0 */
/* R-SOURCE-2: which stack speaks for an operation without one. */
#include "support/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <whyio/segment.h>
#include <whyio/trace.h>

#include "explain/accounts/places.h"
#include "explain/accounts/speakers.h"
#include "explain/lines/own_frame.h"

#define LIBRARY "/opt/lib/libhdf5.so.103"
#define PROGRAM "/home/u/sim"

enum { PLAIN, BY_A, BY_B, OWN, NO_OWNER, PYTHON, OTHER_SITE, SOURCES };

static const struct wio_frame frames[SOURCES][3] = {
    [PLAIN] = {{LIBRARY, "", 0x10}},
    [BY_A] = {{LIBRARY, "", 0x10}, {LIBRARY, "", 0x20}, {PROGRAM, "", 0xa}},
    [BY_B] = {{LIBRARY, "", 0x10}, {PROGRAM, "", 0xb}},
    [OWN] = {{PROGRAM, "", 0xc}},
    [NO_OWNER] = {{"/lib/libc.so.6", "", 0x30}, {LIBRARY, "", 0x31}},
    [PYTHON] = {{LIBRARY, "", 0x40}, {"/usr/bin/python3.11", "", 1}, {PROGRAM, "", 0xd}},
    [OTHER_SITE] = {{LIBRARY, "", 0x50}},
};
static const uint32_t counts[SOURCES] = {1, 3, 2, 1, 2, 3, 1};

static uint32_t ids[SOURCES];
static uint32_t streams[3];
static struct wio_trace *trace;
static struct wio_own_frames *own;

static void write_trace(const char *path)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment_params params = {.struct_size = sizeof(params), .boot_id = ""};
    struct wio_process_info process = {.pid = 1,
                                       .rank = -1,
                                       .host = "",
                                       .job = "",
                                       .exe = "",
                                       .argv = "",
                                       .cwd = "",
                                       .parent = UINT32_MAX};
    /* of the first thread: two by B, one by A, then plain ones; of the second: by A alone */
    static const struct {
        unsigned stream;
        unsigned source;
    } events[] = {{0, BY_A}, {0, BY_B}, {0, BY_B}, {0, PLAIN}, {1, BY_A}, {1, PLAIN}, {2, PLAIN}};
    struct wio_segment *segment;
    uint32_t index;

    assert_ok(wio_segment_create(path, &params, &segment, &err), &err);
    assert_ok(wio_segment_process(segment, &process, &index, &err), &err);
    for (unsigned i = 0; i < 3; i++) {
        assert_ok(wio_segment_stream(segment, index, (int32_t)i + 1, 0, &streams[i], &err), &err);
    }
    for (unsigned i = 0; i < SOURCES; i++) {
        assert_ok(wio_segment_source(segment, frames[i], counts[i], &ids[i], &err), &err);
    }
    for (unsigned i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        struct wio_event event = {.op = 1,
                                  .call = 1,
                                  .stream = streams[events[i].stream],
                                  .seq = i,
                                  .t_ns = i,
                                  .source = ids[events[i].source]};
        assert_ok(wio_segment_append(segment, &event, &err), &err);
    }
    assert_ok(wio_segment_finish(segment, &err), &err);
}

static int begin(void **state)
{
    struct wio_error err = WIO_ERROR_INIT;
    char path[600];
    (void)state;
    (void)snprintf(path, sizeof(path), "%s/t", wio_test_dir());
    assert_int_equal(mkdir(path, 0700), 0);
    (void)strcat(path, "/a.seg");
    write_trace(path);
    *strrchr(path, '/') = '\0';
    assert_ok(wio_trace_open(path, &trace, &err), &err);
    return 0;
}

static int make(void **state)
{
    struct wio_error err = WIO_ERROR_INIT;
    (void)state;
    return wio_own_frames_create(trace, &own, &err) == WIO_OK ? 0 : 1;
}

static int destroy(void **state)
{
    (void)state;
    wio_own_frames_destroy(own);
    return 0;
}

static void expect(unsigned stream, unsigned source, enum wio_own_basis basis, const char *text)
{
    struct wio_own_frame frame;
    assert_int_equal(wio_own_frames_find(own, streams[stream], ids[source], &frame),
                     basis != WIO_OWN_NONE);
    assert_int_equal(frame.basis, basis);
    assert_string_equal(frame.text, text);
}

static void read_all(void)
{
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_own_frames_read(own, &err), &err);
}

static void test_own_code_speaks_for_itself(void **state)
{
    (void)state;
    expect(0, OWN, WIO_OWN_CALLER, "sim+0xc");
    expect(0, BY_A, WIO_OWN_STACK, "sim+0xa");
    expect(0, BY_B, WIO_OWN_STACK, "sim+0xb");
}

static void test_the_most_frequent_of_the_thread(void **state)
{
    struct wio_own_frame frame;
    (void)state;
    read_all();
    expect(0, PLAIN, WIO_OWN_THREAD, "sim+0xb");
    expect(1, PLAIN, WIO_OWN_THREAD, "sim+0xa");
    assert_true(wio_own_frames_find(own, streams[0], ids[PLAIN], &frame));
    assert_true(frame.is_ambiguous);
    assert_true(wio_own_frames_find(own, streams[1], ids[PLAIN], &frame));
    assert_false(frame.is_ambiguous);
    assert_string_equal(frame.module, PROGRAM);
    assert_int_equal(frame.line, 0);
}

static void test_of_equal_ones_the_last(void **state)
{
    struct wio_own_frame frame;
    (void)state;
    read_all(); /* over all threads: two by each; the last one is by A */
    expect(2, PLAIN, WIO_OWN_SITE, "sim+0xa");
    assert_true(wio_own_frames_find(own, streams[2], ids[PLAIN], &frame));
    assert_true(frame.is_ambiguous);
}

static void test_without_notes_the_table(void **state)
{
    (void)state;
    assert_true(wio_own_frames_has_stacks(own));
    expect(0, PLAIN, WIO_OWN_SITE, "sim+0xb");
}

static void test_nobodys(void **state)
{
    struct wio_own_frame frame;
    (void)state;
    read_all();
    expect(0, NO_OWNER, WIO_OWN_NONE, "");
    expect(0, PYTHON, WIO_OWN_NONE, "");
    expect(0, OTHER_SITE, WIO_OWN_NONE, "");
    assert_false(wio_own_frames_find(own, 0, ids[NO_OWNER], &frame));
    assert_string_equal(frame.library, "HDF5");
    assert_false(wio_own_frames_find(own, 0, 0, &frame));
    assert_false(wio_own_frames_find(own, 0, 999, &frame));
    assert_string_equal(frame.library, "");
}

/* The places of findings are outside the same libraries. */
static void test_places_are_of_own_code(void **state)
{
    static const struct {
        unsigned source;
        uint32_t frame;
    } cases[] = {{BY_A, 2}, {BY_B, 1}, {OWN, 0}, {PYTHON, 0}};
    struct wio_places places = {.trace = trace};
    uint32_t place;
    (void)state;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(wio_places_find(&places, ids[cases[i].source], &place), WIO_OK);
        assert_int_equal(places.frame_numbers[place], cases[i].frame);
    }
    wio_places_fini(&places);
}

static unsigned speaker_of(struct wio_speakers *speakers, unsigned stream, unsigned source)
{
    uint32_t speaker;
    assert_int_equal(wio_speakers_find(speakers, streams[stream], ids[source], &speaker), WIO_OK);
    for (unsigned i = 0; i < SOURCES; i++) {
        if (ids[i] == speaker) {
            return i;
        }
    }
    return SOURCES;
}

/* An operation without a stack has the line of the last one of its call site in its thread. */
static void test_the_last_stack_of_the_thread_speaks(void **state)
{
    struct wio_speakers speakers = {.trace = trace};
    (void)state;
    assert_int_equal(speaker_of(&speakers, 2, PLAIN), BY_B); /* the last in the table */
    assert_int_equal(speaker_of(&speakers, 0, BY_A), BY_A);
    assert_int_equal(speaker_of(&speakers, 0, PLAIN), BY_A);
    assert_int_equal(speaker_of(&speakers, 0, BY_B), BY_B);
    assert_int_equal(speaker_of(&speakers, 0, PLAIN), BY_B);
    assert_int_equal(speaker_of(&speakers, 1, BY_A), BY_A);
    assert_int_equal(speaker_of(&speakers, 1, PLAIN), BY_A);
    assert_int_equal(speaker_of(&speakers, 0, PLAIN), BY_B);
    wio_speakers_fini(&speakers);
}

static void test_own_code_needs_no_speaker(void **state)
{
    static const unsigned themselves[] = {OWN, NO_OWNER, PYTHON, OTHER_SITE};
    struct wio_speakers speakers = {.trace = trace};
    uint32_t speaker;
    (void)state;
    for (unsigned i = 0; i < sizeof(themselves) / sizeof(themselves[0]); i++) {
        assert_int_equal(speaker_of(&speakers, 0, themselves[i]), themselves[i]);
    }
    assert_int_equal(speakers.pairs.hash.count, 0);
    assert_int_equal(wio_speakers_find(&speakers, 0, 999, &speaker), WIO_OK);
    assert_int_equal(speaker, 999);
    wio_speakers_fini(&speakers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_own_code_speaks_for_itself, make, destroy),
        cmocka_unit_test_setup_teardown(test_the_most_frequent_of_the_thread, make, destroy),
        cmocka_unit_test_setup_teardown(test_of_equal_ones_the_last, make, destroy),
        cmocka_unit_test_setup_teardown(test_without_notes_the_table, make, destroy),
        cmocka_unit_test(test_places_are_of_own_code),
        cmocka_unit_test(test_the_last_stack_of_the_thread_speaks),
        cmocka_unit_test(test_own_code_needs_no_speaker),
        cmocka_unit_test_setup_teardown(test_nobodys, make, destroy),
    };
    wio_test_begin();
    int failed = cmocka_run_group_tests_name(wio_test_name(__FILE__), tests, begin, NULL);
    wio_trace_close(trace);
    return failed;
}
