/* SPDX-License-Identifier: Apache-2.0 */
/* Edges that were found by holding stay, whatever becomes of the segments. FORMAT.md#held. */
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <whyio/segment.h>

#include "base/io.h"
#include "edges/check.h"
#include "edges/edges.h"
#include "ops/calls.h"
#include "store_edges_dirs.h"
#include "support/killed.h"
#include "trace/edges/edge_file.h"
#include "trace/edges/held_file.h"

#define STRANGER 54321u /* no user */

/* ---- traces of before ------------------------------------------------------------ */

/* The held edges in trace.edges alone. */
static char *make_old(const char *name)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_edge_writer *writer = NULL;
    char *dir = make_dir(name);
    struct wio_trace *trace = open_trace(dir);
    assert_ok(wio_edge_writer_create(trace, &writer, &err), &err);
    for (unsigned i = 2; i-- > 0;) {
        const struct wio_edge_row row = {
            .from = found[i].from, .to = found[i].to, .evidence = WIO_EVIDENCE_HELD};
        assert_ok(wio_edge_writer_edge(writer, WIO_BLOCK_EDGES_IN, &row, &err), &err);
    }
    assert_ok(wio_edge_writer_finish(writer, NULL, &err), &err);
    wio_trace_close(trace);
    return dir;
}

/* A trace that whyio wrote before there was trace.held: tests/data/held_before. */
static char *copy_before(const char *name)
{
    static const char *const files[] = {"m.seg", "n.seg", "trace.edges"};
    char *dir = wio_test_path(name);
    assert_int_equal(mkdir(dir, 0777), 0);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct wio_blob bytes = {0};
        char path[512];
        (void)snprintf(path, sizeof(path), WIO_TEST_DATA "/held_before/%s", files[i]);
        assert_ok(wio_io_read_file(path, 1u << 20, &bytes, NULL), NULL);
        (void)snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
        wio_test_write(path, bytes.data, bytes.size);
        wio_blob_fini(&bytes);
    }
    return dir;
}

/* R-HELD-1. */
static void held_edges_are_stored(void **state)
{
    (void)state;
    char *dir = make_held("stored");
    assert_true(has(dir, "trace.held"));
    expect_held(dir, 2, "");
    free(dir);
}

/* Before, between, behind: the streams of all others get other numbers. */
static void a_segment_more_changes_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {"a.seg", "mm.seg", "z.seg"};
    char *dir = make_held("more");
    for (int32_t i = 0; i < 3; i++) {
        write_segment(dir, names[i], 300 + 10 * i);
        expect_held(dir, 2, "");
        expect_held(dir, 2, ""); /* as stored now */
    }
    free(dir);
}

static void renaming_changes_nothing(void **state)
{
    (void)state;
    char *dir = make_held("renamed");
    move(dir, "m.seg", "y.seg"); /* behind the other one */
    expect_held(dir, 2, "");
    move(dir, "n.seg", "zz.seg");
    move(dir, "y.seg", "n.seg"); /* the other one's name */
    expect_held(dir, 2, "");
    free(dir);
}

static void a_copy_of_a_segment_is_another_one(void **state)
{
    (void)state;
    char *dir = make_held("copied");
    char names[2][512];
    (void)snprintf(names[0], sizeof(names[0]), "%s/n.seg", dir);
    (void)snprintf(names[1], sizeof(names[1]), "%s/b.seg", dir);
    assert_int_equal(link(names[0], names[1]), 0);
    expect_held(dir, 2, "");
    free(dir);
}

/* R-HELD-2: what fits no longer is told, and is there again when the segment is. */
static void what_does_not_fit_is_told_and_kept(void **state)
{
    (void)state;
    char *dir = make_held("away");
    move(dir, "m.seg", "m.away");
    expect_held(dir, 0, "2 edges that were found by holding lead to segments that are not in");
    move(dir, "m.away", "q.seg");
    expect_held(dir, 2, "");
    free(dir);
}

static void expect_kept(char *dir)
{
    assert_false(has(dir, "trace.held"));
    expect_held(dir, 2, "");
    assert_false(has(dir, "trace.held")); /* nothing was derived */
    write_segment(dir, "a.seg", 300);
    expect_held(dir, 2, "");
    assert_true(has(dir, "trace.held"));
    move(dir, "n.seg", "o.seg");
    expect_held(dir, 2, "");
    move(dir, "o.seg", "o.away");
    expect_held(dir, 0, "2 edges that were found by holding");
    move(dir, "o.away", "o.seg");
    expect_held(dir, 2, "");
    free(dir);
}

/* R-HELD-5: whatever is derived anew, they are not overwritten. */
static void traces_of_before_keep_theirs(void **state)
{
    (void)state;
    expect_kept(copy_before("before"));
    expect_kept(make_old("without"));
    char *dir = copy_before("before-away");
    move(dir, "m.seg", "m.away");
    expect_held(dir, 0, "2 edges that were found by holding");
    move(dir, "m.away", "m.seg");
    expect_held(dir, 2, "");
    free(dir);
}

static void nothing_found_is_no_file(void **state)
{
    (void)state;
    const struct wio_held held = {.count = 0};
    const struct wio_join_params params = {.struct_size = sizeof(params), .held = &held};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = NULL;
    char *dir = make_held("nothing");
    assert_ok(wio_trace_open_events(dir, &trace, &err), &err);
    assert_ok(wio_join(trace, &params, &err), &err);
    wio_trace_close(trace);
    assert_false(has(dir, "trace.held"));
    expect_held(dir, 0, "");
    free(dir);
}

/* A directory of a file system that knows no owners, or gives all to one, is not this user's. What
 * was found by holding is stored all the same. */
static void an_owner_does_not_lose_them(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    char *dir = make_dir("owner");
    if (chown(dir, STRANGER, STRANGER) != 0) {
        free(dir);
        skip();
    }
    assert_ok(hold(dir, false, &err), &err);
    assert_true(has(dir, "trace.held"));
    assert_false(has(dir, "trace.edges"));
    expect_held(dir, 2, "");
    free(dir);
}

/* R-HELD-4. */
static void what_holds_alone_stays_alone(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_held held;
    char *dir = make_dir("only");
    assert_ok(hold(dir, true, &err), &err);
    write_segment(dir, "a.seg", 300);
    expect_held(dir, 2, "");
    struct wio_trace *trace = open_trace(dir);
    assert_ok(wio_held_file_read(trace, &held, &err), &err);
    assert_true(held.is_only);
    assert_int_equal(held.count, 2);
    wio_held_fini(&held);
    wio_trace_close(trace);
    free(dir);
}

static void count_fault(void *arg, const struct wio_error *fault)
{
    assert_non_null(strstr(fault->file, "trace.held"));
    ++*(unsigned *)arg;
}

/* Another segment of the same name and length: R-EDGE-7. */
static void another_segment_is_seen(void **state)
{
    (void)state;
    char *dir = make_held("another");
    move(dir, "m.seg", "m.away");
    write_segment(dir, "m.seg", 100 + 256);
    expect_held(dir, 0, "2 edges that were found by holding");
    free(dir);
}

/* R-EDGE-7: what follows a line end in a name is no segment, whatever it says of streams. */
static void line_ends_in_names_make_no_segments(void **state)
{
    (void)state;
    static const struct wio_held_edge far[] = {{{0, 0}, {3, 3000000000u}}};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_held held;
    char *dir = make_dir("line-ends");
    write_segment(dir, "x 1 00000000 0\nq 1 00000000 4000000000\ny.seg", 300);
    struct wio_trace *trace = open_trace(dir);
    assert_ok(wio_held_file_write(trace, far, 1, false, &err), &err);
    enum wio_status status = wio_held_file_read(trace, &held, &err);
    assert_int_equal(status, WIO_ERR_FORMAT);
    assert_non_null(strstr(err.file, "trace.held"));
    wio_trace_close(trace);
    free(dir);
}

static void segments_with_line_ends_are_found(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    char *dir = make_dir("line-end");
    move(dir, "m.seg", "m 1 00000000 2\n.seg");
    assert_ok(hold(dir, false, &err), &err);
    expect_held(dir, 2, "");
    write_segment(dir, "a\n.seg", 300);
    expect_held(dir, 2, "");
    move(dir, "n.seg", "\n.seg");
    expect_held(dir, 2, "");
    free(dir);
}

/* They are data: a command that needs them does not do as if there were none. */
static void damage_is_named(void **state)
{
    (void)state;
    const struct wio_join_params params = {.struct_size = sizeof(params)};
    struct wio_error err = WIO_ERROR_INIT;
    char path[512];
    char *dir = make_held("damaged");
    (void)snprintf(path, sizeof(path), "%s/trace.held", dir);
    assert_int_equal(truncate(path, 100), 0);
    struct wio_trace *trace = open_trace(dir);
    assert_null(wio_trace_edges(trace)); /* R-HELD-3: made with another file */
    assert_int_not_equal(wio_join(trace, &params, &err), WIO_OK);
    assert_non_null(strstr(err.file, "trace.held"));
    wio_trace_close(trace);
    unsigned faults = 0;
    assert_int_equal(wio_join_check(dir, count_fault, &faults, &err), WIO_END);
    assert_true(faults > 0);
    free(dir);
}

/* ---- kills -------------------------------------------------------------------------------- */

static void hold_in_child(void *arg)
{
    if (hold(arg, false, NULL) != WIO_OK) {
        _exit(1);
    }
}

static void join_in_child(void *arg)
{
    const struct wio_join_params params = {.struct_size = sizeof(params)};
    struct wio_trace *trace = NULL;
    if (wio_trace_open(arg, &trace, NULL) != WIO_OK || wio_join(trace, &params, NULL) != WIO_OK) {
        _exit(1);
    }
    wio_trace_close(trace);
}

static void remove_file(const char *dir, const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    (void)unlink(path);
}

/* Two, or, before any was safe, none: never one. */
static void storing_is_killed(void **state)
{
    (void)state;
    char *dir = make_dir("storing");
    unsigned both = 0;
    unsigned n = 1;
    for (; wio_test_killed_at(n, hold_in_child, dir); n += WIO_TEST_KILL_STEP) {
        bool is_safe = has(dir, "trace.held");
        both += is_safe ? 1 : 0;
        expect_held(dir, is_safe ? 2 : 0, "");
        remove_file(dir, "trace.held");
        remove_file(dir, "trace.edges");
    }
    assert_true(n > 20 && both > 0 && both < n);
    expect_held(dir, 2, "");
    free(dir);
}

/* A command that derives edges for other segments than there were. */
static void deriving_anew_is_killed(void **state)
{
    (void)state;
    char *(*const makers[])(const char *) = {make_held, copy_before};
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned n = 1;; n += WIO_TEST_KILL_STEP) {
            char name[64];
            (void)snprintf(name, sizeof(name), "deriving-%u-%u", i, n);
            char *dir = makers[i](name);
            write_segment(dir, "a.seg", 300);
            bool was_killed = wio_test_killed_at(n, join_in_child, dir);
            expect_held(dir, 2, "");
            assert_ok(wio_io_remove_tree(dir, NULL), NULL);
            free(dir);
            if (!was_killed) {
                assert_true(n > 20);
                break;
            }
        }
    }
}

int main(void)
{
    wio_test_in_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(held_edges_are_stored),
        cmocka_unit_test(a_segment_more_changes_nothing),
        cmocka_unit_test(renaming_changes_nothing),
        cmocka_unit_test(a_copy_of_a_segment_is_another_one),
        cmocka_unit_test(what_does_not_fit_is_told_and_kept),
        cmocka_unit_test(traces_of_before_keep_theirs),
        cmocka_unit_test(what_holds_alone_stays_alone),
        cmocka_unit_test(nothing_found_is_no_file),
        cmocka_unit_test(an_owner_does_not_lose_them),
        cmocka_unit_test(another_segment_is_seen),
        cmocka_unit_test(line_ends_in_names_make_no_segments),
        cmocka_unit_test(segments_with_line_ends_are_found),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(storing_is_killed),
        cmocka_unit_test(deriving_anew_is_killed),
    };
    return WIO_RUN(tests);
}
