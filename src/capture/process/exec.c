/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exec family. The event is written before the call, since nothing comes after it, and again
 * with its errno where it failed. All forms end in execve or execvpe with an environment that holds
 * our entries.
 */
#include "capture/process/exec.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "capture/core/environment.h"
#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/files/hooks.h"
#include "capture/mmap/pages.h"
#include "capture/process/process_numbers.h"
#include "capture/throttle/hold.h"

enum form { BY_PATH, BY_SEARCH, BY_FD, BY_AT };

struct exec_call {
    unsigned call;
    enum form form;
    int fd;
    const char *path;
    char *const *argv;
    char *const *envp;
    int flags;
    uintptr_t source;
};

/* A directory may be searched, not executed: libc goes on behind it. */
static bool is_runnable(const char *path)
{
    struct stat st = {0};
    return raw_call3(SYS_faccessat, AT_FDCWD, (long)path, X_OK) == 0 &&
           raw_call4(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, 0) == 0 &&
           !S_ISDIR(st.st_mode);
}

const char *cap_exec_search(const char *name, char *room, size_t size)
{
    if (strchr(name, '/') != NULL) {
        return name;
    }
    const char *at = cap_getenv("PATH");
    at = at != NULL ? at : "/bin:/usr/bin";
    size_t name_bytes = strlen(name);
    for (;; at++) {
        size_t length = strcspn(at, ":");
        if (length + name_bytes + 2 <= size) {
            memcpy(room, at, length);
            room[length] = '/';
            memcpy(room + length + (length > 0), name, name_bytes + 1);
            if (is_runnable(room)) {
                return room;
            }
        }
        at += length;
        if (*at == '\0') {
            return name;
        }
    }
}

static int perform(const struct exec_call *exec, char *const *envp)
{
    if (exec->form == BY_SEARCH) {
        return CAP_REAL(execvpe)(exec->path, exec->argv, envp);
    }
    if (exec->form == BY_FD) {
        return CAP_REAL(fexecve)(exec->fd, exec->argv, envp);
    }
    if (exec->form == BY_AT) {
        return CAP_REAL(execveat)(exec->fd, exec->path, exec->argv, envp, exec->flags);
    }
    return CAP_REAL(execve)(exec->path, exec->argv, envp);
}

static void describe(struct cap_thread *self, const struct exec_call *exec, const char *path,
                     struct cap_event *ev)
{
    ev->begin = cap_begin(self);
    if (exec->form == BY_FD || (exec->form == BY_AT && (path == NULL || path[0] == '\0'))) {
        ev->fd = exec->fd;
        ev->path = cap_fd_path(self, exec->fd);
    } else {
        ev->path = cap_string(self, exec->form == BY_AT ? exec->fd : AT_FDCWD, path);
    }
    ev->end = ev->begin;
}

static enum cap_target target_of(const struct exec_call *exec, const char *path)
{
    if (exec->form == BY_FD) {
        return cap_exec_target(exec->fd, "");
    }
    return cap_exec_target(exec->form == BY_AT ? exec->fd : AT_FDCWD, path);
}

/* `path` is what will run, NULL where that is unknown. */
static int run_path(const struct exec_call *exec, const char *path)
{
    struct cap_thread *self = cap_enter(exec->source, exec->call);
    enum cap_target target = target_of(exec, path);
    struct cap_environment environment;
    cap_environment_init(&environment, exec->envp, target);
    struct cap_event ev = CAP_EVENT_OF(exec->call, exec->source);
    bool is_guest = self != NULL && (self->flags & WIO_EVENT_VFORK) != 0;
    if (self != NULL) {
        cap_pages_report_all(exec->source, exec->call);
        describe(self, exec, path, &ev);
        cap_emit(self, &ev);
        cap_exec_count(cap_exec_ask_tracer(target, WIO_TRACE_EXEC) ? CAP_TARGET_GOOD : target);
    }
    if (self != NULL && !is_guest) {
        cap_mark_end(WIO_END_EXEC, 0);
    }
    cap_hold_before_exec(self, target == CAP_TARGET_GOOD);
    if (is_guest) {
        cap_exec_leave(self, &environment);
    }
    int result = perform(exec, environment.entries);
    cap_environment_fini(&environment);
    if (self != NULL) {
        self->process.left = NULL;
        if (!is_guest) {
            cap_mark_end(WIO_END_NONE, 0);
        }
        cap_hold_after_exec(self, target == CAP_TARGET_GOOD);
        ev.end = cap_now();
        ev.result = result;
        ev.error = errno;
        cap_emit(self, &ev);
    }
    return result;
}

/* The room is not for the stack of execve's caller: that may be a signal handler's. */
__attribute__((noinline)) static int run_search(const struct exec_call *exec)
{
    char room[CAP_PATH_MAX];
    return run_path(exec, cap_exec_search(exec->path, room, sizeof(room)));
}

static int run(const struct exec_call *exec)
{
    if (exec->path == NULL || !cap_is_readable(exec->path)) {
        return run_path(exec, NULL);
    }
    return exec->form == BY_SEARCH ? run_search(exec) : run_path(exec, exec->path);
}

static inline int execve_as(const char *path, char *const argv[], char *const envp[],
                            uintptr_t source)
{
    return run(&(struct exec_call){
        .call = WIO_CALL_execve, .path = path, .argv = argv, .envp = envp, .source = source});
}

CAP_EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
    return execve_as(path, argv, envp, CAP_CALLER());
}

long cap_number_execve(const char *path, char *const argv[], char *const envp[])
{
    return execve_as(path, argv, envp, CAP_CALLER());
}

CAP_EXPORT int execv(const char *path, char *const argv[])
{
    return run(&(struct exec_call){.call = WIO_CALL_execv,
                                   .path = path,
                                   .argv = argv,
                                   .envp = environ,
                                   .source = CAP_CALLER()});
}

CAP_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
    return run(&(struct exec_call){.call = WIO_CALL_execvpe,
                                   .form = BY_SEARCH,
                                   .path = file,
                                   .argv = argv,
                                   .envp = envp,
                                   .source = CAP_CALLER()});
}

CAP_EXPORT int execvp(const char *file, char *const argv[])
{
    return run(&(struct exec_call){.call = WIO_CALL_execvp,
                                   .form = BY_SEARCH,
                                   .path = file,
                                   .argv = argv,
                                   .envp = environ,
                                   .source = CAP_CALLER()});
}

CAP_EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
    return run(&(struct exec_call){.call = WIO_CALL_fexecve,
                                   .form = BY_FD,
                                   .fd = fd,
                                   .argv = argv,
                                   .envp = envp,
                                   .source = CAP_CALLER()});
}

/* All but the source. */
static inline struct exec_call by_at(int fd, const char *path, char *const argv[],
                                     char *const envp[], int flags)
{
    return (struct exec_call){.call = WIO_CALL_execveat,
                              .form = BY_AT,
                              .fd = fd,
                              .path = path,
                              .argv = argv,
                              .envp = envp,
                              .flags = flags};
}

CAP_EXPORT int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
    struct exec_call exec = by_at(fd, path, argv, envp, flags);
    exec.source = CAP_CALLER();
    return run(&exec);
}

long cap_number_execveat(int fd, const char *path, char *const argv[], char *const envp[],
                         int flags)
{
    struct exec_call exec = by_at(fd, path, argv, envp, flags);
    exec.source = CAP_CALLER();
    return run(&exec);
}

/* Arguments of execl and its like with the NULL behind them. */
static size_t count_arguments(const char *first, va_list arguments)
{
    size_t count = 1;
    for (const char *at = first; at != NULL; at = va_arg(arguments, const char *)) {
        count++;
    }
    return count;
}

/* execl and its like. The list lies on the stack, as libc has it, and is no longer than it must be:
 * a child of vfork may call this, or a thread with a small stack. */
static int run_list(struct exec_call *exec, const char *first, va_list arguments)
{
    va_list ahead;
    va_copy(ahead, arguments);
    size_t count = count_arguments(first, ahead);
    va_end(ahead);
    char **list = __builtin_alloca(count * sizeof(*list));
    list[0] = (char *)(uintptr_t)first;
    for (size_t i = 1; i < count; i++) {
        list[i] = va_arg(arguments, char *);
    }
    exec->argv = list;
    if (exec->call == WIO_CALL_execle) {
        exec->envp = va_arg(arguments, char *const *);
    }
    int result = run(exec);
    exec->argv = NULL; /* the list ends here */
    return result;
}

#define DEFINE_EXECL(symbol, search)                                                               \
    CAP_EXPORT int symbol(const char *path, const char *arg, ...)                                  \
    {                                                                                              \
        struct exec_call exec = {.call = WIO_CALL_##symbol,                                        \
                                 .form = (search),                                                 \
                                 .path = path,                                                     \
                                 .envp = environ,                                                  \
                                 .source = CAP_CALLER()};                                          \
        va_list arguments;                                                                         \
        va_start(arguments, arg);                                                                  \
        int result = run_list(&exec, arg, arguments);                                              \
        va_end(arguments);                                                                         \
        return result;                                                                             \
    }

DEFINE_EXECL(execl, BY_PATH)
DEFINE_EXECL(execlp, BY_SEARCH)
DEFINE_EXECL(execle, BY_PATH)
