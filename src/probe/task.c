/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/task.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fmt.h"
#include "base/io.h"
#include "base/system/proc_text.h"

#define PIDFD_OF_THREAD O_EXCL /* PIDFD_THREAD of linux/pidfd.h */
#define PID_FS 0x50494446u     /* PID_FS_MAGIC of linux/magic.h */
#define NAME_BYTES 64u
#define STAT_BYTES 1024u

static int pidfd_open_flags(uint32_t tid, unsigned flags)
{
    return (int)syscall(SYS_pidfd_open, (pid_t)tid, flags);
}

/* Before Linux 6.15 the pidfd of a thread that calls exec may not tell that its id is free. */
static bool is_kernel(uint64_t major, uint64_t minor)
{
    struct utsname name;
    uint64_t has_major = 0;
    uint64_t has_minor = 0;
    if (uname(&name) != 0) {
        return false;
    }
    const char *at = name.release;
    if (!wio_scan_u64(&at, &has_major) || *at++ != '.' || !wio_scan_u64(&at, &has_minor)) {
        return false;
    }
    return has_major > major || (has_major == major && has_minor >= minor);
}

bool wio_task_system_init(struct wio_task_system *system)
{
    struct statfs fs;
    *system = (struct wio_task_system){.proc = -1};
    WIO_CLEANUP(wio_fd_cleanup) int own = pidfd_open_flags((uint32_t)getpid(), 0);
    if (own < 0) {
        return false;
    }
    WIO_CLEANUP(wio_fd_cleanup)
    int thread = pidfd_open_flags((uint32_t)syscall(SYS_gettid), PIDFD_OF_THREAD);
    system->has_thread_fds = thread >= 0 && is_kernel(6, 15);
    system->has_unique_inos = fstatfs(own, &fs) == 0 && (uint32_t)fs.f_type == PID_FS;
    system->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return system->proc >= 0;
}

static const char *name_of(char *name, uint32_t tid, const char *file)
{
    struct wio_fmt text = wio_fmt_of(name, NAME_BYTES);
    wio_fmt_u64(&text, tid);
    if (file[0] != '\0') {
        wio_fmt_str(&text, "/");
        wio_fmt_str(&text, file);
    }
    return name;
}

int64_t wio_task_read(const struct wio_task_system *system, uint32_t tid, const char *file,
                      char *buffer, size_t size)
{
    char name[NAME_BYTES];
    WIO_CLEANUP(wio_fd_cleanup)
    int fd = openat(system->proc, name_of(name, tid, file), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    ssize_t got;
    do { /* these files give all that fits at once */
        got = read(fd, buffer, size);
    } while (got < 0 && errno == EINTR);
    return got;
}

/* The inode of its pidfd; where that is no such number, when it started. */
static bool find_birth(const struct wio_task_system *system, struct wio_probe_task *task)
{
    struct stat status;
    char text[STAT_BYTES];
    if (system->has_unique_inos && task->kind != WIO_TASK_UNTOLD) {
        const bool is_there = fstat(task->fd, &status) == 0;
        task->birth = is_there ? (uint64_t)status.st_ino : 0;
        return is_there;
    }
    const int64_t bytes = wio_task_read(system, task->tid, "stat", text, sizeof(text));
    return bytes > 0 && wio_proc_stat_start(text, (size_t)bytes, &task->birth) &&
           wio_task_is_alive(task->fd, task->kind);
}

static void finish_open(const struct wio_task_system *system, struct wio_probe_task *task,
                        enum wio_probe_task_kind kind)
{
    task->error = errno;
    if (task->fd < 0) {
        return;
    }
    task->kind = kind;
    if (!find_birth(system, task)) {
        wio_task_close(task);
        task->error = ESRCH;
    }
}

void wio_task_open_process(const struct wio_task_system *system, uint32_t tid,
                           struct wio_probe_task *task_out)
{
    *task_out = (struct wio_probe_task){.fd = pidfd_open_flags(tid, 0), .tid = tid};
    finish_open(system, task_out, WIO_TASK_PROCESS);
}

void wio_task_open_thread(const struct wio_task_system *system, uint32_t tid,
                          struct wio_probe_task *task_out)
{
    char name[NAME_BYTES];
    *task_out = (struct wio_probe_task){.fd = -1, .tid = tid};
    if (system->has_thread_fds) {
        task_out->fd = pidfd_open_flags(tid, PIDFD_OF_THREAD);
        finish_open(system, task_out, WIO_TASK_THREAD);
    } else {
        task_out->fd = openat(system->proc, name_of(name, tid, ""),
                              O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        finish_open(system, task_out, WIO_TASK_UNTOLD);
    }
}

void wio_task_close(struct wio_probe_task *task)
{
    wio_fd_cleanup(&task->fd);
    task->kind = WIO_TASK_NONE;
}

bool wio_task_is_alive(int fd, enum wio_probe_task_kind kind)
{
    if (kind == WIO_TASK_UNTOLD) {
        struct stat status;
        return fstatat(fd, "stat", &status, AT_SYMLINK_NOFOLLOW) == 0;
    }
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    return poll(&poll_fd, 1, 0) == 0;
}
