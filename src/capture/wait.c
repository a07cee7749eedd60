/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for children. */
#include <sys/resource.h>
#include <sys/wait.h>

#include "capture/capture.h"

struct wait_call {
    unsigned call;
    int64_t pid; /* asked for */
    int64_t options;
    uintptr_t source;
};

static void emit(struct cap_thread *self, struct cap_event *ev, const struct wait_call *call,
                 int64_t result, int64_t status)
{
    struct cap_ext ext = CAP_EXT;
    ev->end = cap_now();
    ev->result = result;
    ev->error = result < 0 ? errno : 0;
    ext.arg[0] = result > 0 ? status : 0;
    ext.arg[1] = call->options;
    ext.arg[2] = call->pid;
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
    ev.begin = cap_now();
    pid_t result = CAP_REAL(wait4)((pid_t)call->pid, place, (int)call->options, usage);
    emit(self, &ev, call, result, *place);
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

CAP_EXPORT int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    struct wait_call call = {WIO_CALL_waitid, (int64_t)id, options, CAP_CALLER()};
    siginfo_t own_info = {0};
    siginfo_t *place = info != NULL ? info : &own_info;
    struct cap_thread *self = cap_enter(call.source, call.call);
    if (self == NULL) {
        return CAP_REAL(waitid)(type, id, info, options);
    }
    struct cap_event ev = CAP_EVENT(waitid, call.source);
    ev.begin = cap_now();
    int result = CAP_REAL(waitid)(type, id, place, options);
    emit(self, &ev, &call, result < 0 ? -1 : place->si_pid, place->si_status);
    return result;
}
