/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for descriptors, for time, for signals; sending signals. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "cover.h"

static const struct timespec none = {0};
static const struct timespec short_time = {.tv_nsec = 2000};
static int ends[2];

static void polls(void)
{
    struct pollfd one = {.events = POLLIN};
    (void)wio_rawcall3(SYS_pipe2, P(ends), 0, 0);
    one.fd = ends[0];
    CALL(INT, "poll", P(&one), 1, 0);
    EXPECT("size=0");
    CALL(INT, "__poll", P(&one), 1, 1);
    EXPECT("size=1000000");
    (void)wio_rawcall3(SYS_write, ends[1], P("x"), 1);
    CALL(INT, "__poll_chk", P(&one), 1, -1, sizeof(one));
    EXPECT0();
    CALL(INT, "ppoll", P(&one), 1, P(&short_time), 0);
    EXPECT("size=2000");
    CALL(INT, "__ppoll_chk", P(&one), 1, 0, 0, sizeof(one));
    EXPECT0();
    CALL(INT, "poll", 8, 1, 0);
    EXPECT("size=0");
}

/* R-CHAN-9: of a process that lives, and of one that has ended */
static void processes(void)
{
    const int pid = getpid();
    long own = CALL(INT, "pidfd_open", pid, 0);
    EXPECT("path=* a0=%d a1=0", pid);
    CALL(INT, "pidfd_send_signal", own, 0, 0, 0);
    EXPECT("fd=%ld path=* a0=%d a1=0", own, pid);
    const int child = (int)wio_rawcall6(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
    if (child == 0) {
        (void)wio_rawcall3(SYS_exit_group, 0, 0, 0);
    }
    long other = CALL(INT, "pidfd_open", child, 0);
    EXPECT("path=* a0=%d a1=0", child);
    struct pollfd both[] = {{.fd = (int)own, .events = POLLIN},
                            {.fd = (int)other, .events = POLLIN}};
    CALL(INT, "poll", P(both), 2, 10000);
    EXPECT("fd=%ld path=* size=10000000000", other);
    (void)wio_rawcall4(SYS_wait4, child, 0, 0, 0);
    cover_close(other, "*");
    cover_close(own, "*");
}

static void selects(void)
{
    static const char *const symbols[] = {"select", "__select"};
    fd_set set;
    for (size_t i = 0; i < 2; i++) {
        struct timeval limit = {.tv_usec = 3};
        FD_ZERO(&set);
        FD_SET(ends[0], &set);
        CALL(INT, symbols[i], ends[0] + 1, P(&set), 0, 0, P(&limit));
        EXPECT("size=3000");
    }
    CALL(INT, "pselect", ends[0] + 1, P(&set), 0, 0, P(&short_time), 0);
    EXPECT("size=2000");
}

static void epolls(void)
{
    int fd = (int)wio_rawcall3(SYS_epoll_create1, 0, 0, 0);
    struct epoll_event event = {.events = EPOLLIN};
    (void)wio_rawcall4(SYS_epoll_ctl, fd, EPOLL_CTL_ADD, ends[0], P(&event));
    CALL(INT, "epoll_wait", fd, P(&event), 1, 5);
    EXPECT("fd=%d path=* size=5000000", fd);
    CALL(INT, "epoll_pwait", fd, P(&event), 1, -1, 0);
    EXPECT("fd=%d path=*", fd);
    CALL(INT, "epoll_pwait2", fd, P(&event), 1, P(&none), 0);
    EXPECT("fd=%d path=* size=0", fd);
    cover_close(fd, "*");
}

static void sleeps(void)
{
    static const char *const symbols[] = {"nanosleep", "__nanosleep", "thrd_sleep"};
    const struct timespec past = {.tv_sec = 1};
    CALL(UNSIGNED, "sleep", 0);
    EXPECT("size=0");
    CALL(INT, "usleep", 7);
    EXPECT("size=7000");
    for (size_t i = 0; i < 3; i++) {
        CALL(INT, symbols[i], P(&short_time), 0);
        EXPECT("size=2000");
    }
    CALL(INT, "clock_nanosleep", CLOCK_MONOTONIC, 0, P(&short_time), 0);
    EXPECT("size=2000");
    CALL(INT, "clock_nanosleep", CLOCK_REALTIME, TIMER_ABSTIME, P(&past), 0);
    EXPECT("size=0");
    cover_last.error = (int)CALL(INT, "clock_nanosleep", 77, 0, P(&short_time), 0);
    cover_last.error_is_result = true;
    EXPECT("size=2000");
}

static void senders(void)
{
    const int pid = getpid();
    const union sigval value = {0};
    const pthread_t self = pthread_self();
    CALL(INT, "kill", pid, 0);
    EXPECT("a0=%d a1=0", pid);
    CALL(INT, "kill", pid, 1000);
    EXPECT("a0=%d a1=1000", pid);
    CALL(INT, "killpg", getpgrp(), 0);
    EXPECT("a0=%d a1=0", -getpgrp());
    CALL(INT, "raise", 0);
    EXPECT("a0=%d a1=0 a2=%d", pid, pid);
    CALL(INT, "pthread_kill", (long)self, 0);
    EXPECT("a0=%d a1=0 a2=%ld", pid, (long)self);
    CALL(INT, "tgkill", pid, pid, 0);
    EXPECT("a0=%d a1=0 a2=%d", pid, pid);
    CALL(INT, "sigqueue", pid, 0, P(value.sival_ptr));
    EXPECT("a0=%d a1=0", pid);
    CALL(INT, "pthread_sigqueue", (long)self, SIGCONT, P(value.sival_ptr));
    EXPECT("a0=%d a1=%d a2=%ld", pid, SIGCONT, (long)self);
}

static void nothing(int signal)
{
    (void)signal;
}

static void pend(void)
{
    (void)wio_rawcall3(SYS_kill, getpid(), SIGUSR1, 0);
}

/* R-SYNC-9 */
static void receivers(void)
{
    const int pid = getpid();
    sigset_t set;
    sigset_t empty;
    siginfo_t info;
    int signal;
    (void)sigemptyset(&empty);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGUSR1);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    pend();
    CALL(INT, "sigwait", P(&set), P(&signal));
    EXPECT("a0=%d a1=%d", pid, SIGUSR1);
    pend();
    CALL(INT, "sigwaitinfo", P(&set), P(&info));
    EXPECT("a0=%d a1=%d", pid, SIGUSR1);
    pend();
    CALL(INT, "sigtimedwait", P(&set), 0, P(&none));
    EXPECT("a0=%d a1=%d", pid, SIGUSR1);
    CALL(INT, "sigtimedwait", P(&set), P(&info), P(&none));
    EXPECT("a0=0 a1=0");
    const struct sigaction action = {.sa_handler = nothing};
    (void)sigaction(SIGUSR1, &action, NULL);
    (void)sigaction(SIGALRM, &action, NULL);
    static const char *const suspends[] = {"sigsuspend", "__sigsuspend"};
    for (size_t i = 0; i < 2; i++) {
        pend();
        CALL(INT, suspends[i], P(&empty));
        EXPECT0();
    }
    pend();
    CALL(INT, "sigpause", 0);
    EXPECT0();
    pend();
    CALL(INT, "__sigpause", SIGUSR1, 1);
    EXPECT0();
    pend();
    CALL(INT, "__xpg_sigpause", SIGUSR1);
    EXPECT0();
    /* Again and again: the first may come before the pause. */
    const struct itimerval often = {{.tv_usec = 2000}, {.tv_usec = 2000}};
    const struct itimerval never = {0};
    (void)wio_rawcall3(SYS_setitimer, ITIMER_REAL, P(&often), 0);
    CALL0(INT, "pause");
    (void)wio_rawcall3(SYS_setitimer, ITIMER_REAL, P(&never), 0);
    EXPECT0();
}

COVER_MAIN(polls, processes, selects, epolls, sleeps, senders, receivers)
