/* SPDX-License-Identifier: Apache-2.0 */
/* Mutexes, of POSIX and of C11 (in glibc the same thing). */
#include "capture/sync/sync_mutex.h"

#include <pthread.h>
#include <threads.h>

#include "capture/sync/sync_lock.h"
#include "capture/sync/sync_object.h"

#define TRY CAP_LOCK_FN(pthread_mutex_trylock)

static struct cap_lock lock_of(pthread_mutex_t *mutex, unsigned call, uintptr_t source)
{
    int64_t id = cap_object_id(mutex, cap_mutex_is_shared(mutex));
    return CAP_LOCK_OF(mutex, call, source, id, false);
}

/* `real` is called with `...` where the lock is not free. The names with underscores are old: libc
 * has no version of them that can be looked up, and they are the same function. */
#define DEFINE_LOCK(symbol, real, parameters, slow_parameters, ...)                                \
    CAP_EXPORT int symbol parameters;                                                              \
    static CAP_NOINLINE int wait_##symbol slow_parameters                                          \
    {                                                                                              \
        struct cap_lock_wait wait;                                                                 \
        if (!cap_is_causal) {                                                                      \
            return CAP_REAL(real)(__VA_ARGS__);                                                    \
        }                                                                                          \
        const struct cap_lock lock = lock_of(mutex, WIO_CALL_##symbol, source);                    \
        if (cap_lock_wait_begin(&wait, &lock, TRY, &result)) {                                     \
            return result;                                                                         \
        }                                                                                          \
        result = CAP_REAL(real)(__VA_ARGS__);                                                      \
        cap_lock_wait_end(&wait, &lock, result);                                                   \
        return result;                                                                             \
    }                                                                                              \
    CAP_EXPORT int symbol parameters                                                               \
    {                                                                                              \
        int result = cap_lock_try(mutex, TRY);                                                     \
        if (CAP_LIKELY(result == 0)) {                                                             \
            cap_held_push(cap_self, mutex, WIO_CALL_##symbol, CAP_CALLER());                       \
            return 0;                                                                              \
        }                                                                                          \
        return wait_##symbol(__VA_ARGS__, CAP_CALLER(), result);                                   \
    }

#define PLAIN pthread_mutex_t *mutex
#define TIMED pthread_mutex_t *mutex, const struct timespec *until
#define CLOCK pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until
#define MORE uintptr_t source, int result

DEFINE_LOCK(pthread_mutex_lock, pthread_mutex_lock, (PLAIN), (PLAIN, MORE), mutex)
DEFINE_LOCK(__pthread_mutex_lock, pthread_mutex_lock, (PLAIN), (PLAIN, MORE), mutex)
DEFINE_LOCK(pthread_mutex_timedlock, pthread_mutex_timedlock, (TIMED), (TIMED, MORE), mutex, until)
DEFINE_LOCK(pthread_mutex_clocklock, pthread_mutex_clocklock, (CLOCK), (CLOCK, MORE), mutex, clock,
            until)

/* One that fails has not waited: no event. */
#define DEFINE_TRYLOCK(symbol)                                                                     \
    CAP_EXPORT int symbol(pthread_mutex_t *mutex);                                                 \
    CAP_EXPORT int symbol(pthread_mutex_t *mutex)                                                  \
    {                                                                                              \
        int result = cap_lock_try(mutex, TRY);                                                     \
        const struct cap_lock lock =                                                               \
            CAP_LOCK_OF(mutex, WIO_CALL_##symbol, CAP_CALLER(), 0, false);                         \
        return cap_lock_tried(&lock, TRY, result);                                                 \
    }

DEFINE_TRYLOCK(pthread_mutex_trylock)
DEFINE_TRYLOCK(__pthread_mutex_trylock)

#define DEFINE_UNLOCK(symbol, type, real)                                                          \
    CAP_EXPORT int symbol(type *mutex);                                                            \
    static CAP_NOINLINE int leave_##symbol(pthread_mutex_t *mutex, uintptr_t source)               \
    {                                                                                              \
        if (!cap_is_causal) {                                                                      \
            return CAP_LOCK_FN(real)(mutex);                                                       \
        }                                                                                          \
        const struct cap_lock lock = lock_of(mutex, WIO_CALL_##symbol, source);                    \
        return cap_unlock(&lock, CAP_LOCK_FN(real), cap_mutex_is_contended(mutex));                \
    }                                                                                              \
    CAP_EXPORT int symbol(type *mutex)                                                             \
    {                                                                                              \
        pthread_mutex_t *inner = (pthread_mutex_t *)(void *)mutex;                                 \
        const uint32_t *waiters = cap_waiters_of(mutex);                                           \
        if (CAP_UNLIKELY(cap_mutex_is_contended(inner) || !cap_unlock_begin(mutex, waiters))) {    \
            return leave_##symbol(inner, CAP_CALLER());                                            \
        }                                                                                          \
        int result = CAP_LOCK_FN(real)(mutex);                                                     \
        if (CAP_UNLIKELY(cap_is_awaited(waiters))) {                                               \
            cap_unlock_late(mutex, WIO_CALL_##symbol, CAP_CALLER());                               \
        }                                                                                          \
        return result;                                                                             \
    }

DEFINE_UNLOCK(pthread_mutex_unlock, pthread_mutex_t, pthread_mutex_unlock)
DEFINE_UNLOCK(__pthread_mutex_unlock, pthread_mutex_t, pthread_mutex_unlock)
DEFINE_UNLOCK(mtx_unlock, mtx_t, mtx_unlock)

/* ---- C11: other results -----------------------------------------------------------------------
 */

static int error_of(int result)
{
    return result == thrd_success ? 0 : result == thrd_timedout ? ETIMEDOUT : EINVAL;
}

#define DEFINE_C11_LOCK(symbol, parameters, ...)                                                   \
    CAP_EXPORT int symbol parameters                                                               \
    {                                                                                              \
        const uintptr_t source = CAP_CALLER();                                                     \
        int result = cap_lock_try(mutex, TRY);                                                     \
        if (CAP_LIKELY(result == 0)) {                                                             \
            cap_held_push(cap_self, mutex, WIO_CALL_##symbol, source);                             \
            return thrd_success;                                                                   \
        }                                                                                          \
        const struct cap_lock lock =                                                               \
            lock_of((pthread_mutex_t *)(void *)mutex, WIO_CALL_##symbol, source);                  \
        struct cap_lock_wait wait;                                                                 \
        if (cap_lock_wait_begin(&wait, &lock, TRY, &result)) {                                     \
            return result == 0 ? thrd_success : thrd_error;                                        \
        }                                                                                          \
        result = CAP_REAL(symbol)(__VA_ARGS__);                                                    \
        cap_lock_wait_end(&wait, &lock, error_of(result));                                         \
        return result;                                                                             \
    }

DEFINE_C11_LOCK(mtx_lock, (mtx_t * mutex), mutex)
DEFINE_C11_LOCK(mtx_timedlock, (mtx_t * mutex, const struct timespec *until), mutex, until)

CAP_EXPORT int mtx_trylock(mtx_t *mutex)
{
    int result = cap_lock_try(mutex, TRY);
    if (result == CAP_NOT_TRIED) {
        return CAP_REAL(mtx_trylock)(mutex);
    }
    const struct cap_lock lock = CAP_LOCK_OF(mutex, WIO_CALL_mtx_trylock, CAP_CALLER(), 0, false);
    return cap_lock_tried(&lock, TRY, result) == 0 ? thrd_success : thrd_busy;
}
