/* SPDX-License-Identifier: Apache-2.0 */
/* Signals and their senders, timers and processes behind descriptors: R-SYNC-9, R-CHAN-8, R-CHAN-9.
 */
#include "infer_script.h"

#include <errno.h>
#include <signal.h>

#define GROUP (-100) /* that thread 0 leads */
#define REAL_TIME 40

enum { TIMER = 14, PROCESS = 15, SIGNALS = 16 }; /* among the strings */

static void send(struct script *script, uint32_t thread, uint64_t at_ns, int64_t to, int64_t signal)
{
    (void)add(script, thread, WIO_OP_fsync, at_ns - 1, at_ns - 1);
    (void)add_args(script, thread, WIO_OP_kill, at_ns, at_ns, (int64_t[4]){to, signal});
}

static void receive(struct script *script, uint32_t thread, uint64_t begin_ns, uint64_t end_ns,
                    int64_t from, int64_t signal)
{
    (void)add_args(script, thread, WIO_OP_sigwait, begin_ns, end_ns, (int64_t[4]){from, signal});
}

/* One signal to a group lets each process go that is told of the sender, and no other. */
static void a_group_is_told_by_its_members(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    send(&s, 3, 10, GROUP, SIGUSR1);
    receive(&s, 1, 5, 20, 103, SIGUSR1);
    receive(&s, 2, 5, 20, 103, SIGUSR1);
    receive(&s, 2, 25, 30, 999, SIGUSR1);
    receive(&s, 0, 5, 20, 103, SIGUSR1);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 3);
    for (uint32_t t = 0; t < 3; t++) {
        assert_edge(&s, 3, 0, t, 0, WIO_EDGE_HARD);
    }
    end(&s);
}

/* Each takes the next one that it has not taken; those below the real-time ones come as one. */
static void later_signals_to_a_group_are_others(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    send(&s, 3, 10, 0, SIGUSR1);
    send(&s, 3, 12, 0, SIGUSR1);
    receive(&s, 1, 20, 21, 103, SIGUSR1);
    receive(&s, 1, 22, 41, 103, SIGUSR1);
    send(&s, 3, 40, 0, SIGUSR1);
    send(&s, 3, 50, -1, REAL_TIME);
    send(&s, 3, 52, -1, REAL_TIME);
    receive(&s, 2, 60, 61, 103, REAL_TIME);
    receive(&s, 2, 62, 63, 103, REAL_TIME);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 4);
    assert_edge(&s, 3, 0, 1, 0, WIO_EDGE_HARD);
    assert_edge(&s, 3, 4, 1, 1, WIO_EDGE_HARD);
    assert_edge(&s, 3, 6, 2, 0, WIO_EDGE_HARD);
    assert_edge(&s, 3, 8, 2, 1, WIO_EDGE_HARD);
    end(&s);
}

/* A handler has taken the first one: the second is of another sender. */
static void the_sender_is_waited_for(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    send(&s, 1, 10, 100, SIGUSR1);
    send(&s, 2, 20, 100, SIGUSR1);
    receive(&s, 0, 15, 25, 102, SIGUSR1);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 1);
    assert_edge(&s, 2, 0, 0, 0, WIO_EDGE_HARD);
    end(&s);
}

/* waitid says in arg3 whether arg0 is a signal. */
static void a_status_is_no_signal(void **state)
{
    (void)state;
    for (int64_t code = CLD_EXITED; code <= CLD_KILLED; code++) {
        struct script s;
        begin(&s, false);
        send(&s, 2, 5, GROUP - 1, SIGTERM);
        add_args(&s, 0, WIO_OP_waitid, 3, 9, (int64_t[4]){SIGTERM, 0, 101, code})->result = 101;
        finish(&s);
        assert_int_equal(s.edges.edge_count, code == CLD_KILLED);
        end(&s);
    }
}

/* Set, off, set for a moment that does not come; what was set before another one had no time. */
static void timers_are_waited_for_as_they_were_set(void **state)
{
    (void)state;
    static const int64_t after_ns[] = {50, 0, INT64_MAX};
    for (size_t i = 0; i < 3; i++) {
        struct script s;
        begin(&s, true);
        add_args(&s, 0, WIO_OP_timerfd_create, 1, 2, (int64_t[4]){1, 0})->result = 5;
        (void)add(&s, 1, WIO_OP_fsync, 3, 4);
        struct wio_event *set =
            add_args(&s, 1, WIO_OP_timerfd_settime, 10, 11, (int64_t[4]){0, after_ns[i]});
        struct wio_event *reading = add(&s, 0, WIO_OP_read, 5, 70);
        set->fd = reading->fd = 5;
        set->path = reading->path = s.events[0].path = TIMER;
        reading->result = 8;
        (void)add(&s, 0, WIO_OP_fsync, 80, 81);
        finish(&s);
        assert_int_equal(s.edges.edge_count, i == 0);
        if (i == 0) {
            assert_edge(&s, 1, 0, 0, 1, WIO_EDGE_HARD);
        }
        end(&s);
    }
}

static void a_process_is_polled(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    (void)add(&s, 1, WIO_OP_fsync, 3, 6);
    struct wio_event *nothing = add(&s, 0, WIO_OP_poll, 2, 4);
    struct wio_event *polled = add(&s, 0, WIO_OP_poll, 5, 9);
    nothing->path = polled->path = PROCESS;
    polled->result = 1;
    finish(&s);
    assert_int_equal(s.edges.edge_count, 1);
    assert_edge(&s, 1, 0, 0, 1, WIO_EDGE_HARD);
    end(&s);
}

#define MASK(signal) (INT64_C(1) << ((signal)-1))

/* Process 100 reads `count` signals of `mask` at once, after both were sent: 102 sent the lower. */
static void read_signals(struct script *script, int64_t mask, int64_t count)
{
    begin(script, false);
    struct wio_event *made = add_args(script, 0, WIO_OP_signalfd, 1, 2, (int64_t[4]){mask, 0});
    made->result = 5;
    send(script, 1, 10, 100, SIGUSR2);
    send(script, 2, 20, 100, SIGUSR1);
    struct wio_event *reading = add(script, 0, WIO_OP_read, 5, 30);
    reading->fd = 5;
    reading->result = 128 * count;
    made->path = reading->path = SIGNALS;
    (void)add(script, 0, WIO_OP_fsync, 40, 41); /* until then it is open */
    finish(script);
}

/* The lowest first, however late it was sent; what the descriptor does not ask for stays. */
static void signals_are_read(void **state)
{
    (void)state;
    static const struct {
        int64_t mask;
        int64_t count;
        bool is_of_1;
        bool is_of_2;
    } cases[] = {
        {MASK(SIGUSR1) | MASK(SIGUSR2), 1, false, true},
        {MASK(SIGUSR1) | MASK(SIGUSR2), 2, true, true},
        {MASK(SIGUSR2), 1, true, false},
        {MASK(SIGTERM), 1, false, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct script s;
        read_signals(&s, cases[i].mask, cases[i].count);
        assert_int_equal(s.edges.edge_count, cases[i].is_of_1 + cases[i].is_of_2);
        if (cases[i].is_of_1) {
            assert_edge(&s, 1, 0, 0, 1, WIO_EDGE_HARD);
        }
        if (cases[i].is_of_2) {
            assert_edge(&s, 2, 0, 0, 1, WIO_EDGE_HARD);
        }
        end(&s);
    }
}

/* pause() does not say what came: the last one that was sent while it waited. */
static void pause_ends_by_what_came_last(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    send(&s, 1, 10, 100, SIGUSR1);
    send(&s, 2, 20, 100, SIGUSR2);
    add(&s, 0, WIO_OP_pause, 15, 25)->error = EINTR;
    add(&s, 0, WIO_OP_pause, 30, 40)->error = EINTR;
    finish(&s);
    assert_int_equal(s.edges.edge_count, 1);
    assert_edge(&s, 2, 0, 0, 0, WIO_EDGE_HARD);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_is_told_by_its_members),
        cmocka_unit_test(later_signals_to_a_group_are_others),
        cmocka_unit_test(the_sender_is_waited_for),
        cmocka_unit_test(a_status_is_no_signal),
        cmocka_unit_test(timers_are_waited_for_as_they_were_set),
        cmocka_unit_test(a_process_is_polled),
        cmocka_unit_test(signals_are_read),
        cmocka_unit_test(pause_ends_by_what_came_last),
    };
    return WIO_RUN(tests);
}
