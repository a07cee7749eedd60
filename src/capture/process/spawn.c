/* SPDX-License-Identifier: Apache-2.0 */
/* posix_spawn and system: a child that begins as another program. What libc's child does before its
 * exec is inside libc and not seen. */
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/files/hooks.h"
#include "capture/files/libc_effects.h"
#include "capture/process/exec.h"
#include "capture/throttle/hold.h"

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
    if (spawn->path == NULL || !cap_is_readable(spawn->path)) {
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
    enum cap_target target = cap_exec_target(AT_FDCWD, path);
    struct cap_environment environment;
    cap_environment_init(&environment, spawn->envp, target);
    cap_fd_share_all(spawn->actions == NULL); /* they may duplicate what else is not inherited */
    struct cap_event ev = CAP_EVENT_OF(spawn->call, spawn->source);
    cap_hold_announce(target == CAP_TARGET_GOOD ? self : NULL);
    const bool is_traced = self != NULL && cap_exec_ask_tracer(target, WIO_TRACE_SPAWN);
    ev.begin = cap_begin(self);
    int result = real(child, spawn->path, spawn->actions, spawn->attributes, spawn->argv,
                      environment.entries);
    ev.end = cap_now();
    cap_environment_fini(&environment);
    if (self == NULL) {
        return result;
    }
    cap_exec_count(is_traced ? CAP_TARGET_GOOD : target);
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
