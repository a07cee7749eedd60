/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exec family. The event is written before the call, since nothing comes after it, and again
 * with its errno where it failed. All forms end in execve or execvpe with an environment that holds
 * our entries.
 */
#include "capture/exec.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "capture/hooks.h"
#include "capture/pages.h"
#include "capture/process.h"
#include "capture/raw.h"

#define ARGUMENTS_MAX 4096 /* of execl and its like; more are passed through as they are given */

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
            if (raw_call3(SYS_faccessat, AT_FDCWD, (long)room, X_OK) == 0) {
                return room;
            }
        }
        at += length;
        if (*at == '\0') {
            return name;
        }
    }
}

static const char *found_path(const struct exec_call *exec, char *room, size_t size)
{
    if (exec->form != BY_SEARCH || exec->path == NULL) {
        return exec->path;
    }
    return cap_exec_search(exec->path, room, size);
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

static void count_unseen(enum cap_target target)
{
    if (target == CAP_TARGET_STATIC) {
        cap_unseen(WIO_UNSEEN_STATIC_EXEC);
    } else if (target == CAP_TARGET_FOREIGN) {
        cap_unseen(WIO_UNSEEN_FOREIGN_EXEC);
    } else if (target == CAP_TARGET_SECURE) {
        cap_unseen(WIO_UNSEEN_SETUID_EXEC);
    }
}

static void describe(struct cap_thread *self, const struct exec_call *exec, const char *path,
                     struct cap_event *ev)
{
    ev->begin = cap_now();
    if (exec->form == BY_FD || (exec->form == BY_AT && (path == NULL || path[0] == '\0'))) {
        ev->fd = exec->fd;
        ev->path = cap_fd_path(self, exec->fd);
    } else {
        ev->path = cap_string(self, exec->form == BY_AT ? exec->fd : AT_FDCWD, path);
    }
    ev->end = ev->begin;
}

static int run(const struct exec_call *exec)
{
    char room[CAP_PATH_MAX];
    struct cap_thread *self = cap_enter(exec->source, exec->call);
    bool is_known = (exec->form == BY_FD || exec->path != NULL) && cap_is_readable(exec->path);
    const char *path = is_known ? found_path(exec, room, sizeof(room)) : NULL;
    enum cap_target target = CAP_TARGET_GOOD;
    if (is_known) {
        target =
            cap_exec_target(exec->form == BY_PATH || exec->form == BY_SEARCH ? AT_FDCWD : exec->fd,
                            path != NULL ? path : "");
    }
    struct cap_environment environment;
    cap_environment_init(&environment, exec->envp, target);
    struct cap_event ev = CAP_EVENT_OF(exec->call, exec->source);
    bool is_guest = self != NULL && (self->flags & WIO_EVENT_VFORK) != 0;
    if (self != NULL) {
        cap_pages_report_all(exec->source, exec->call);
        describe(self, exec, path, &ev);
        cap_emit(self, &ev);
        count_unseen(target);
    }
    if (self != NULL && !is_guest) {
        cap_mark_end(WIO_END_EXEC, 0);
    }
    int result = perform(exec, environment.entries);
    {
        CAP_KEEP_ERRNO;
        cap_environment_fini(&environment);
    }
    if (self != NULL) {
        if (!is_guest) {
            cap_mark_end(WIO_END_NONE, 0);
        }
        ev.end = cap_now();
        ev.result = result;
        ev.error = errno;
        cap_emit(self, &ev);
    }
    return result;
}

CAP_EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
    return run(&(struct exec_call){
        .call = WIO_CALL_execve, .path = path, .argv = argv, .envp = envp, .source = CAP_CALLER()});
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

CAP_EXPORT int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
    return run(&(struct exec_call){.call = WIO_CALL_execveat,
                                   .form = BY_AT,
                                   .fd = fd,
                                   .path = path,
                                   .argv = argv,
                                   .envp = envp,
                                   .flags = flags,
                                   .source = CAP_CALLER()});
}

/* Arguments of execl and its like, in a list; false where they are more than fit. */
static bool list_arguments(va_list arguments, const char *first, char **list)
{
    size_t count = 0;
    list[count++] = (char *)(uintptr_t)first;
    while (list[count - 1] != NULL) {
        if (count == ARGUMENTS_MAX) {
            errno = E2BIG;
            return false;
        }
        list[count++] = va_arg(arguments, char *);
    }
    return true;
}

CAP_EXPORT int execl(const char *path, const char *arg, ...)
{
    char *list[ARGUMENTS_MAX];
    va_list arguments;
    va_start(arguments, arg);
    bool fits = list_arguments(arguments, arg, list);
    va_end(arguments);
    return !fits ? -1
                 : run(&(struct exec_call){.call = WIO_CALL_execl,
                                           .path = path,
                                           .argv = list,
                                           .envp = environ,
                                           .source = CAP_CALLER()});
}

CAP_EXPORT int execlp(const char *file, const char *arg, ...)
{
    char *list[ARGUMENTS_MAX];
    va_list arguments;
    va_start(arguments, arg);
    bool fits = list_arguments(arguments, arg, list);
    va_end(arguments);
    return !fits ? -1
                 : run(&(struct exec_call){.call = WIO_CALL_execlp,
                                           .form = BY_SEARCH,
                                           .path = file,
                                           .argv = list,
                                           .envp = environ,
                                           .source = CAP_CALLER()});
}

CAP_EXPORT int execle(const char *path, const char *arg, ...)
{
    char *list[ARGUMENTS_MAX];
    char *const *envp = NULL;
    va_list arguments;
    va_start(arguments, arg);
    bool fits = list_arguments(arguments, arg, list);
    if (fits) {
        envp = va_arg(arguments, char *const *);
    }
    va_end(arguments);
    return !fits ? -1
                 : run(&(struct exec_call){.call = WIO_CALL_execle,
                                           .path = path,
                                           .argv = list,
                                           .envp = envp,
                                           .source = CAP_CALLER()});
}
