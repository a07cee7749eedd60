/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/control/task_state.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

enum { TEXT_BYTES = 1024 };

/* A call that can end because time is over, and how that is seen in its arguments. */
enum limit {
    ALWAYS,       /* sleeping itself */
    POINTER,      /* the argument points to a time limit, NULL: none */
    MILLISECONDS, /* the argument is a number, negative: no limit */
};

static const struct {
    long number;
    enum limit limit;
    int argument; /* from 0 */
} timed[] = {
#if defined(SYS_nanosleep)
    {SYS_nanosleep, ALWAYS, 0},
#endif
    {SYS_clock_nanosleep, ALWAYS, 0},
    {SYS_restart_syscall, ALWAYS, 0}, /* a sleep that a signal interrupted: which, is not told */
    {SYS_futex, POINTER, 3},
#if defined(SYS_poll)
    {SYS_poll, MILLISECONDS, 2},
    {SYS_select, POINTER, 4},
    {SYS_epoll_wait, MILLISECONDS, 3},
#endif
    {SYS_ppoll, POINTER, 2},
    {SYS_pselect6, POINTER, 4},
    {SYS_epoll_pwait, MILLISECONDS, 3},
#if defined(SYS_epoll_pwait2)
    {SYS_epoll_pwait2, POINTER, 3},
#endif
    {SYS_rt_sigtimedwait, POINTER, 2},
    {SYS_io_getevents, POINTER, 4},
#if defined(SYS_io_pgetevents)
    {SYS_io_pgetevents, POINTER, 4},
#endif
    {SYS_semtimedop, POINTER, 3},
    {SYS_mq_timedsend, POINTER, 4},
    {SYS_mq_timedreceive, POINTER, 4},
    {SYS_recvmmsg, POINTER, 4},
#if defined(SYS_futex_waitv)
    {SYS_futex_waitv, POINTER, 3},
#endif
};

/* The file's text, "" where there is none. */
static void read_text(const char *path, char text[TEXT_BYTES])
{
    WIO_CLEANUP(wio_fd_cleanup) int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, TEXT_BYTES - 1) : 0;
    text[got > 0 ? got : 0] = '\0';
}

static void read_of_task(int32_t pid, int32_t tid, const char *name, char text[TEXT_BYTES])
{
    char path[96];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
    read_text(path, text);
}

bool wio_task_parse_stat(const char *text, char *state_out, int32_t *parent_out)
{
    const char *end = strrchr(text, ')'); /* names may hold anything */
    if (end == NULL || end[1] != ' ' || end[2] == '\0' || end[3] != ' ') {
        return false;
    }
    char *behind;
    *state_out = end[2];
    *parent_out = (int32_t)strtol(end + 4, &behind, 10);
    return behind != end + 4;
}

bool wio_task_is_timed(const char *syscall_text)
{
    unsigned long long argument[6];
    char *next;
    long number = strtol(syscall_text, &next, 10);
    bool is_known = next != syscall_text;
    for (size_t i = 0; i < WIO_ARRAY_SIZE(argument); i++) {
        const char *begin = next;
        argument[i] = strtoull(begin, &next, 16);
        is_known = is_known && next != begin;
    }
    if (!is_known) {
        return true; /* "running", or not readable */
    }
    for (size_t i = 0; i < WIO_ARRAY_SIZE(timed); i++) {
        if (timed[i].number == number) {
            unsigned long long value = argument[timed[i].argument];
            return timed[i].limit == ALWAYS || (timed[i].limit == POINTER && value != 0) ||
                   (timed[i].limit == MILLISECONDS && (int32_t)value >= 0);
        }
    }
    return false;
}

void wio_task_look(int32_t pid, int32_t tid, struct wio_task_state *task_out)
{
    char text[TEXT_BYTES];
    char state;
    int32_t parent;
    *task_out = (struct wio_task_state){0};
    read_of_task(pid, tid, "stat", text);
    if (!wio_task_parse_stat(text, &state, &parent) || strchr("ZXx", state) != NULL) {
        return;
    }
    task_out->is_there = true;
    task_out->is_asleep = state == 'S';
    if (task_out->is_asleep) {
        read_of_task(pid, tid, "syscall", text);
        task_out->is_timed = wio_task_is_timed(text);
    }
    read_of_task(pid, tid, "schedstat", text);
    task_out->run_ns = strtoull(text, NULL, 10);
}

int32_t wio_task_parent(int32_t pid)
{
    char path[64];
    char text[TEXT_BYTES];
    char state;
    int32_t parent;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    read_text(path, text);
    return wio_task_parse_stat(text, &state, &parent) ? parent : 0;
}
