/* SPDX-License-Identifier: Apache-2.0 */
/* Which change of a file by another thread is told of an operation that found another file. */
#include "support/unit.h"

#include <errno.h>

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

/* The operation `seq` of `stream` had this error in the trace, and in the replay that one. */
static struct wio_replay_race race_of(const char *script, uint32_t stream, uint64_t seq,
                                      int expected, int got)
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
        }
    }
    wio_cursor_destroy(cursor);
    assert_ok(rp_races_find(trace, &mismatch, 1, NULL, &err), &err);
    return mismatch.race;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_nearest_change_of_another_thread_is_told, drop),
        cmocka_unit_test_teardown(what_is_there_depends_on_changes_of_names, drop),
        cmocka_unit_test_teardown(no_race_is_told_where_no_other_thread_changes_it, drop),
    };
    return WIO_RUN(tests);
}
