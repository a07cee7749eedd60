/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/backend/undo_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

/* No signal reaches the process, neither from the terminal nor one to the caller's group. */
static void live_alone(void)
{
    sigset_t all;
    sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    (void)setpgid(0, 0);
}

/* Nothing is written into these pipes: reading ends when the last other end is closed. */
static void wait_for_end(int fd)
{
    char byte;
    while (read(fd, &byte, 1) < 0 && errno == EINTR) {
    }
}

static void watch(const struct wio_guard *guard, const int ends[2], int ready)
{
    struct wio_error err = WIO_ERROR_INIT;
    live_alone();
    (void)close(ready);
    (void)close(ends[1]);
    wait_for_end(ends[0]);
    bool is_undone = guard->undo(guard->arg, &err) == WIO_OK;
    _exit(is_undone ? 0 : 1); /* house: allow exit: child after fork */
}

enum wio_status wio_guard_start(struct wio_guard *guard, wio_guard_fn *undo, void *arg,
                                struct wio_error *err)
{
    int ends[2];
    int ready[2];
    *guard = (struct wio_guard){.undo = undo, .arg = arg, .pid = -1, .fd = -1};
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return wio_error_sys(err, NULL, "cannot make a pipe");
    }
    if (pipe2(ready, O_CLOEXEC) != 0) {
        int cause = errno;
        (void)close(ends[0]);
        (void)close(ends[1]);
        errno = cause;
        return wio_error_sys(err, NULL, "cannot make a pipe");
    }
    guard->pid = fork();
    if (guard->pid == 0) {
        watch(guard, ends, ready[1]);
    }
    int cause = errno;
    if (guard->pid > 0) {
        (void)setpgid(guard->pid, guard->pid); /* in both processes: either may be first */
    }
    (void)close(ends[0]);
    (void)close(ready[1]);
    wait_for_end(ready[0]); /* until no signal reaches it any more */
    (void)close(ready[0]);
    guard->fd = ends[1];
    if (guard->pid < 0) {
        wio_fd_cleanup(&guard->fd);
        errno = cause;
        return wio_error_sys(err, NULL, "cannot start a process");
    }
    return WIO_OK;
}

enum wio_status wio_guard_end(struct wio_guard *guard, struct wio_error *err)
{
    int status = 0;
    pid_t ended;
    wio_fd_cleanup(&guard->fd);
    do {
        ended = waitpid(guard->pid, &status, 0);
    } while (ended < 0 && errno == EINTR);
    if (ended == guard->pid && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return WIO_OK;
    }
    return guard->undo(guard->arg, err);
}
