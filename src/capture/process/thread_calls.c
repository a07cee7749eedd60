/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads: create, start, end and join carry one token each. The state of the new thread is made by
 * its creator and handed over as the argument, so that nothing is allocated.
 */
#include "capture/process/thread_events.h"

#include <pthread.h>
#include <threads.h>
#include <time.h>

#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/core/thread_birth.h"
#include "capture/core/thread_table.h"
#include "capture/sync/sync.h"
#include "capture/throttle/hold.h"

/* The token is pthread_t, which is all that join has: an address that another thread gets only when
 * this one has been joined or, detached, has ended. */
static void emit_thread(struct cap_thread *self, struct cap_event *ev, uint64_t token,
                        int64_t result, int error)
{
    ev->end = cap_now();
    ev->result = result;
    ev->error = error;
    ev->offset = (int64_t)token;
    ev->size = 0;
    cap_emit(self, ev);
}

static void emit_mark(struct cap_thread *self, unsigned call, uintptr_t source)
{
    struct cap_event ev = CAP_EVENT_OF(call, source);
    ev.begin = cap_begin(self);
    emit_thread(self, &ev, self->birth.token, 0, 0);
}

void cap_thread_exit_event(struct cap_thread *self)
{
    if (self->mute == 0) {
        emit_mark(self, WIO_CALL_thread_exit, 0);
    }
}

/* In the new thread: its state becomes ours. */
static struct cap_thread *arrive(void *state)
{
    struct cap_thread *self = state;
    uint64_t mask = raw_block_signals();
    cap_self = self;
    self->birth.token = (uint64_t)pthread_self();
    cap_birth_arrive(self);
    (void)cap_thread_begin();
    raw_restore_signals(mask);
    if (self->mute == 0) {
        emit_mark(self, WIO_CALL_thread_start, (uintptr_t)self->birth.routine);
    }
    return self;
}

static void *start_posix(void *state)
{
    struct cap_thread *self = arrive(state);
    void *(*routine)(void *) = (void *(*)(void *))self->birth.routine;
    return routine(self->birth.argument);
}

static int start_c11(void *state)
{
    struct cap_thread *self = arrive(state);
    int (*routine)(void *) = (int (*)(void *))self->birth.routine;
    return routine(self->birth.argument);
}

/* A state for a thread to come; NULL where the thread is better started without us. */
static struct cap_thread *prepare(cap_function *routine, void *argument, bool creator_is_internal)
{
    struct cap_thread *fresh;
    struct cap_module module;
    if (!cap_self->is_ready || (fresh = cap_thread_take()) == NULL) {
        return NULL;
    }
    bool is_internal =
        creator_is_internal ||
        (cap_module_find(cap_self, (uintptr_t)routine, &module) && module.is_internal);
    fresh->is_internal = is_internal;
    cap_hold_prepare_thread(cap_self, fresh);
    fresh->birth.routine = routine;
    fresh->birth.argument = argument;
    cap_birth_begin(fresh);
    return fresh;
}

/* The token of the thread; 0 where there is none, and its state is free again. */
static uint64_t settle(struct cap_thread *fresh, const pthread_t *thread, bool is_made)
{
    if (is_made) {
        return cap_birth_token(fresh, thread);
    }
    cap_hold_cancel(fresh->is_internal != 0 ? NULL : cap_self);
    cap_thread_give_back(fresh);
    return 0;
}

CAP_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                              void *(*routine)(void *), void *argument)
{
    const uintptr_t source = CAP_CALLER();
    struct cap_thread *self = cap_enter(source, WIO_CALL_pthread_create);
    struct cap_thread *fresh = prepare((cap_function *)routine, argument, self == NULL);
    struct cap_event ev = CAP_EVENT(pthread_create, source);
    ev.begin = cap_begin(self);
    if (fresh == NULL) {
        return CAP_REAL(pthread_create)(thread, attributes, routine, argument);
    }
    int result = CAP_REAL(pthread_create)(thread, attributes, start_posix, fresh);
    uint64_t token = settle(fresh, thread, result == 0);
    if (self != NULL) {
        emit_thread(self, &ev, token, result, result);
    }
    return result;
}

CAP_EXPORT int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument)
{
    const uintptr_t source = CAP_CALLER();
    struct cap_thread *self = cap_enter(source, WIO_CALL_thrd_create);
    struct cap_thread *fresh = prepare((cap_function *)routine, argument, self == NULL);
    struct cap_event ev = CAP_EVENT(thrd_create, source);
    ev.begin = cap_begin(self);
    if (fresh == NULL) {
        return CAP_REAL(thrd_create)(thread, routine, argument);
    }
    int result = CAP_REAL(thrd_create)(thread, start_c11, fresh);
    bool is_made = result == thrd_success;
    uint64_t token = settle(fresh, thread, is_made);
    if (self != NULL) {
        emit_thread(self, &ev, token, result, is_made ? 0 : EAGAIN);
    }
    return result;
}

/* Of the thread that was waited for. */
static void emit_join(struct cap_thread *self, struct cap_event *ev, uint64_t token, int result)
{
    CAP_KEEP_ERRNO;
    const int64_t arg[2] = {(int64_t)token, 0};
    ev->end = cap_now();
    cap_state_leave(self);
    ev->result = result;
    ev->error = result;
    cap_emit_wait(self, ev, arg);
}

#define DEFINE_JOIN(symbol, parameters, ...)                                                       \
    CAP_EXPORT int symbol parameters                                                               \
    {                                                                                              \
        const uintptr_t source = CAP_CALLER();                                                     \
        struct cap_thread *self = cap_enter(source, WIO_CALL_##symbol);                            \
        if (self == NULL) {                                                                        \
            return CAP_REAL(symbol)(__VA_ARGS__);                                                  \
        }                                                                                          \
        struct cap_event ev = CAP_EVENT(symbol, source);                                           \
        cap_state_enter(self, CAP_STATE_BLOCKED);                                                  \
        ev.begin = cap_begin(self);                                                                \
        int result = CAP_REAL(symbol)(__VA_ARGS__);                                                \
        emit_join(self, &ev, (uint64_t)thread, result);                                            \
        return result;                                                                             \
    }

DEFINE_JOIN(pthread_join, (pthread_t thread, void **value), thread, value)
DEFINE_JOIN(pthread_tryjoin_np, (pthread_t thread, void **value), thread, value)
DEFINE_JOIN(pthread_timedjoin_np, (pthread_t thread, void **value, const struct timespec *until),
            thread, value, until)
DEFINE_JOIN(pthread_clockjoin_np,
            (pthread_t thread, void **value, clockid_t clock, const struct timespec *until), thread,
            value, clock, until)
DEFINE_JOIN(thrd_join, (thrd_t thread, int *value), thread, value)
