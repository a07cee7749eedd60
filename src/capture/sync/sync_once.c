/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pthread_once: a thread that calls while another one initialises waits for its end. R-SYNC-11
 *
 * libc calls the program's function through one of ours, which notes that it has returned. Nothing
 * is recorded where all is done already: that is most calls.
 */
#include <limits.h>
#include <pthread.h>
#include <threads.h>

#include "capture/core/stack.h"
#include "capture/sync/sync.h"
#include "capture/sync/sync_object.h"

/* The bits of glibc's control word. */
#define IS_UNDER_WAY 1
#define IS_DONE 2

struct once {
    void (*routine)(void);
    const int *control;
    uintptr_t source;
    struct once *outer; /* the routine of one may come to another one */
    bool has_run;
};

/* What the thread's pthread_once is about. One that was left by an exception or a cancellation
 * stays here, and is not looked at again: libc calls us from within the next one only. */
static __thread struct once *current __attribute__((tls_model("initial-exec")));

static void emit_done(const struct once *once)
{
    CAP_KEEP_ERRNO;
    /* A thread that has recorded nothing has nothing that others might wait for. */
    struct cap_thread *self =
        cap_self->is_ready ? cap_enter_sync(once->source, WIO_CALL_once_done) : NULL;
    if (self != NULL) {
        const int64_t arg[4] = {cap_object_id(once->control, false)};
        struct cap_event ev = CAP_EVENT_OF(WIO_CALL_once_done, once->source);
        ev.begin = cap_now();
        ev.end = ev.begin;
        ev.result = INT_MAX;
        cap_emit_wait_ext(self, &ev, arg);
    }
}

static void run(void)
{
    struct once *once = current;
    once->has_run = true;
    once->routine();
    emit_done(once);
}

static int state_of(const int *control)
{
    return __atomic_load_n(control, __ATOMIC_ACQUIRE);
}

static int call(unsigned number, int *control, void (*routine)(void), uintptr_t source)
{
    struct once once = {routine, control, source, current, false};
    struct cap_thread *self = cap_enter_sync(source, number);
    struct cap_event ev = CAP_EVENT_OF(number, source);
    bool waits = self != NULL && (state_of(control) & IS_UNDER_WAY) != 0;
    if (waits) {
        cap_state_enter(self, CAP_STATE_BLOCKED);
    }
    ev.begin = self != NULL ? cap_begin(self) : 0;
    bool is_late = (state_of(control) & IS_DONE) != 0;
    current = &once;
    /* call_once is the same in glibc, and has no result */
    int result = CAP_REAL(pthread_once)(control, run);
    current = once.outer;
    ev.end = self != NULL ? cap_now() : 0;
    if (waits) {
        cap_state_leave(self);
    }
    if (self != NULL && !once.has_run && !is_late && result == 0) {
        const int64_t arg[4] = {cap_object_id(control, false)};
        cap_emit_wait_ext(self, &ev, arg);
    }
    return result;
}

/* The unwinder is our own, and initialises itself by a call that lands here: an event of it would
 * want a stack, and so wait for itself. */
static bool is_plain(const int *control)
{
    return !cap_is_causal || (state_of(control) & IS_DONE) != 0 || cap_is_walking();
}

CAP_EXPORT int pthread_once(pthread_once_t *control, void (*routine)(void))
{
    const uintptr_t source = CAP_CALLER();
    return is_plain(control) ? CAP_REAL(pthread_once)(control, routine)
                             : call(WIO_CALL_pthread_once, control, routine, source);
}

CAP_EXPORT void call_once(once_flag *flag, void (*routine)(void))
{
    const uintptr_t source = CAP_CALLER();
    int *control = (int *)(void *)flag;
    if (is_plain(control)) {
        CAP_REAL(call_once)(flag, routine);
        return;
    }
    (void)call(WIO_CALL_call_once, control, routine, source);
}
