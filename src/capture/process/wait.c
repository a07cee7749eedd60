/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for children. */
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/rawcall.h"
#include "capture/process/process_numbers.h"
#include "capture/sync/sync.h"

struct wait_call {
    unsigned call;
    int64_t pid; /* asked for */
    int64_t options;
    uintptr_t source;
};

/* `status` is looked at where there is a child; `code` says what it tells (waitid). */
static void emit(struct cap_thread *self, struct cap_event *ev, const struct wait_call *call,
                 int64_t result, const int *status, int code)
{
    struct cap_ext ext = CAP_EXT;
    ev->end = cap_now();
    ev->result = result;
    ev->error = result < 0 ? errno : 0;
    ext.arg[0] = result > 0 ? *status : 0;
    ext.arg[1] = call->options;
    ext.arg[2] = call->pid;
    ext.arg[3] = result > 0 ? code : 0;
    cap_emit_ext(self, ev, &ext);
}

/* All forms but waitid are wait4. A status of our own stands in where the program wants none. */
static pid_t wait_as(const struct wait_call *call, int *status, struct rusage *usage)
{
    int own_status = 0;
    int *place = status != NULL ? status : &own_status;
    struct cap_thread *self = cap_enter(call->source, call->call);
    if (self == NULL) {
        return CAP_REAL(wait4)((pid_t)call->pid, status, (int)call->options, usage);
    }
    struct cap_event ev = CAP_EVENT_OF(call->call, call->source);
    ev.begin = cap_begin(self);
    cap_state_enter(self, CAP_STATE_BLOCKED);
    pid_t result = CAP_REAL(wait4)((pid_t)call->pid, place, (int)call->options, usage);
    cap_state_leave(self);
    emit(self, &ev, call, result, place, 0);
    return result;
}

CAP_EXPORT pid_t wait(int *status)
{
    return wait_as(&(struct wait_call){WIO_CALL_wait, -1, 0, CAP_CALLER()}, status, NULL);
}

CAP_EXPORT pid_t __wait(int *status);
CAP_EXPORT pid_t __wait(int *status)
{
    return wait_as(&(struct wait_call){WIO_CALL___wait, -1, 0, CAP_CALLER()}, status, NULL);
}

CAP_EXPORT pid_t waitpid(pid_t pid, int *status, int options)
{
    return wait_as(&(struct wait_call){WIO_CALL_waitpid, pid, options, CAP_CALLER()}, status, NULL);
}

CAP_EXPORT pid_t __waitpid(pid_t pid, int *status, int options);
CAP_EXPORT pid_t __waitpid(pid_t pid, int *status, int options)
{
    return wait_as(&(struct wait_call){WIO_CALL___waitpid, pid, options, CAP_CALLER()}, status,
                   NULL);
}

CAP_EXPORT pid_t wait3(int *status, int options, struct rusage *usage)
{
    return wait_as(&(struct wait_call){WIO_CALL_wait3, -1, options, CAP_CALLER()}, status, usage);
}

CAP_EXPORT pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    return wait_as(&(struct wait_call){WIO_CALL_wait4, pid, options, CAP_CALLER()}, status, usage);
}

long cap_number_wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    return wait_as(&(struct wait_call){WIO_CALL_wait4, pid, options, CAP_CALLER()}, status, usage);
}

/* libc's and the kernel's waitid in one form. */
typedef int waitid_fn(idtype_t type, id_t id, siginfo_t *info, int options, struct rusage *usage);

static int waitid_as(const struct wait_call *call, idtype_t type, waitid_fn *real, siginfo_t *info,
                     struct rusage *usage)
{
    siginfo_t own_info = {0};
    siginfo_t *place = info != NULL ? info : &own_info;
    struct cap_thread *self = cap_enter(call->source, call->call);
    if (self == NULL) {
        return real(type, (id_t)call->pid, info, (int)call->options, usage);
    }
    struct cap_event ev = CAP_EVENT(waitid, call->source);
    ev.begin = cap_begin(self);
    cap_state_enter(self, CAP_STATE_BLOCKED);
    int result = real(type, (id_t)call->pid, place, (int)call->options, usage);
    cap_state_leave(self);
    bool is_done = result == 0;
    emit(self, &ev, call, is_done ? place->si_pid : -1, &place->si_status,
         is_done ? place->si_code : 0);
    return result;
}

static int libc_waitid(idtype_t type, id_t id, siginfo_t *info, int options, struct rusage *usage)
{
    (void)usage;
    return CAP_REAL(waitid)(type, id, info, options);
}

static int kernel_waitid(idtype_t type, id_t id, siginfo_t *info, int options, struct rusage *usage)
{
    long result =
        wio_rawcall6(SYS_waitid, (long)type, (long)id, (long)info, options, (long)usage, 0);
    if (result < 0) {
        errno = (int)-result;
        return -1;
    }
    return 0;
}

CAP_EXPORT int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    const struct wait_call call = {WIO_CALL_waitid, (int64_t)id, options, CAP_CALLER()};
    return waitid_as(&call, type, libc_waitid, info, NULL);
}

long cap_number_waitid(idtype_t type, id_t id, siginfo_t *info, int options, struct rusage *usage)
{
    const struct wait_call call = {WIO_CALL_waitid, (int64_t)id, options, CAP_CALLER()};
    return waitid_as(&call, type, kernel_waitid, info, usage);
}
