/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "throttle/control/task_state.h"

static void states_are_read_behind_any_name(void **state)
{
    (void)state;
    char letter;
    int32_t parent;
    assert_true(wio_task_parse_stat("12 (a) b) S) R 34 12 0", &letter, &parent));
    assert_int_equal(letter, 'R');
    assert_int_equal(parent, 34);
    assert_false(wio_task_parse_stat("", &letter, &parent));
    assert_false(wio_task_parse_stat("12 (a", &letter, &parent));
    assert_false(wio_task_parse_stat("12 (a)", &letter, &parent));
    assert_false(wio_task_parse_stat("12 (a) S", &letter, &parent));
    assert_false(wio_task_parse_stat("12 (a) S x", &letter, &parent));
}

static bool is_timed(long number, const char *arguments)
{
    char text[256];
    snprintf(text, sizeof(text), "%ld %s 0x7ffc0000 0x7f000000\n", number, arguments);
    return wio_task_is_timed(text);
}

static void calls_with_a_time_limit_are_told_from_those_without(void **state)
{
    (void)state;
    assert_true(is_timed(SYS_clock_nanosleep, "0x0 0x0 0x1 0x2 0x3 0x4"));
    assert_false(is_timed(SYS_read, "0x0 0x1 0x2 0x3 0x4 0x5"));
    assert_false(is_timed(SYS_futex, "0x7f00 0x80 0x2 0x0 0x0 0x0"));
    assert_true(is_timed(SYS_futex, "0x7f00 0x80 0x2 0x7ffd 0x0 0x0"));
    assert_false(is_timed(SYS_epoll_pwait, "0x3 0x7f00 0x10 0xffffffff 0x0 0x0"));
    assert_true(is_timed(SYS_epoll_pwait, "0x3 0x7f00 0x10 0x64 0x0 0x0"));
    assert_true(is_timed(SYS_restart_syscall, "0x0 0x0 0x0 0x0 0x0 0x0"));
#if defined(SYS_epoll_pwait2)
    assert_false(is_timed(SYS_epoll_pwait2, "0x3 0x7f00 0x10 0x0 0x0 0x0"));
    assert_true(is_timed(SYS_epoll_pwait2, "0x3 0x7f00 0x10 0x7ffd 0x0 0x0"));
#endif
    /* nothing is known: it may wake by itself */
    assert_true(wio_task_is_timed("running\n"));
    assert_true(wio_task_is_timed(""));
    assert_true(wio_task_is_timed("202 0x1"));
}

/* Until the child is in the state, or for ten seconds. */
static struct wio_task_state look_until(pid_t pid, bool is_asleep)
{
    struct wio_task_state task;
    uint64_t end_ns = wio_clock_mono_ns() + UINT64_C(10000000000);
    do {
        wio_clock_sleep_ns(1000000);
        wio_task_look(pid, pid, &task);
    } while (task.is_asleep != is_asleep && wio_clock_mono_ns() < end_ns);
    return task;
}

static void a_child_that_waits_is_asleep_and_one_that_spins_is_not(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char byte;
        volatile unsigned long count = 0;
        (void)!read(ends[0], &byte, 1);
        for (;;) {
            count++;
        }
    }
    struct wio_task_state task = look_until(pid, true);
    assert_true(task.is_there);
    assert_true(task.is_asleep);
    assert_int_equal(write(ends[1], "x", 1), 1);
    uint64_t slept_ns = task.run_ns;
    task = look_until(pid, false);
    assert_false(task.is_asleep);
    uint64_t end_ns = wio_clock_mono_ns() + UINT64_C(20000000000);
    while (task.run_ns < slept_ns + 10000000 && wio_clock_mono_ns() < end_ns) {
        wio_clock_sleep_ns(5000000);
        wio_task_look(pid, pid, &task);
    }
    assert_true(task.run_ns >= slept_ns + 10000000);
    assert_int_equal(wio_task_parent(pid), getpid());
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    wio_task_look(pid, pid, &task);
    assert_false(task.is_there);
    assert_int_equal(wio_task_parent(pid), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_are_read_behind_any_name),
        cmocka_unit_test(calls_with_a_time_limit_are_told_from_those_without),
        cmocka_unit_test(a_child_that_waits_is_asleep_and_one_that_spins_is_not),
    };
    return WIO_RUN(tests);
}
