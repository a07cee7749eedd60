/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions, of POSIX and of C11. R-SYNC-4 */
#include <pthread.h>
#include <threads.h>

#include "capture/core/process.h"
#include "capture/sync/sync.h"
#include "capture/sync/sync_held.h"
#include "capture/sync/sync_mutex.h"
#include "capture/sync/sync_object.h"

struct cond_wait {
    struct cap_thread *self;
    uint32_t *waiters;
    int64_t arg[4];
    struct cap_event ev;
};

/* Bit 0 of the count of references says so, for as long as there are pthread_cond_t like these. */
static bool is_shared(const pthread_cond_t *cond)
{
    return (cond->__data.__wrefs & 1) != 0;
}

static void begin(struct cond_wait *wait, const pthread_cond_t *cond, const pthread_mutex_t *mutex)
{
    struct cap_thread *self = wait->self;
    if ((self->has_pending & CAP_PENDING_EVENTS) != 0) {
        cap_held_write(self); /* the mutex was taken before it is left here */
    }
    wait->arg[0] = cap_object_id(cond, is_shared(cond));
    wait->arg[1] = cap_object_id(mutex, cap_mutex_is_shared(mutex));
    wait->waiters = cap_waiters_of(cond);
    (void)__atomic_fetch_add(wait->waiters, 1, __ATOMIC_SEQ_CST);
    wait->ev.begin = cap_begin(wait->self);
    cap_state_enter(self, CAP_STATE_BLOCKED);
}

/* CPython makes the lock that lets one of its threads run of a condition: whose signal it is that
 * ends a wait is chance. It has no other conditions where there are semaphores. */
static bool hands_on_lock(struct cap_thread *self, uintptr_t source)
{
    struct cap_module module;
    return cap_module_find(self, source, &module) && module.is_interpreter;
}

static void end(struct cond_wait *wait, int result, int error)
{
    CAP_KEEP_ERRNO;
    cap_state_leave(wait->self);
    (void)__atomic_fetch_sub(wait->waiters, 1, __ATOMIC_SEQ_CST);
    wait->ev.end = cap_now();
    wait->ev.result = result;
    wait->ev.error = error;
    wait->arg[2] = hands_on_lock(wait->self, wait->ev.source);
    cap_emit_wait_ext(wait->self, &wait->ev, wait->arg);
}

static void on_cancel(void *wait)
{
    end(wait, ECANCELED, ECANCELED);
}

static int posix_error(int result)
{
    return result;
}

static int c11_error(int result)
{
    return result == thrd_success ? 0 : result == thrd_timedout ? ETIMEDOUT : EINVAL;
}

#define DEFINE_WAIT(symbol, error_of, parameters, ...)                                             \
    CAP_EXPORT int symbol parameters                                                               \
    {                                                                                              \
        const uintptr_t source = CAP_CALLER();                                                     \
        struct cond_wait wait = {.self = cap_enter_sync(source, WIO_CALL_##symbol)};               \
        int result;                                                                                \
        if (wait.self == NULL) {                                                                   \
            return CAP_REAL(symbol)(__VA_ARGS__);                                                  \
        }                                                                                          \
        wait.ev = CAP_EVENT(symbol, source);                                                       \
        begin(&wait, (const pthread_cond_t *)(const void *)cond,                                   \
              (const pthread_mutex_t *)(const void *)mutex);                                       \
        pthread_cleanup_push(on_cancel, &wait);                                                    \
        result = CAP_REAL(symbol)(__VA_ARGS__);                                                    \
        pthread_cleanup_pop(0);                                                                    \
        end(&wait, result, error_of(result));                                                      \
        return result;                                                                             \
    }

DEFINE_WAIT(pthread_cond_wait, posix_error, (pthread_cond_t * cond, pthread_mutex_t *mutex), cond,
            mutex)
DEFINE_WAIT(pthread_cond_timedwait, posix_error,
            (pthread_cond_t * cond, pthread_mutex_t *mutex, const struct timespec *until), cond,
            mutex, until)
DEFINE_WAIT(pthread_cond_clockwait, posix_error,
            (pthread_cond_t * cond, pthread_mutex_t *mutex, clockid_t clock,
             const struct timespec *until),
            cond, mutex, clock, until)
DEFINE_WAIT(cnd_wait, c11_error, (cnd_t * cond, mtx_t *mutex), cond, mutex)
DEFINE_WAIT(cnd_timedwait, c11_error, (cnd_t * cond, mtx_t *mutex, const struct timespec *until),
            cond, mutex, until)

/* Without a waiter there is no event. Waiters are counted before and after the call, since one that
 * comes in between may be woken. Afterwards the condition may be gone, with the woken thread. */
struct signal {
    struct cap_event ev;
    const uint32_t *waiters;
    int64_t arg[2];
    bool was_awaited;
};

static inline void before_signal(struct signal *signal, const pthread_cond_t *cond, bool is_all)
{
    bool is_between_processes = is_shared(cond);
    signal->waiters = cap_waiters_of(cond);
    signal->was_awaited = is_between_processes || cap_is_awaited(signal->waiters);
    signal->arg[0] = cap_object_id(cond, is_between_processes);
    signal->arg[1] = is_all;
    signal->ev.begin = CAP_UNLIKELY(signal->was_awaited) ? cap_now() : 0;
}

static void emit_signal(struct signal *signal, int result)
{
    CAP_KEEP_ERRNO;
    struct cap_event *ev = &signal->ev;
    struct cap_thread *self = cap_enter(ev->source, ev->call);
    if (self != NULL) {
        ev->end = cap_now();
        ev->begin = signal->was_awaited ? ev->begin : ev->end;
        ev->result = result;
        cap_emit_wait(self, ev, signal->arg);
    }
}

#define DEFINE_SIGNAL(symbol, cond_type, is_all)                                                   \
    CAP_EXPORT int symbol(cond_type *cond)                                                         \
    {                                                                                              \
        struct signal signal = {.ev = CAP_EVENT(symbol, CAP_CALLER())};                            \
        if (CAP_UNLIKELY(!cap_is_causal)) {                                                        \
            return CAP_REAL(symbol)(cond);                                                         \
        }                                                                                          \
        before_signal(&signal, (const pthread_cond_t *)(const void *)cond, is_all);                \
        int result = CAP_REAL(symbol)(cond);                                                       \
        if (CAP_UNLIKELY(signal.was_awaited || cap_is_awaited(signal.waiters))) {                  \
            emit_signal(&signal, result);                                                          \
        }                                                                                          \
        return result;                                                                             \
    }

DEFINE_SIGNAL(pthread_cond_signal, pthread_cond_t, false)
DEFINE_SIGNAL(pthread_cond_broadcast, pthread_cond_t, true)
DEFINE_SIGNAL(cnd_signal, cnd_t, false)
DEFINE_SIGNAL(cnd_broadcast, cnd_t, true)
