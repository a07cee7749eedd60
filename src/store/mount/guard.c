/* SPDX-License-Identifier: Apache-2.0 */
#include "store/mount/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/system/mounts.h"

enum { MOUNTS_MOST = 16 << 20 };

/* Of several at that place the last one, which hides the others. */
static bool is_store(const char *point)
{
    static const char type[] = "fuse.whyio"; /* the subtype that mount.c gives */
    struct wio_mount mount;
    WIO_CLEANUP(wio_blob_fini) struct wio_blob mounts = {0};
    return wio_io_read_file("/proc/self/mountinfo", MOUNTS_MOST, &mounts, NULL) == WIO_OK &&
           wio_mount_find((const char *)mounts.data, point, &mount) &&
           strcmp(mount.place, point) == 0 && strcmp(mount.type, type) == 0;
}

/* The kernel says so of a mount whose process has ended; ECONNABORTED where it ended meanwhile. */
static bool is_dead(const char *point)
{
    struct stat status;
    return lstat(point, &status) != 0 && (errno == ENOTCONN || errno == ECONNABORTED) &&
           is_store(point);
}

/* In a process of its own, which ends. User 0 of a user namespace may not unmount what was mounted
 * outside of it (EPERM), which fusermount3 may be allowed to. */
static _Noreturn void free_and_exit(const char *point)
{
    if (geteuid() == 0) {
        const int failed = umount2(point, MNT_DETACH | UMOUNT_NOFOLLOW);
        if (failed == 0 || errno != EPERM) {
            _exit(failed == 0 ? 0 : 1); /* house: allow exit: child after fork */
        }
    }
    (void)execlp("fusermount3", "fusermount3", "-u", "-z", "-q", "--", point, (char *)NULL);
    _exit(1); /* house: allow exit: child after fork */
}

bool mount_guard_free(const char *point)
{
    int status = 0;
    if (!is_dead(point)) {
        return false;
    }
    pid_t process = fork();
    if (process == 0) {
        free_and_exit(point);
    }
    while (process > 0 && waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return process > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Nothing of the mount's process is kept but the socket: a reader of its output sees the end. */
static void let_go(int *end)
{
    sigset_t all;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    (void)setsid();
    if (dup2(*end, STDIN_FILENO) == STDIN_FILENO) {
        *end = STDIN_FILENO;
        (void)syscall(SYS_close_range, STDIN_FILENO + 1, ~0u, 0);
        (void)open("/dev/null", O_WRONLY | O_CLOEXEC); /* 1 */
        (void)open("/dev/null", O_WRONLY | O_CLOEXEC); /* 2 */
    }
}

static _Noreturn void guard_main(int end, const char *point)
{
    char byte = 0;
    ssize_t got = 0;
    let_go(&end);
    while ((got = read(end, &byte, 1)) < 0 && errno == EINTR) {
    }
    if (got == 0 && is_dead(point)) {
        free_and_exit(point);
    }
    _exit(0); /* house: allow exit: child after fork */
}

enum wio_status mount_guard_begin(struct mount_guard *guard, const char *point,
                                  struct wio_error *err)
{
    int ends[2];
    *guard = (struct mount_guard){.alive = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return wio_error_sys(err, point, "cannot make a pair of sockets");
    }
    guard->process = fork();
    if (guard->process == 0) {
        (void)close(ends[1]);
        guard_main(ends[0], point);
    }
    const int failed = errno;
    (void)close(ends[0]);
    if (guard->process < 0) {
        (void)close(ends[1]);
        errno = failed;
        return wio_error_sys(err, point, "cannot make a process");
    }
    guard->alive = ends[1];
    return WIO_OK;
}

void mount_guard_end(struct mount_guard *guard)
{
    if (guard->alive < 0) {
        return;
    }
    /* a guard that was killed is no reason for SIGPIPE */
    while (send(guard->alive, "", 1, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
    (void)close(guard->alive);
    while (waitpid(guard->process, NULL, 0) < 0 && errno == EINTR) {
    }
    guard->alive = -1;
}
