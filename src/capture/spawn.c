/* SPDX-License-Identifier: Apache-2.0 */
/* posix_spawn and system: a child that begins as another program. What libc's child does before its
 * exec is inside libc and not seen. */
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fmt.h"
#include "capture/exec.h"
#include "capture/hold.h"
#include "capture/hooks.h"
#include "capture/inside.h"
#include "capture/process.h"
#include "capture/raw.h"

typedef int spawn_fn(pid_t *, const char *, const posix_spawn_file_actions_t *,
                     const posix_spawnattr_t *, char *const[], char *const[]);

struct spawn_call {
    unsigned call;
    const char *path;
    const posix_spawn_file_actions_t *actions;
    const posix_spawnattr_t *attributes;
    char *const *argv;
    char *const *envp;
    uintptr_t source;
};

/* The program that will run; NULL where it is relative to a directory that only the child knows, or
 * cannot be read. */
static const char *program_of(const struct spawn_call *spawn, char *room, size_t size)
{
    if (!cap_is_readable(spawn->path)) {
        return NULL;
    }
    bool is_searched = spawn->call == WIO_CALL_posix_spawnp;
    const char *path = is_searched ? cap_exec_search(spawn->path, room, size) : spawn->path;
    bool is_elsewhere = spawn->actions != NULL && path[0] != '/' && cap_spawn_moves();
    return is_elsewhere ? NULL : path;
}

static int run(pid_t *pid, const struct spawn_call *spawn)
{
    spawn_fn *real = (spawn_fn *)cap_real(spawn->call);
    struct cap_thread *self = cap_enter(spawn->source, spawn->call);
    pid_t own_pid = 0;
    pid_t *child = pid != NULL ? pid : &own_pid;
    char room[CAP_PATH_MAX];
    const char *path = program_of(spawn, room, sizeof(room));
    enum cap_target target = path != NULL ? cap_exec_target(AT_FDCWD, path) : CAP_TARGET_GOOD;
    struct cap_environment environment;
    cap_environment_init(&environment, spawn->envp, target);
    cap_fd_share_all(spawn->actions == NULL); /* they may duplicate what else is not inherited */
    struct cap_event ev = CAP_EVENT_OF(spawn->call, spawn->source);
    cap_hold_announce(target == CAP_TARGET_GOOD ? self : NULL);
    ev.begin = cap_begin(self);
    int result = real(child, spawn->path, spawn->actions, spawn->attributes, spawn->argv,
                      environment.entries);
    ev.end = cap_now();
    cap_environment_fini(&environment);
    if (self == NULL) {
        return result;
    }
    if (target == CAP_TARGET_STATIC || target == CAP_TARGET_FOREIGN) {
        cap_unseen(target == CAP_TARGET_STATIC ? WIO_UNSEEN_STATIC_EXEC : WIO_UNSEEN_FOREIGN_EXEC);
    } else if (target == CAP_TARGET_SECURE) {
        cap_unseen(WIO_UNSEEN_SETUID_EXEC);
    }
    if (result != 0 && target == CAP_TARGET_GOOD) {
        cap_hold_cancel(self);
    }
    ev.error = result;
    ev.result = result == 0 ? *child : -1;
    ev.path = cap_path_of(self, AT_FDCWD, path, result);
    ev.offset = 0;
    ev.size = result == 0 ? (uint64_t)*child : 0;
    cap_emit(self, &ev);
    return result;
}

/* The latest child that this thread made and nobody has waited for, by the kernel's list; 0 where
 * there is none or the kernel keeps no list. */
static int32_t latest_child(void)
{
    char text[256];
    uint64_t pid = 0;
    uint64_t latest = 0;
    long fd = raw_openat(AT_FDCWD, "/proc/thread-self/children", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) {
        return 0;
    }
    for (long got; (got = raw_read((int)fd, text, sizeof(text))) > 0;) {
        for (long i = 0; i < got; i++) { /* "12 345 ": each number has a blank behind it */
            bool is_digit = text[i] >= '0' && text[i] <= '9';
            latest = is_digit ? latest : pid;
            pid = is_digit ? pid * 10 + (uint64_t)(text[i] - '0') : 0;
        }
    }
    (void)raw_close((int)fd);
    return (int32_t)latest;
}

/* Field 22 of /proc/PID/stat, in hundredths of a second since the machine began; fields before it
 * are numbers but for the second, a name in brackets. */
static bool start_of(int32_t pid, uint64_t *ticks_out)
{
    char path[48];
    char text[1024];
    struct wio_fmt fmt = wio_fmt_of(path, sizeof(path));
    wio_fmt_str(&fmt, "/proc/");
    wio_fmt_i64(&fmt, pid);
    wio_fmt_str(&fmt, "/stat");
    long fd = raw_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    long got = fd >= 0 ? raw_read((int)fd, text, sizeof(text) - 1) : -1;
    if (fd >= 0) {
        (void)raw_close((int)fd);
    }
    text[got > 0 ? got : 0] = '\0';
    const char *at = strrchr(text, ')');
    for (unsigned field = 2; at != NULL && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    at = at != NULL ? at + 1 : NULL;
    return at != NULL && wio_scan_u64(&at, ticks_out);
}

struct cap_child_mark cap_child_mark(void)
{
    struct timespec now = {0};
    (void)raw_call3(SYS_clock_gettime, CLOCK_BOOTTIME, (long)&now, 0);
    return (struct cap_child_mark){.ticks = (uint64_t)now.tv_sec * 100u +
                                            (uint64_t)now.tv_nsec / 10000000u,
                                   .latest = latest_child()};
}

int32_t cap_child_since(const struct cap_child_mark *mark)
{
    uint64_t start;
    int32_t child = latest_child();
    /* where another thread has waited for both, the latest one is older */
    bool is_new =
        child > 0 && child != mark->latest && start_of(child, &start) && start >= mark->ticks;
    return is_new ? child : 0;
}

#define DEFINE_SPAWN(symbol)                                                                       \
    CAP_EXPORT int symbol(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, \
                          const posix_spawnattr_t *attributes, char *const argv[],                 \
                          char *const envp[])                                                      \
    {                                                                                              \
        return run(pid, &(struct spawn_call){WIO_CALL_##symbol, path, actions, attributes, argv,   \
                                             envp, CAP_CALLER()});                                 \
    }

DEFINE_SPAWN(posix_spawn)
DEFINE_SPAWN(posix_spawnp)

CAP_EXPORT int system(const char *command)
{
    const uintptr_t source = CAP_CALLER();
    struct cap_thread *self = cap_enter(source, WIO_CALL_system);
    cap_fd_share_all(true);
    struct cap_environ swapped;
    cap_environ_init(&swapped);
    struct cap_event ev = CAP_EVENT(system, source);
    struct cap_ext ext = CAP_EXT;
    cap_hold_announce(self);
    ev.begin = cap_begin(self);
    int result = CAP_REAL(system)(command);
    ev.end = cap_now();
    cap_environ_fini(&swapped);
    if (self == NULL) {
        return result;
    }
    ev.result = result;
    ev.error = result < 0 ? errno : 0;
    ext.path2 = cap_string_of(self, 0, command);
    cap_emit_ext(self, &ev, &ext);
    return result;
}
