/* SPDX-License-Identifier: Apache-2.0 */
/* Signals to groups, timers and processes behind descriptors: `senders SCENE`. See scene.h. */
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/pidfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>

#include "scene.h"

/* ---- groups: no rank sends before all have come ------------------------------------------------
 */

static void block(int signal)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, signal);
    check(sigprocmask(SIG_BLOCK, &set, NULL) == 0, "sigprocmask");
}

static void receive(const char *name)
{
    sigset_t set;
    int number;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGUSR1);
    check(sigwait(&set, &number) == 0, "sigwait");
    mark(name);
}

static void be_member(int ready)
{
    put(ready, 1);
    receive("member");
}

static void lead(int ready)
{
    check(setpgid(0, 0) == 0, "setpgid");
    pid_t pid = child(be_member, ready);
    put(ready, 1);
    receive("leader");
    wait_for(pid);
}

/* The group's second signal finds its members where the first one left them. */
static void group(void)
{
    int ends[2];
    check(pipe(ends) == 0, "pipe");
    block(SIGUSR1);
    pid_t pid = child(lead, ends[1]);
    get(ends[0], 2);
    nap();
    mark("sending");
    check(killpg(pid, SIGUSR1) == 0, "killpg");
    mark("sender goes on");
    wait_for(pid);
}

static void own_group(void)
{
    int ends[2];
    check(pipe(ends) == 0 && setpgid(0, 0) == 0, "pipe, setpgid");
    block(SIGUSR1);
    pid_t pid = child(be_member, ends[1]);
    get(ends[0], 1);
    nap();
    mark("sending");
    check(kill(0, SIGUSR1) == 0, "kill");
    mark("sender goes on");
    wait_for(pid);
}

static void live_on(int ready)
{
    check(setpgid(0, 0) == 0, "setpgid");
    put(ready, 1);
    for (;;) {
        (void)pause();
    }
}

static void kill_late(int group)
{
    nap();
    mark("killing");
    check(kill(-group, SIGKILL) == 0, "kill");
    mark("killer goes on");
}

static void killed_leader(void)
{
    int ends[2];
    siginfo_t info;
    check(pipe(ends) == 0, "pipe");
    pid_t victim = child(live_on, ends[1]);
    get(ends[0], 1);
    pid_t pid = child(kill_late, victim);
    check(waitid(P_PID, (id_t)victim, &info, WEXITED) == 0, "waitid");
    mark("after");
    wait_for(pid);
}

/* ---- the sender: two have sent, and the first one's signal was taken by a handler
 * ------------------
 */

static void ignore(int signal)
{
    (void)signal;
}

static void send_first(int parent)
{
    mark("first");
    check(kill(parent, SIGUSR1) == 0, "kill");
}

static void send_second(int parent)
{
    nap();
    mark("second");
    check(kill(parent, SIGUSR1) == 0, "kill");
}

static void two_senders(void)
{
    const struct sigaction action = {.sa_handler = ignore};
    check(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction");
    pid_t first = child(send_first, getpid());
    while (waitpid(first, NULL, 0) != first) {
    }
    block(SIGUSR1);
    pid_t second = child(send_second, getpid());
    receive("came");
    wait_for(second);
}

/* ---- processes behind descriptors --------------------------------------------------------------
 */

static int open_process(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

static void die_late(int unused)
{
    (void)unused;
    nap();
    mark("dying");
}

static void await(int process)
{
    struct pollfd one = {.fd = process, .events = POLLIN};
    check(poll(&one, 1, -1) == 1, "poll");
    mark("told");
}

/* No child of the waiting process: no call tells of its end. */
static void polled_process(void)
{
    pid_t pid = child(die_late, -1);
    int process = open_process(pid);
    check(process >= 0, "pidfd_open");
    pid_t other = child(await, process);
    mark("meanwhile");
    wait_for(other);
    wait_for(pid);
}

static void awaited_process(void)
{
    siginfo_t info;
    pid_t pid = child(die_late, -1);
    int process = pidfd_open(pid, 0);
    mark("meanwhile");
    check(process >= 0 && waitid(P_PIDFD, (id_t)process, &info, WEXITED) == 0, "waitid");
    mark("told");
}

static void send_to_process(int process)
{
    nap();
    mark("sending");
    check(pidfd_send_signal(process, SIGUSR1, NULL, 0) == 0, "pidfd_send_signal");
    mark("sender goes on");
}

static void signalled_process(void)
{
    block(SIGUSR1);
    int process = pidfd_open(getpid(), 0);
    check(process >= 0, "pidfd_open");
    pid_t pid = child(send_to_process, process);
    receive("member");
    wait_for(pid);
}

/* ---- timers ------------------------------------------------------------------------------------
 */

static void set(int timer, long ms)
{
    const struct itimerspec time = {.it_value = {ms / 1000, ms % 1000 * 1000000}};
    check(timerfd_settime(timer, 0, &time, NULL) == 0, "timerfd_settime");
}

static void set_late(int timer)
{
    nap();
    mark("setting");
    set(timer, 10);
    mark("setter goes on");
}

static void read_timer(int timer)
{
    uint64_t times;
    check(read(timer, &times, sizeof(times)) == sizeof(times), "read");
}

/* Set by another process; then by its reader itself, and put off by the other one behind that.
 */
static void timer(void)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    pid_t pid = child(set_late, fd);
    read_timer(fd);
    mark("gone off");
    wait_for(pid);
}

static void set_for_later(int timer)
{
    mark("setting");
    set(timer, 3600000);
}

static void own_timer(void)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    pid_t pid = child(set_for_later, fd);
    wait_for(pid);
    pid = child(die_late, -1);
    set(fd, 10);
    read_timer(fd);
    mark("gone off");
    wait_for(pid);
}

int main(int argc, char **argv)
{
    static const struct scene scenes[] = {
        {"group", group},
        {"own-group", own_group},
        {"killed-leader", killed_leader},
        {"two-senders", two_senders},
        {"polled-process", polled_process},
        {"awaited-process", awaited_process},
        {"signalled-process", signalled_process},
        {"timer", timer},
        {"own-timer", own_timer},
    };
    return run_scene(scenes, sizeof(scenes) / sizeof(scenes[0]), argc, argv);
}
