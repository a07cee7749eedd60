/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>

#include <whyio/event.h>

#include "ops/calls.h"
#include "ops/image_end.h"
#include "tracer/events.h"
#include "tracer/image.h"
#include "tracer/memory.h"
#include "tracer/proc.h"
#include "tracer/specials.h"

bool tracer_exec_is(const struct tracer_thread *thread)
{
    return thread->call.number == SYS_execve || thread->call.number == SYS_execveat;
}

/* Which arguments name the program. */
static int directory_of(const struct tracer_call *call)
{
    return call->number == SYS_execveat ? (int)call->arg[1] : AT_FDCWD;
}

static uint64_t path_of(const struct tracer_call *call)
{
    return call->number == SYS_execveat ? call->arg[2] : call->arg[1];
}

/* Recorded before the call, again with its errno where it failed. */
static void put_exec(struct tracer_thread *thread)
{
    const struct tracer_call *call = &thread->call;
    const unsigned symbol = call->number == SYS_execve ? WIO_CALL_execve : WIO_CALL_execveat;
    struct wio_ring_event event = tracer_event_of(thread, symbol);
    event.path = call->path;
    if (call->number == SYS_execveat) {
        event.fd = (int)call->arg[1];
    }
    wio_ring_put_event(&thread->stream, &event);
}

static void before_exec(struct tracer_session *session, struct tracer_thread *thread)
{
    struct tracer_call *call = &thread->call;
    (void)session;
    call->path = tracer_path_string(thread, directory_of(call), path_of(call));
    call->end = call->begin;
    call->result = 0;
    call->error = 0;
    put_exec(thread);
}

/* Only where it failed: a program that runs has another image. */
static void after_exec(struct tracer_session *session, struct tracer_thread *thread)
{
    (void)session;
    if (thread->call.result < 0) {
        put_exec(thread);
    }
}

/* A program that cannot be known, since the memory that names it may not be read (prctl(2),
 * PR_SET_DUMPABLE), counts as one that does. */
static bool gains_rights(const struct tracer_thread *thread)
{
    char path[TRACER_PATH_MAX];
    const struct tracer_call *call = &thread->call;
    errno = 0;
    if (tracer_memory_text(thread->tid, path_of(call), path, sizeof(path)) < 0) {
        return errno == EPERM;
    }
    return tracer_image_gains_rights(thread, directory_of(call), path);
}

bool tracer_exec_must_let_go(struct tracer_session *session, struct tracer_thread *thread)
{
    if (!gains_rights(thread)) {
        return false;
    }
    if (tracer_thread_ready(session, thread)) {
        wio_ring_writer_unseen(&thread->process->ring, WIO_UNSEEN_SETUID_EXEC, 1);
        wio_ring_writer_end(&thread->process->ring, WIO_END_EXEC, 0);
    }
    thread->process->has_ended = true;
    return true;
}

bool tracer_exec_done(struct tracer_session *session, struct tracer_thread *thread)
{
    struct tracer_process *process = thread->process;
    const int32_t pid = process->pid;
    const enum tracer_image_kind kind = tracer_image_of(pid);
    const bool is_preloaded = kind == TRACER_IMAGE_DYNAMIC &&
                              tracer_image_is_preloaded(pid, session->settings->capture_lib);
    if (kind == TRACER_IMAGE_FOREIGN) {
        wio_ring_writer_unseen(&process->ring, WIO_UNSEEN_FOREIGN_EXEC, 1);
    }
    wio_ring_writer_end(&process->ring, WIO_END_EXEC, 0);
    wio_ring_stream_fini(&thread->stream);
    tracer_process_renew(process);
    thread->is_root = false;
    thread->has_tried = false;
    thread->call.is_inside = false;
    thread->is_suspended = false; /* a call of the program before */
    thread->has_returned = false;
    process->is_recorded = kind != TRACER_IMAGE_FOREIGN && !is_preloaded;
    return process->is_recorded && tracer_thread_ready(session, thread);
}

/* ---- how processes and threads begin and end --------------------------------------------------
 */

/* arg0 = flags, arg1 = the child's pid, which ties the two. A thread's number is its token. */
static void after_clone(struct tracer_session *session, struct tracer_thread *thread)
{
    (void)session;
    const struct tracer_call *call = &thread->call;
    const int64_t child = call->result;
    uint64_t flags = 0;
    if (call->number == SYS_clone) {
        flags = call->arg[1];
    } else if (call->number == SYS_clone3) {
        (void)tracer_memory_read(thread->tid, call->arg[1], &flags, sizeof(flags));
    }
    const bool is_thread = (flags & CLONE_THREAD) != 0; /* it may have ended already */
    unsigned symbol = is_thread ? WIO_CALL_pthread_create : WIO_CALL_clone;
#if defined(SYS_fork)
    symbol = call->number == SYS_fork ? WIO_CALL_fork : symbol;
    symbol = call->number == SYS_vfork ? WIO_CALL_vfork : symbol;
#endif
    struct wio_ring_event event = tracer_event_of(thread, symbol);
    event.offset = !is_thread ? (int64_t)flags : child > 0 ? child : 0;
    event.size = is_thread || child <= 0 ? 0 : (uint64_t)child;
    event.result = is_thread && child > 0 ? 0 : child;
    wio_ring_put_event(&thread->stream, &event);
}

static void put_mark(struct tracer_thread *thread, unsigned symbol, int64_t value)
{
    struct wio_ring_event event = tracer_event_of(thread, symbol);
    event.end = event.begin;
    event.result = 0;
    event.error = 0;
    event.offset = value;
    event.size = 0;
    wio_ring_put_event(&thread->stream, &event);
}

/* The whole process ends. */
static void before_exit_group(struct tracer_session *session, struct tracer_thread *thread)
{
    (void)session;
    put_mark(thread, WIO_CALL__exit, (int)thread->call.arg[1]);
}

/* One thread ends: the last one takes the process along. */
static void before_exit(struct tracer_session *session, struct tracer_thread *thread)
{
    if (thread->process->threads == 1) {
        before_exit_group(session, thread);
    } else if (thread->tid != thread->process->pid) {
        put_mark(thread, WIO_CALL_thread_exit, thread->tid);
    }
}

static void after_kill(struct tracer_session *session, struct tracer_thread *thread)
{
    const uint64_t *arg = thread->call.arg;
    struct wio_ring_event event = tracer_event_of(thread, WIO_CALL_kill);
    (void)session;
    event.offset = (int)arg[1];
    event.size = arg[2];
    wio_ring_put_event(&thread->stream, &event);
}

static void after_tgkill(struct tracer_session *session, struct tracer_thread *thread)
{
    const uint64_t *arg = thread->call.arg;
    struct wio_ring_event event = tracer_event_of(thread, WIO_CALL_tgkill);
    (void)session;
    event.has_ext = true;
    event.ext.arg[0] = (int)arg[1];
    event.ext.arg[1] = (int64_t)arg[3];
    event.ext.arg[2] = (int)arg[2];
    wio_ring_put_event(&thread->stream, &event);
}

const struct tracer_special tracer_process_specials[] = {
    {.number = SYS_clone, .after = after_clone},
    {.number = SYS_clone3, .after = after_clone},
#if defined(SYS_fork)
    {.number = SYS_fork, .after = after_clone},
    {.number = SYS_vfork, .after = after_clone},
#endif
    {.number = SYS_execve, .before = before_exec, .after = after_exec},
    {.number = SYS_execveat, .before = before_exec, .after = after_exec},
    {.number = SYS_exit_group, .before = before_exit_group},
    {.number = SYS_exit, .before = before_exit},
    {.number = SYS_kill, .is_causal = true, .after = after_kill},
    {.number = SYS_tgkill, .is_causal = true, .after = after_tgkill},
    {.number = UINT16_MAX},
};
