/* SPDX-License-Identifier: Apache-2.0 */
/* Turns that any thread may take: told from parts that threads have of their own. */
#include "support/unit.h"

#include <stdio.h>
#include <string.h>

#include <whyio/trace.h>

#include "read_waits.h"
#include "schedule/task_pool.h"
#include "support/script_open.h"

#define TWO "process 10 rank=0\nprocess 20 rank=1\nstream 0 10\nstream 1 20\n"
#define TURN_NS 100000u
#define TURN_EVENTS 4u

static struct wio_trace *trace;
static struct wio_waits waits;
static struct wio_turns turns;
static char script[16384];

static int begin(void **state)
{
    (void)state;
    (void)strcpy(script, TWO);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    wio_turns_fini(&turns);
    wio_waits_fini(&waits);
    wio_trace_close(trace);
    trace = NULL;
    return 0;
}

static void say(const char *line)
{
    assert_true(strlen(script) + strlen(line) < sizeof(script));
    (void)strcat(script, line);
}

/* The turn number `place` of all, by `stream`: the lock, what is next, the lock back, the work. */
static void turn(unsigned stream, unsigned place, const char *path, unsigned off)
{
    char lines[512];
    unsigned t = 1000 + place * TURN_NS;
    unsigned fd = 5 + stream;
    (void)snprintf(lines, sizeof(lines),
                   "fcntl stream=%u t=%u dur=500 fd=%u path=/queue off=0 a0=7 a2=1\n"
                   "pread stream=%u t=%u fd=%u path=/queue off=0 size=8\n"
                   "fcntl stream=%u t=%u fd=%u path=/queue off=0 a0=7 a2=2\n"
                   "pwrite stream=%u t=%u dur=300 fd=%u path=%s off=%u size=16\n",
                   stream, t, fd, stream, t + 1000, fd, stream, t + 2000, fd, stream, t + 3000,
                   fd + 10, path, off);
    say(lines);
}

static void find(void)
{
    struct wio_error err = WIO_ERROR_INIT;
    trace = script_open(script);
    assert_ok(read_waits(&waits, trace, true, &err), &err);
    assert_ok(wio_turns_read(&waits, &turns, &err), &err);
}

/* Stream 0 has turns 0, 1 and every third one after, stream 1 the others; both close in the end. */
static void share_out(unsigned count, bool by_order)
{
    unsigned own[2] = {0, 0};
    for (unsigned i = 0; i < count; i++) {
        unsigned stream = i > 1 && i % 3 != 0;
        turn(stream, i, "/data", (by_order ? i : own[stream]++ * 2 + stream) * 16);
    }
    say("close stream=0 t=90000000 fd=5 path=/queue\n"
        "close stream=1 t=90000000 fd=6 path=/queue\n"
        "edge 0:5 1:0 class=mutex evidence=lock object=1\n");
}

static void work_in_the_order_of_the_lock_is_anybodys(void **state)
{
    (void)state;
    share_out(10, true);
    find();
    assert_int_equal(turns.pool_count, 1);
    assert_int_equal(turns.pools[0].count, 10);
    for (uint32_t i = 0; i < 10; i++) {
        const struct wio_turn *each = &turns.turns[turns.order[i]];
        assert_int_equal(each->offset, i * 16);
        assert_int_equal(each->count, TURN_EVENTS);
        assert_int_equal(each->taken_ns, 1500 + i * TURN_NS);
    }
    const struct wio_turn_span *span = wio_turns_span(&turns, 1, 0);
    assert_non_null(span);
    assert_int_equal(span->first_seq, 0);
    assert_int_equal(span->end_seq, span->count * TURN_EVENTS);
    assert_int_equal(span->end_ns, 90000000);
    assert_null(wio_turns_span(&turns, 1, span->end_seq));
    assert_int_equal(wio_turns_fd(span, turns.turns[0].path), 16);
    assert_int_equal(wio_turns_fd(wio_turns_span(&turns, 0, 0), turns.turns[0].path), 15);
    assert_int_equal(turns.spans[0].count + turns.spans[1].count, 10);
}

static void a_part_of_ones_own_stays_with_its_thread(void **state)
{
    (void)state;
    share_out(10, false);
    find();
    assert_int_equal(turns.pool_count, 0);
    assert_null(wio_turns_span(&turns, 0, 0));
}

static void a_few_may_be_in_order_by_chance(void **state)
{
    (void)state;
    share_out(WIO_TURNS_MIN - 1, true);
    find();
    assert_int_equal(turns.pool_count, 0);
}

static void others_cannot_do_it_without_the_file(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        turn(i % 2, i, i % 2 != 0 ? "/mine" : "/data", i * 16);
    }
    say("edge 0:0 1:0 class=mutex evidence=lock object=1\n");
    find();
    assert_int_equal(turns.pool_count, 0);
}

/* Stream 1 waits for a message in the middle of its third turn: the two before are any thread's. */
static void a_waiting_thread_does_its_own_tasks(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        turn(i % 2, i, "/data", i * 16);
        if (i == 5) {
            say("MPI_Recv stream=1 t=510000\n");
        }
    }
    say("edge 0:0 1:0 class=mutex evidence=lock object=1\nedge 0:1 1:12\n");
    find();
    const struct wio_turn_span *span = wio_turns_span(&turns, 1, 0);
    assert_non_null(span);
    assert_int_equal(span->count, 3);
    assert_int_equal(span->end_seq, 12);
    span = wio_turns_span(&turns, 1, 12);
    assert_int_equal(span->first_seq, 13);
}

/* The last turn finds the queue empty: it is each thread's own, and so is what has no work. */
static void a_turn_without_work_is_none(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        turn(i % 2, i, "/data", i * 16);
    }
    say("fcntl stream=1 t=1100000 fd=6 path=/queue off=0 a0=7 a2=1\n"
        "fcntl stream=1 t=1200000 fd=6 path=/queue off=0 a0=7 a2=2\n"
        "close stream=1 t=1300000 fd=6 path=/queue\n"
        "edge 0:0 1:0 class=mutex evidence=lock object=1\n");
    find();
    const struct wio_turn_span *span = wio_turns_span(&turns, 1, 0);
    assert_non_null(span);
    assert_int_equal(span->end_seq, 5 * TURN_EVENTS);
    assert_int_equal(span->end_ns, 1100000);
    assert_int_equal(turns.pools[0].count, 10);
}

int main(void)
{
#define TURNS_TEST(name) cmocka_unit_test_setup_teardown(name, begin, drop)
    const struct CMUnitTest tests[] = {
        TURNS_TEST(work_in_the_order_of_the_lock_is_anybodys),
        TURNS_TEST(a_part_of_ones_own_stays_with_its_thread),
        TURNS_TEST(a_few_may_be_in_order_by_chance),
        TURNS_TEST(others_cannot_do_it_without_the_file),
        TURNS_TEST(a_waiting_thread_does_its_own_tasks),
        TURNS_TEST(a_turn_without_work_is_none),
    };
    return WIO_RUN(tests);
}
