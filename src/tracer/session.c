/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stops of traced threads, ptrace(2), "Stopped states". A thread that stops is always resumed
 * here: with its signal, into a group-stop that it is in, or for good.
 */
#include "tracer/session.h"

#include <errno.h>
#include <linux/audit.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <whyio/event.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "ops/calls.h"
#include "ops/image_end.h"
#include "tracer/events.h"
#include "tracer/exec.h"
#include "tracer/proc.h"
#include "tracer/record.h"

#if defined(__x86_64__)
#define OUR_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define OUR_ARCHITECTURE 0
#endif

#define SYSCALL_STOP (SIGTRAP | 0x80)
#define EVENT_SHIFT 16
/* Results that mean: the kernel goes on with the call when the signal is dealt with, or lets it
 * fail with EINTR. Programs never see them. */
#define RESTART_FIRST 512
#define ENDS_MAX 65536u

static const long trace_options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                                  PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;

static uint64_t now(const struct tracer_session *session)
{
    return wio_clock_ticks(session->settings->is_tsc);
}

static long request(int what, int32_t tid, uintptr_t address, uintptr_t data)
{
    return ptrace((enum __ptrace_request)what, tid, (void *)address, (void *)data);
}

/* For good, with a signal that is on its way (0 = none). */
static void let_go(struct tracer_session *session, struct tracer_thread *thread, int signal)
{
    (void)request(PTRACE_DETACH, thread->tid, 0, (uintptr_t)signal);
    tracer_thread_remove(session, thread);
}

/* A thread that was killed meanwhile cannot be resumed; its end comes next. */
static void resume(struct tracer_session *session, struct tracer_thread *thread, int signal)
{
    if (thread->process->is_leaving) {
        let_go(session, thread, signal);
        return;
    }
    (void)request(PTRACE_SYSCALL, thread->tid, 0, (uintptr_t)signal);
}

/* The threads of the process (NULL = of all) are let go as soon as they stop: make them. */
static void leave(struct tracer_session *session, struct tracer_process *process)
{
    struct wio_map_entry *entry;
    for (size_t i = 0; (entry = wio_map_each(&session->threads, &i)) != NULL;) {
        struct tracer_thread *thread = (struct tracer_thread *)(uintptr_t)entry->value;
        if (process == NULL || thread->process == process) {
            thread->process->is_leaving = true;
            (void)request(PTRACE_INTERRUPT, thread->tid, 0, 0);
        }
    }
}

/* ---- system calls -----------------------------------------------------------------------------
 */

/* The call that a signal cut off has failed with EINTR: it ends now, behind what the handler did.
 */
static void put_suspended(struct tracer_session *session, struct tracer_thread *thread)
{
    const struct tracer_call call = thread->call;
    thread->is_suspended = false;
    thread->call = thread->suspended;
    thread->call.end = now(session);
    thread->call.result = -1;
    thread->call.error = EINTR;
    tracer_record_exit(session, thread);
    thread->call = call;
}

/* The kernel goes on with the call that a signal cut off: to the program it is one call. */
static bool is_continued(const struct tracer_thread *thread)
{
    const struct tracer_call *call = &thread->call;
    const struct tracer_call *suspended = &thread->suspended;
    return thread->is_suspended &&
           (call->number == SYS_restart_syscall ||
            (call->number == suspended->number && call->source == suspended->source &&
             call->stack == suspended->stack &&
             memcmp(call->arg, suspended->arg, sizeof(call->arg)) == 0));
}

/* The handler has returned, or jumped out to an older frame, and another call begins. */
static bool has_failed(const struct tracer_thread *thread)
{
    return thread->is_suspended &&
           (thread->has_returned || thread->call.stack > thread->suspended.stack);
}

static void fill_call(struct tracer_thread *thread, const struct __ptrace_syscall_info *info)
{
    struct tracer_call *call = &thread->call;
    memset(call, 0, sizeof(*call));
    call->number = info->arch == OUR_ARCHITECTURE ? info->entry.nr : UINT64_MAX;
    call->source = info->instruction_pointer;
    call->stack = info->stack_pointer;
    for (unsigned i = 0; i < TRACER_ARGUMENTS; i++) {
        call->arg[i + 1] = info->entry.args[i];
    }
}

/* What posix_spawn(3) does until the child is there, and the end of the request before: any other
 * call tells that it did not come to that. */
static bool is_part_of_spawn(const struct tracer_thread *thread)
{
    static const long numbers[] = {SYS_recvfrom,      SYS_close,          SYS_mmap,  SYS_munmap,
                                   SYS_mprotect,      SYS_rt_sigprocmask, SYS_clone, SYS_clone3,
                                   SYS_clock_gettime, SYS_getrusage};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(numbers); i++) {
        if (thread->call.number == (uint64_t)numbers[i]) {
            return true;
        }
    }
    return false;
}

/* A program that was to be executed could not be, and no other place is tried: execvp(3) and
 * posix_spawnp(3) make no other call between one directory of PATH and the next. */
static bool has_given_up(const struct tracer_thread *thread)
{
    return thread->is_root && thread->has_tried && !tracer_exec_is(thread);
}

static void on_entry(struct tracer_session *session, struct tracer_thread *thread,
                     const struct __ptrace_syscall_info *info)
{
    fill_call(thread, info);
    if (is_continued(thread)) {
        thread->is_suspended = false;
        thread->call = thread->suspended;
        thread->call.is_inside = true;
        resume(session, thread, 0);
        return;
    }
    if (has_failed(thread)) {
        put_suspended(session, thread);
    }
    thread->call.begin = now(session);
    thread->call.is_inside = true;
    if (thread->process->is_leaving || has_given_up(thread) ||
        (thread->is_spawner && !is_part_of_spawn(thread))) {
        thread->process->is_leaving = true;
        resume(session, thread, 0);
        return;
    }
    tracer_record_entry(session, thread);
    if (tracer_exec_is(thread) && tracer_exec_must_let_go(session, thread)) {
        leave(session, thread->process);
        let_go(session, thread, 0);
        return;
    }
    thread->call.begin = now(session);
    resume(session, thread, 0);
}

static void suspend(struct tracer_session *session, struct tracer_thread *thread)
{
    if (thread->is_suspended) { /* in the handler of another signal */
        put_suspended(session, thread);
    }
    thread->suspended = thread->call;
    thread->is_suspended = true;
}

static void on_return(struct tracer_session *session, struct tracer_thread *thread,
                      const struct __ptrace_syscall_info *info, uint64_t stopped)
{
    struct tracer_call *call = &thread->call;
    if (!call->is_inside) {
        resume(session, thread, 0);
        return;
    }
    call->is_inside = false;
    call->end = stopped;
    call->result = info->exit.is_error ? -1 : info->exit.rval;
    call->error = info->exit.is_error ? (int)-info->exit.rval : 0;
    thread->has_returned = call->number == SYS_rt_sigreturn;
    if (call->error < RESTART_FIRST) {
        tracer_record_exit(session, thread);
    } else {
        suspend(session, thread);
    }
    if (thread->is_root && tracer_exec_is(thread)) {
        thread->has_tried = true;
    }
    resume(session, thread, 0);
}

static void on_call(struct tracer_session *session, struct tracer_thread *thread, uint64_t stopped)
{
    struct __ptrace_syscall_info info = {0};
    if (request(PTRACE_GET_SYSCALL_INFO, thread->tid, sizeof(info), (uintptr_t)&info) <= 0) {
        resume(session, thread, 0);
    } else if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        on_entry(session, thread, &info);
    } else if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
        on_return(session, thread, &info, stopped);
    } else {
        resume(session, thread, 0);
    }
}

/* ---- the tree ---------------------------------------------------------------------------------
 */

/* The first thread of the process that is known; NULL = none. */
static struct tracer_thread *thread_of(const struct tracer_session *session, int32_t pid)
{
    struct tracer_thread *leader = tracer_thread_find(session, pid);
    struct wio_map_entry *entry;
    for (size_t i = 0; leader == NULL && (entry = wio_map_each(&session->threads, &i)) != NULL;) {
        struct tracer_thread *thread = (struct tracer_thread *)(uintptr_t)entry->value;
        leader = thread->process->pid == pid ? thread : NULL;
    }
    return leader;
}

/* A child, or a new thread, that the kernel has attached; `parent` made it, NULL: not known yet. */
static struct tracer_thread *adopt(struct tracer_session *session, int32_t tid,
                                   struct tracer_thread *parent)
{
    struct tracer_thread *thread = tracer_thread_find(session, tid);
    if (thread != NULL) {
        return thread;
    }
    const int32_t pid = tracer_proc_process_of(tid);
    if (pid == 0) { /* it has ended before its parent told of it */
        return NULL;
    }
    const uint64_t *known = wio_map_get(&session->processes, (uint32_t)pid);
    if (known != NULL) {
        struct tracer_process *process = (struct tracer_process *)(uintptr_t)*known;
        thread = tracer_thread_add(session, process, tid);
        if (thread != NULL) {
            thread->is_new = true;
        }
        return thread;
    }
    if (parent == NULL) {
        parent = thread_of(session, tracer_proc_birth(tid).ppid);
    }
    struct tracer_process *process = tracer_process_add(session, pid);
    if (process == NULL) {
        return NULL;
    }
    if (parent != NULL) {
        (void)tracer_thread_ready(session, parent); /* the child's strings go on from its ring */
        tracer_process_inherit(process, parent);
    }
    const bool is_spawned = parent != NULL && parent->is_spawner;
    process->is_leaving = process->is_leaving || (!process->is_recorded && !is_spawned);
    return tracer_thread_add(session, process, tid);
}

static void on_made(struct tracer_session *session, struct tracer_thread *thread)
{
    unsigned long child = 0;
    if (request(PTRACE_GETEVENTMSG, thread->tid, 0, (uintptr_t)&child) == 0 && child != 0) {
        struct tracer_thread *made = adopt(session, (int32_t)child, thread);
        if (thread->is_spawner && made != NULL) {
            made->is_root = true;
        }
    }
    thread->process->is_leaving = thread->process->is_leaving || thread->is_spawner;
    resume(session, thread, 0);
}

/* A thread that is not the first takes that one's number with its exec. */
static struct tracer_thread *after_exec(struct tracer_session *session, int32_t pid)
{
    unsigned long former = 0;
    struct tracer_thread *first = tracer_thread_find(session, pid);
    struct tracer_thread *thread = first;
    (void)request(PTRACE_GETEVENTMSG, pid, 0, (uintptr_t)&former);
    if ((int32_t)former != pid && tracer_thread_find(session, (int32_t)former) != NULL) {
        thread = tracer_thread_find(session, (int32_t)former);
        if (first != NULL) {
            tracer_thread_remove(session, first);
        }
        if (wio_map_put(&session->threads, (uint32_t)pid, (uintptr_t)thread) != WIO_OK) {
            return NULL;
        }
        (void)wio_map_remove(&session->threads, (uint32_t)former);
        thread->tid = pid;
    }
    if (thread != NULL) {
        tracer_thread_keep_only(session, thread);
    }
    return thread;
}

static void on_executed(struct tracer_session *session, int32_t pid)
{
    struct tracer_thread *thread = after_exec(session, pid);
    if (thread == NULL) {
        (void)request(PTRACE_DETACH, pid, 0, 0);
        return;
    }
    if (!tracer_exec_done(session, thread)) {
        thread->process->is_leaving = true;
    }
    resume(session, thread, 0);
}

static bool is_stop_signal(int signal)
{
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

static void put_start(struct tracer_session *session, struct tracer_thread *thread)
{
    thread->is_new = false;
    if (!tracer_thread_ready(session, thread)) {
        return;
    }
    thread->call.begin = now(session);
    thread->call.end = thread->call.begin;
    struct wio_ring_event event = tracer_event_of(thread, WIO_CALL_thread_start);
    event.offset = thread->tid; /* its token */
    event.size = 0;
    wio_ring_put_event(&thread->stream, &event);
}

/* A first stop, one that was asked for, or a group-stop: the thread stays stopped there until
 * SIGCONT, and is listened to meanwhile. */
static void on_stop(struct tracer_session *session, struct tracer_thread *thread, int signal)
{
    if (thread->is_new) {
        put_start(session, thread);
    }
    if (is_stop_signal(signal) && !thread->process->is_leaving) {
        (void)request(PTRACE_LISTEN, thread->tid, 0, 0);
        return;
    }
    resume(session, thread, 0);
}

static void on_stopped(struct tracer_session *session, int32_t tid, int status, uint64_t stopped)
{
    const int signal = WSTOPSIG(status);
    const int event = status >> EVENT_SHIFT;
    if (event == PTRACE_EVENT_EXEC) {
        on_executed(session, tid);
        return;
    }
    struct tracer_thread *thread = adopt(session, tid, NULL);
    if (thread == NULL) { /* it is gone; or memory is out, and it goes on unrecorded */
        (void)request(PTRACE_DETACH, tid, 0,
                      event == 0 && signal != SYSCALL_STOP ? (uintptr_t)signal : 0);
        return;
    }
    switch (event) {
    case 0:
        if (signal == SYSCALL_STOP) {
            on_call(session, thread, stopped);
        } else {
            resume(session, thread, signal);
        }
        return;
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE:
        on_made(session, thread);
        return;
    case PTRACE_EVENT_STOP:
        on_stop(session, thread, signal);
        return;
    default:
        resume(session, thread, 0);
    }
}

static void on_ended(struct tracer_session *session, int32_t tid, int status)
{
    struct tracer_thread *thread = tracer_thread_find(session, tid);
    if (thread == NULL) {
        return;
    }
    struct tracer_process *process = thread->process;
    if (tid == process->pid) { /* the first thread is the last one that is told of */
        if (!process->has_ended && WIFSIGNALED(status)) {
            wio_ring_writer_end(&process->ring, WIO_END_SIGNAL, WTERMSIG(status));
        } else if (!process->has_ended) {
            wio_ring_writer_end(&process->ring, WIO_END_EXIT, WEXITSTATUS(status));
        }
        if (session->ends.hash.count < ENDS_MAX) {
            enum wio_status kept = wio_map_put(&session->ends, (uint32_t)tid, (uint32_t)status + 1);
            (void)kept; /* a status that is not known is said to be that */
        }
        tracer_thread_keep_only(session, thread);
    }
    tracer_thread_remove(session, thread);
}

/* ---- the loop ---------------------------------------------------------------------------------
 */

int tracer_session_seize(struct tracer_session *session, int32_t pid, int32_t tid,
                         enum wio_trace_kind kind)
{
    if (request(PTRACE_SEIZE, tid, 0, (uintptr_t)trace_options) != 0) {
        return errno;
    }
    struct tracer_process *process = tracer_process_add(session, pid);
    struct tracer_thread *thread =
        process != NULL ? tracer_thread_add(session, process, tid) : NULL;
    int status = 0;
    if (thread != NULL) {
        thread->is_root = kind == WIO_TRACE_EXEC;
        thread->is_spawner = kind == WIO_TRACE_SPAWN;
    }
    if (request(PTRACE_INTERRUPT, tid, 0, 0) != 0 || waitpid(tid, &status, __WALL) != tid) {
        return ESRCH;
    }
    if (!WIFSTOPPED(status)) {
        on_ended(session, tid, status);
        return ESRCH;
    }
    if (thread == NULL) {
        (void)request(PTRACE_DETACH, tid, 0, 0);
        return ENOMEM;
    }
    on_stopped(session, tid, status, now(session));
    return 0;
}

void tracer_session_follow(struct tracer_session *session)
{
    bool is_leaving = false;
    while (session->threads.hash.count > 0) {
        int status = 0;
        const int32_t tid = waitpid(-1, &status, __WALL | __WNOTHREAD);
        const uint64_t stopped = now(session);
        if (tid > 0 && WIFSTOPPED(status)) {
            on_stopped(session, tid, status, stopped);
        } else if (tid > 0) {
            on_ended(session, tid, status);
        } else if (errno != EINTR) {
            return;
        }
        if (!is_leaving && __atomic_load_n(session->settings->stopping, __ATOMIC_ACQUIRE)) {
            is_leaving = true;
            leave(session, NULL);
        }
    }
}
