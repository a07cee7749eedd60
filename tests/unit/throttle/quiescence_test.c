/* SPDX-License-Identifier: Apache-2.0 */
/* How long a node has had for itself: children that sleep, time that is an argument. */
#include "support/unit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "throttle/control/quiescence.h"

#define MS UINT64_C(1000000)

static pid_t start(bool naps)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    while (pid == 0) {
        (void)(naps ? usleep(1000) : pause());
    }
    return pid;
}

static void stop(pid_t pid)
{
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
}

/* Until it is seen asleep, and, with `ran`, has run since the last look. */
static void look_asleep(struct wio_watch *watch, bool ran, uint64_t now_ns)
{
    struct wio_task_state task = {0};
    while (!task.is_asleep || (ran && task.run_ns == watch->task.run_ns)) {
        wio_clock_sleep_ns(MS / 10);
        wio_task_look(watch->node->pid, watch->node->tid, &task);
    }
    assert_true(wio_watch_look(watch, now_ns));
}

static void a_long_sleep_is_its_own_time(void **state)
{
    (void)state;
    pid_t pid = start(false);
    const struct wio_board_node node = {.pid = pid, .tid = pid};
    struct wio_watch watch = {.node = &node};
    look_asleep(&watch, false, MS);
    look_asleep(&watch, false, 101 * MS);
    assert_int_equal(watch.own_ns, 100 * MS);
    stop(pid);
}

/* Between two naps it may have waited for a processor all the time. */
static void two_naps_are_no_long_sleep(void **state)
{
    (void)state;
    pid_t pid = start(true);
    const struct wio_board_node node = {.pid = pid, .tid = pid};
    struct wio_watch watch = {.node = &node};
    bool was_between = false;
    for (uint64_t now_ms = 100; !was_between; now_ms += 100) {
        look_asleep(&watch, false, now_ms * MS);
        wio_watch_restart(&watch);
        look_asleep(&watch, false, (now_ms + 1) * MS);
        struct wio_task_state before = watch.task;
        look_asleep(&watch, true, (now_ms + 51) * MS);
        was_between = before.is_asleep && watch.task.is_asleep;
    }
    assert_true(watch.own_ns < 50 * MS);
    stop(pid);
}

/* A thread of another host: what that one found, by its clock. */
static void others_look_for_us(void **state)
{
    (void)state;
    const struct wio_board_node node = {.word = 1 << 8 | WIO_BOARD_IN_MPI};
    struct wio_director_look look = {.task = {.is_there = true, .is_asleep = true}};
    struct wio_watch watch = {.node = &node, .far = &look};
    (void)wio_watch_read(&watch);
    look.now_ns = 5000 * MS;
    assert_true(wio_watch_look(&watch, 1));
    look.now_ns += MS;
    assert_true(wio_watch_look(&watch, 2));
    assert_int_equal(watch.own_ns, MS);
    assert_true(wio_watch_is_still(&watch));
    look.task.is_there = false;
    assert_false(wio_watch_look(&watch, 3));
}

/* Bytes have arrived: a node that slept has to be seen asleep once more, not having run. */
static void a_node_that_may_be_awake_is_looked_at_again(void **state)
{
    (void)state;
    const struct wio_board_node node = {.word = 1 << 8 | WIO_BOARD_IN_MPI};
    struct wio_director_look look = {.task = {.is_there = true, .is_asleep = true}, .now_ns = MS};
    struct wio_watch watch = {.node = &node, .far = &look};
    (void)wio_watch_read(&watch);
    (void)wio_watch_look(&watch, 0);
    look.now_ns = 2 * MS;
    (void)wio_watch_look(&watch, 0);
    wio_watch_mark(&watch);
    assert_false(wio_watch_has_looked(&watch));
    look.now_ns += MS / 10;
    look.task.run_ns = 1000; /* it ran */
    (void)wio_watch_look(&watch, 0);
    assert_false(wio_watch_has_looked(&watch));
    look.now_ns += MS / 10;
    (void)wio_watch_look(&watch, 0);
    assert_true(wio_watch_has_looked(&watch));
}

/* A polling node must have had the time to poll. */
static void a_poller_gets_time_to_look(void **state)
{
    (void)state;
    const struct wio_board_node node = {.word = 1 << 8 | WIO_BOARD_IN_MPI};
    struct wio_director_look look = {.task = {.is_there = true}, .now_ns = MS};
    struct wio_watch watch = {.node = &node, .far = &look};
    (void)wio_watch_read(&watch);
    (void)wio_watch_look(&watch, 0);
    wio_watch_mark(&watch);
    look.now_ns += 10 * MS; /* most of it without a processor */
    look.task.run_ns = WIO_WATCH_SPIN_NS / 2;
    (void)wio_watch_look(&watch, 0);
    assert_false(wio_watch_has_looked(&watch));
    look.task.run_ns = WIO_WATCH_SPIN_NS;
    (void)wio_watch_look(&watch, 0);
    assert_true(wio_watch_has_looked(&watch));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_sleep_is_its_own_time),
        cmocka_unit_test(two_naps_are_no_long_sleep),
        cmocka_unit_test(others_look_for_us),
        cmocka_unit_test(a_node_that_may_be_awake_is_looked_at_again),
        cmocka_unit_test(a_poller_gets_time_to_look),
    };
    return WIO_RUN(tests);
}
