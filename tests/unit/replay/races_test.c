/* SPDX-License-Identifier: Apache-2.0 */
/* Which change of a file by another thread is told of an operation that found another file. */
#include "support/unit.h"

#include <errno.h>
#include <string.h>

#include <whyio/trace.h>

#include "ops/calls.h"
#include "replay/races.h"
#include "support/script_open.h"

#define MS 1000000
#define THREADS "process 10\nprocess 20\nprocess 30\nstream 0 10\nstream 1 20\nstream 2 30\n"

static struct wio_trace *trace;

static int drop(void **state)
{
    (void)state;
    wio_trace_close(trace);
    trace = NULL;
    return 0;
}

static struct wio_replay_mismatch found;

/* The operation `seq` of `stream` had this error in the trace, and in the replay that one, when the
 * threads were at `places`. */
static struct wio_replay_race race_at(const char *script, uint32_t stream, uint64_t seq,
                                      int expected, int got, const struct rp_places *places)
{
    struct wio_error err = WIO_ERROR_INIT;
    const struct wio_filter filter = {.struct_size = sizeof(filter)};
    const struct wio_event *event;
    struct wio_cursor *cursor;
    wio_trace_close(trace);
    trace = script_open(script);
    struct wio_replay_mismatch mismatch = {.stream = stream,
                                           .seq = seq,
                                           .expected_error = (uint16_t)expected,
                                           .got_error = (uint16_t)got};
    assert_ok(wio_cursor_create(trace, &filter, &cursor, &err), &err);
    while (wio_cursor_next(cursor, &event, &err) == WIO_OK) {
        if (event->stream == stream && event->seq == seq) {
            mismatch.path = event->path;
            mismatch.op = event->op;
        }
    }
    wio_cursor_destroy(cursor);
    assert_ok(rp_races_find(trace, &mismatch, 1, places, &err), &err);
    found = mismatch;
    return mismatch.race;
}

static struct wio_replay_race race_of(const char *script, uint32_t stream, uint64_t seq,
                                      int expected, int got)
{
    return race_at(script, stream, seq, expected, got, NULL);
}

static void assert_race(struct wio_replay_race race, uint32_t stream, uint64_t seq, enum wio_op op,
                        int64_t after_ns)
{
    assert_int_equal(race.stream, stream);
    assert_int_equal(race.seq, seq);
    assert_int_equal(race.op, op);
    assert_int_equal(race.after_ns, after_ns);
}

static void the_nearest_change_of_another_thread_is_told(void **state)
{
    (void)state;
    static const char script[] = THREADS "pwrite stream=1 t=1000000 fd=3 path=/a off=0 size=1\n"
                                         "pwrite stream=0 t=9000000 fd=3 path=/a off=0 size=1\n"
                                         "stat stream=0 t=10000000 path=/a\n"
                                         "pwrite stream=0 t=11000000 fd=3 path=/a off=0 size=1\n"
                                         "pwrite stream=2 t=12000000 fd=3 path=/b off=0 size=1\n"
                                         "ftruncate stream=2 t=15000000 fd=3 path=/a size=0 res=0\n"
                                         "pwrite stream=1 t=16000000 fd=3 path=/a off=0 size=1\n"
                                         "stat stream=1 t=30000000 path=/a\n";
    assert_race(race_of(script, 0, 1, 0, 0), 2, 1, WIO_OP_ftruncate, 5 * MS);
    assert_race(race_of(script, 1, 2, 0, 0), 2, 1, WIO_OP_ftruncate, -15 * MS);
}

static void what_is_there_depends_on_changes_of_names(void **state)
{
    (void)state;
    static const char script[] = THREADS "open stream=1 t=1000000 path=/a a0=0x42 a1=0644 res=3\n"
                                         "stat stream=0 t=2000000 path=/a err=2\n"
                                         "pwrite stream=1 t=2100000 fd=3 path=/a off=0 size=1\n"
                                         "open stream=1 t=2200000 path=/c a0=0 res=4\n"
                                         "rename stream=2 t=2500000 path=/b path2=/a\n";
    assert_race(race_of(script, 0, 0, ENOENT, 0), 2, 0, WIO_OP_rename, MS / 2);
    assert_race(race_of(script, 0, 0, 0, 0), 1, 1, WIO_OP_pwrite, MS / 10);
}

static void no_race_is_told_where_no_other_thread_changes_it(void **state)
{
    (void)state;
    static const char script[] = THREADS "pwrite stream=0 t=1000000 fd=3 path=/a off=0 size=1\n"
                                         "stat stream=0 t=2000000 path=/a\n"
                                         "pread stream=1 t=3000000 fd=3 path=/a off=0 size=1\n"
                                         "unlink stream=1 t=4000000 path=/a err=1\n"
                                         "pwrite stream=2 t=5000000 fd=3 path=/b off=0 size=1\n";
    assert_int_equal(race_of(script, 0, 1, 0, 0).stream, UINT32_MAX);
    assert_int_equal(race_of(script, 0, 1, 0, ENOENT).stream, UINT32_MAX);
}

static void calls_that_overlap_are_a_race(void **state)
{
    (void)state;
    static const char script[] = THREADS "open stream=0 t=1000000 dur=1000000 path=/a err=2\n"
                                         "open stream=1 t=1500000 dur=100 path=/a a0=0xc2 res=3\n"
                                         "unlink stream=2 t=1700000 dur=100 path=/b\n"
                                         "stat stream=0 t=2100000 path=/b err=2\n";
    assert_race(race_of(script, 0, 0, ENOENT, 0), 1, 0, WIO_OP_open, MS / 2);
    assert_true(found.is_race);
    assert_race(race_of(script, 0, 1, ENOENT, 0), 2, 0, WIO_OP_unlink, -2 * MS / 5);
    assert_false(found.is_race);
}

static void calls_that_came_in_another_order_are_a_race_where_waits_are_kept(void **state)
{
    (void)state;
    static const char script[] = THREADS "unlink stream=1 t=1000000 path=/a\n"
                                         "stat stream=0 t=2000000 path=/a err=2\n"
                                         "mkdir stream=1 t=3000000 path=/a a0=0755\n"
                                         "rmdir stream=1 t=4000000 path=/a\n";
    uint64_t at_ns[] = {2000000, 2500000, UINT64_MAX};
    const struct rp_places places = {at_ns, NULL, 1, 3};
    (void)race_at(script, 0, 0, ENOENT, 0, &places); /* after the first, before the second */
    assert_false(found.is_race);
    at_ns[1] = 4000000;
    assert_race(race_at(script, 0, 0, ENOENT, 0, &places), 1, 1, WIO_OP_mkdir, MS);
    assert_true(found.is_race);
    at_ns[1] = 1000000;
    assert_race(race_at(script, 0, 0, ENOENT, 0, &places), 1, 0, WIO_OP_unlink, -MS);
    assert_true(found.is_race);
    (void)race_of(script, 0, 0, ENOENT, 0);
    assert_false(found.is_race);
}

static void entries_and_modes_are_changed_too(void **state)
{
    (void)state;
    static const char script[] = THREADS "readdir stream=0 t=1000000 dur=1000000 fd=3 path=/d\n"
                                         "mkdir stream=1 t=1500000 path=/d/x a0=0755\n"
                                         "access stream=0 t=3000000 dur=1000 path=/f a0=4\n"
                                         "chmod stream=2 t=3000500 path=/f a0=0\n";
    assert_race(race_of(script, 0, 0, 0, 0), 1, 0, WIO_OP_mkdir, MS / 2);
    assert_true(found.is_race);
    assert_race(race_of(script, 0, 1, 0, EACCES), 2, 0, WIO_OP_chmod, 500);
    assert_true(found.is_race);
}

/* The overlapping calls that both worked may have left the name or not; so later ones differ. */
static void what_a_race_leaves_is_found_later(void **state)
{
    (void)state;
    static const char script[] =
        THREADS "open stream=0 t=1000000 dur=1000000 path=/d/a a0=0x42 res=3\n"
                "unlink stream=1 t=1500000 path=/d/a\n"
                "stat stream=2 t=3000000 path=/d/a err=2\n"
                "mkdir stream=2 t=3500000 path=/d/a a0=0755\n"
                "stat stream=0 t=4000000 path=/d/a\n";
    (void)race_of(script, 2, 0, ENOENT, 0);
    assert_true(found.is_race);
    (void)race_of(script, 0, 1, 0, ENOENT);
    assert_false(found.is_race);
}

static void later_mismatches_of_the_same_file_follow(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    wio_trace_close(trace);
    trace = script_open(THREADS "open stream=0 t=1000000 dur=1000000 path=/d err=2\n"
                                "mkdir stream=1 t=1500000 path=/d a0=0755\n"
                                "open stream=0 t=4000000 path=/d/f err=2\n"
                                "open stream=0 t=5000000 path=/e err=2\n");
    struct wio_replay_mismatch all[5];
    const char *paths[] = {"/d", "/d/f", "/e", "/d/f", "/d/f"};
    for (uint32_t i = 0; i < 5; i++) {
        all[i] =
            (struct wio_replay_mismatch){.seq = i, .op = WIO_OP_open, .expected_error = ENOENT};
        for (uint32_t k = 1; k <= wio_trace_string_count(trace); k++) {
            if (strcmp(wio_trace_string(trace, k, NULL), paths[i]) == 0) {
                all[i].path = k;
            }
        }
    }
    all[3].got_error = EBADF; /* of a file that was not opened .. */
    all[4].got_error = EIO;   /* .. and of a disk that fails */
    assert_ok(rp_races_find(trace, all, 5, NULL, &err), &err);
    assert_true(all[0].is_race);
    assert_true(all[1].is_race);
    assert_int_equal(all[1].race.stream, 1);
    assert_false(all[2].is_race);
    assert_true(all[3].is_race);
    assert_false(all[4].is_race);
}

/* Two threads write and create the file meanwhile: that does not make a disk fail. */
static void errors_of_the_target_are_no_races(void **state)
{
    (void)state;
    static const char script[] =
        THREADS "read stream=0 t=1000000 dur=1000000 fd=3 path=/a off=0 size=4 res=4\n"
                "pwrite stream=1 t=1500000 dur=9000000 fd=3 path=/a off=0 size=4\n"
                "pwrite stream=2 t=1500000 dur=9000000 fd=4 path=/a off=0 size=4\n"
                "pwrite stream=0 t=2500000 fd=3 path=/a off=0 size=4\n";
    static const int errors[] = {EIO, EFBIG, EPERM, EBADF, EINVAL, ENXIO, ELOOP, ENOSPC};
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        assert_int_equal(race_of(script, 0, 0, 0, errors[i]).stream, UINT32_MAX);
        assert_false(found.is_race);
        (void)race_of(script, 0, 0, errors[i], ENOENT);
        assert_false(found.is_race);
        (void)race_of(script, 0, 1, 0, errors[i]);
        assert_false(found.is_race);
    }
    (void)race_of(script, 0, 0, 0, 0); /* a short read */
    assert_true(found.is_race);
    (void)race_of(script, 0, 1, 0, 0); /* a short write is none */
    assert_false(found.is_race);
}

static void only_chmod_changes_modes(void **state)
{
    (void)state;
    static const char script[] = THREADS "access stream=0 t=1000000 dur=9000 path=/f a0=4\n"
                                         "utimens stream=1 t=1000500 path=/f\n"
                                         "chown stream=2 t=1000600 path=/f a0=1 a1=1\n"
                                         "access stream=0 t=2000000 dur=9000 path=/f a0=4\n"
                                         "fchmod stream=2 t=2000500 fd=3 path=/f a0=0\n";
    (void)race_of(script, 0, 0, 0, EACCES);
    assert_false(found.is_race);
    (void)race_of(script, 0, 1, 0, EACCES);
    assert_true(found.is_race);
}

static void changes_that_cannot_conflict_leave_one_state(void **state)
{
    (void)state;
    static const char script[] =
        THREADS "stat stream=2 t=500000 path=/a\n"
                "open stream=0 t=1000000 dur=1000000 path=/a a0=0x42 res=3\n"
                "open stream=1 t=1500000 dur=1000 path=/a a0=0x42 res=3\n"
                "pwrite stream=0 t=2000000 dur=1000000 fd=3 path=/a off=0 size=4 res=4\n"
                "pwrite stream=1 t=2500000 dur=1000 fd=3 path=/a off=4 size=4 res=4\n"
                "stat stream=2 t=4000000 path=/a\n"
                "mkdir stream=0 t=5000000 dur=1000000 path=/d/x a0=0755\n"
                "rmdir stream=1 t=5500000 dur=1000 path=/d/y\n"
                "rmdir stream=2 t=7000000 path=/d err=39\n";
    (void)race_of(script, 2, 1, 0, ENOENT);
    assert_false(found.is_race);
    assert_int_equal(found.race.stream, UINT32_MAX);
    (void)race_of(script, 2, 1, 0, 0);
    assert_false(found.is_race);
    (void)race_of(script, 2, 2, ENOTEMPTY, 0);
    assert_false(found.is_race);
}

static void changes_that_conflict_leave_either_state(void **state)
{
    (void)state;
    static const char script[] =
        THREADS "stat stream=2 t=500000 path=/a\n"
                "open stream=0 t=1000000 dur=1000000 path=/a a0=0x42 res=3\n"
                "unlink stream=1 t=1500000 dur=1000 path=/a\n"
                "pwrite stream=0 t=2000000 dur=1000000 fd=3 path=/a off=0 size=4 res=4\n"
                "ftruncate stream=1 t=2500000 dur=1000 fd=3 path=/a size=0 res=0\n"
                "stat stream=2 t=4000000 path=/a\n";
    (void)race_of(script, 2, 1, 0, ENOENT);
    assert_true(found.is_race);
    (void)race_of(script, 2, 1, 0, 0);
    assert_true(found.is_race);
}

/* Whichever way the two have changed places. */
static void a_change_explains_only_what_it_can_make(void **state)
{
    (void)state;
    static const char script[] = THREADS "mkdir stream=0 t=1000000 dur=1000000 path=/a a0=0755\n"
                                         "rmdir stream=1 t=2100000 path=/a\n"
                                         "mkdir stream=1 t=2200000 path=/a a0=0755\n"
                                         "stat stream=0 t=3000000 path=/a\n";
    uint64_t at_ns[] = {0, 2300000, 0};
    const struct rp_places places = {at_ns, NULL, 1, 3};
    at_ns[1] = 2150000; /* before the second mkdir: it was not there yet */
    assert_race(race_at(script, 0, 1, 0, ENOENT, &places), 1, 1, WIO_OP_mkdir, -8 * MS / 10);
    assert_true(found.is_race);
    static const char later[] = THREADS "mkdir stream=1 t=1000000 path=/a a0=0755\n"
                                        "stat stream=0 t=2000000 path=/a\n"
                                        "mkdir stream=0 t=2500000 path=/a a0=0755 err=17\n"
                                        "mkdir stream=2 t=3000000 path=/a/b a0=0755\n"
                                        "link stream=2 t=3100000 path=/b path2=/a\n"
                                        "unlink stream=2 t=3200000 path=/c\n"
                                        "stat stream=0 t=4000000 path=/c err=2\n"
                                        "mkdir stream=0 t=5000000 path=/c a0=0755\n";
    at_ns[1] = 1100000;
    at_ns[2] = 3900000; /* a link that came too early does not take the name away */
    (void)race_at(later, 0, 0, 0, ENOENT, &places);
    assert_false(found.is_race);
    at_ns[2] = 3300000; /* and an unlink that came does not make mkdir find one */
    (void)race_at(later, 0, 3, 0, EEXIST, &places);
    assert_false(found.is_race);
}

static void a_stream_that_is_not_played_has_come_nowhere(void **state)
{
    (void)state;
    static const char script[] = THREADS "stat stream=0 t=1000000 path=/a err=2\n"
                                         "mkdir stream=1 t=3000000 path=/a a0=0755\n";
    const uint64_t at_ns[] = {1000000, UINT64_MAX, UINT64_MAX};
    const bool is_absent[] = {false, true, false};
    struct rp_places places = {at_ns, NULL, 1, 3};
    (void)race_at(script, 0, 0, ENOENT, 0, &places); /* it is at its end */
    assert_true(found.is_race);
    places.is_absent = is_absent;
    (void)race_at(script, 0, 0, ENOENT, 0, &places);
    assert_false(found.is_race);
}

/* The entries that readdir gives were read when the first one was asked for, or before. */
static void entries_may_be_older_than_the_call(void **state)
{
    (void)state;
    static const char script[] = THREADS "opendir stream=0 t=1000000 path=/d res=3\n"
                                         "mkdir stream=1 t=1500000 path=/d/x a0=0755\n"
                                         "readdir stream=0 t=2000000 fd=3 path=/d\n"
                                         "opendir stream=0 t=3000000 path=/d res=3\n"
                                         "readdir stream=0 t=4000000 fd=3 path=/d\n";
    assert_race(race_of(script, 0, 1, 0, 0), 1, 0, WIO_OP_mkdir, -MS / 2);
    assert_true(found.is_race);
    (void)race_of(script, 0, 3, 0, 0);
    assert_false(found.is_race);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_nearest_change_of_another_thread_is_told, drop),
        cmocka_unit_test_teardown(what_is_there_depends_on_changes_of_names, drop),
        cmocka_unit_test_teardown(no_race_is_told_where_no_other_thread_changes_it, drop),
        cmocka_unit_test_teardown(calls_that_overlap_are_a_race, drop),
        cmocka_unit_test_teardown(calls_that_came_in_another_order_are_a_race_where_waits_are_kept,
                                  drop),
        cmocka_unit_test_teardown(entries_and_modes_are_changed_too, drop),
        cmocka_unit_test_teardown(what_a_race_leaves_is_found_later, drop),
        cmocka_unit_test_teardown(later_mismatches_of_the_same_file_follow, drop),
        cmocka_unit_test_teardown(errors_of_the_target_are_no_races, drop),
        cmocka_unit_test_teardown(only_chmod_changes_modes, drop),
        cmocka_unit_test_teardown(changes_that_cannot_conflict_leave_one_state, drop),
        cmocka_unit_test_teardown(changes_that_conflict_leave_either_state, drop),
        cmocka_unit_test_teardown(a_change_explains_only_what_it_can_make, drop),
        cmocka_unit_test_teardown(entries_may_be_older_than_the_call, drop),
        cmocka_unit_test_teardown(a_stream_that_is_not_played_has_come_nowhere, drop),
    };
    return WIO_RUN(tests);
}
