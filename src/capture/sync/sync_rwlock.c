/* SPDX-License-Identifier: Apache-2.0 */
/* Locks for many readers or one writer; spin locks. */
#include <pthread.h>

#include "capture/sync/sync_lock.h"
#include "capture/sync/sync_mutex.h"
#include "capture/sync/sync_object.h"

static struct cap_lock lock_of(pthread_rwlock_t *lock, unsigned call, bool is_reader,
                               uintptr_t source)
{
    int64_t id = cap_is_causal ? cap_object_id(lock, cap_rwlock_is_shared(lock)) : 0;
    return CAP_LOCK_OF(lock, call, source, id, is_reader);
}

/* `real` is called with `...`; `try` is what it does where the lock is free. */
#define DEFINE_LOCK(symbol, real, try, is_reader, parameters, ...)                                 \
    CAP_EXPORT int symbol parameters;                                                              \
    CAP_EXPORT int symbol parameters                                                               \
    {                                                                                              \
        const uintptr_t source = CAP_CALLER();                                                     \
        int result = cap_lock_try(rwlock, CAP_LOCK_FN(try));                                       \
        if (CAP_LIKELY(result == 0)) {                                                             \
            cap_held_push(cap_self, rwlock, WIO_CALL_##symbol, source);                            \
            return 0;                                                                              \
        }                                                                                          \
        const struct cap_lock lock = lock_of(rwlock, WIO_CALL_##symbol, is_reader, source);        \
        struct cap_lock_wait wait;                                                                 \
        if (cap_lock_wait_begin(&wait, &lock, CAP_LOCK_FN(try), &result)) {                        \
            return result;                                                                         \
        }                                                                                          \
        result = CAP_REAL(real)(__VA_ARGS__);                                                      \
        cap_lock_wait_end(&wait, &lock, result);                                                   \
        return result;                                                                             \
    }

#define PLAIN (pthread_rwlock_t * rwlock)
#define TIMED (pthread_rwlock_t * rwlock, const struct timespec *until)
#define CLOCK (pthread_rwlock_t * rwlock, clockid_t clock, const struct timespec *until)

DEFINE_LOCK(pthread_rwlock_rdlock, pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, true, PLAIN,
            rwlock)
DEFINE_LOCK(__pthread_rwlock_rdlock, pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, true, PLAIN,
            rwlock)
DEFINE_LOCK(pthread_rwlock_timedrdlock, pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock, true,
            TIMED, rwlock, until)
DEFINE_LOCK(pthread_rwlock_clockrdlock, pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock, true,
            CLOCK, rwlock, clock, until)
DEFINE_LOCK(pthread_rwlock_wrlock, pthread_rwlock_wrlock, pthread_rwlock_trywrlock, false, PLAIN,
            rwlock)
DEFINE_LOCK(__pthread_rwlock_wrlock, pthread_rwlock_wrlock, pthread_rwlock_trywrlock, false, PLAIN,
            rwlock)
DEFINE_LOCK(pthread_rwlock_timedwrlock, pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock, false,
            TIMED, rwlock, until)
DEFINE_LOCK(pthread_rwlock_clockwrlock, pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock, false,
            CLOCK, rwlock, clock, until)

#define DEFINE_TRYLOCK(symbol, real)                                                               \
    CAP_EXPORT int symbol(pthread_rwlock_t *rwlock);                                               \
    CAP_EXPORT int symbol(pthread_rwlock_t *rwlock)                                                \
    {                                                                                              \
        cap_lock_fn *try = CAP_LOCK_FN(real);                                                      \
        const struct cap_lock lock =                                                               \
            CAP_LOCK_OF(rwlock, WIO_CALL_##symbol, CAP_CALLER(), 0, false);                        \
        return cap_lock_tried(&lock, try, cap_lock_try(rwlock, try));                              \
    }

DEFINE_TRYLOCK(pthread_rwlock_tryrdlock, pthread_rwlock_tryrdlock)
DEFINE_TRYLOCK(__pthread_rwlock_tryrdlock, pthread_rwlock_tryrdlock)
DEFINE_TRYLOCK(pthread_rwlock_trywrlock, pthread_rwlock_trywrlock)
DEFINE_TRYLOCK(__pthread_rwlock_trywrlock, pthread_rwlock_trywrlock)

/* The waiters for a lock between processes are not known here: it is always recorded. */
#define DEFINE_UNLOCK(symbol)                                                                      \
    CAP_EXPORT int symbol(pthread_rwlock_t *rwlock);                                               \
    CAP_EXPORT int symbol(pthread_rwlock_t *rwlock)                                                \
    {                                                                                              \
        const struct cap_lock lock = lock_of(rwlock, WIO_CALL_##symbol, false, CAP_CALLER());      \
        cap_lock_fn *real = CAP_LOCK_FN(pthread_rwlock_unlock);                                    \
        return cap_rwlock_is_shared(rwlock) ? cap_unlock(&lock, real, true)                        \
                                            : cap_unlock_any(&lock, real);                         \
    }

DEFINE_UNLOCK(pthread_rwlock_unlock)
DEFINE_UNLOCK(__pthread_rwlock_unlock)

/* ---- spin locks: an int, which does not say whether it is between processes --------------------
 */

static struct cap_lock spin_of(void *spin, unsigned call, uintptr_t source)
{
    return CAP_LOCK_OF(spin, call, source, cap_is_causal ? cap_object_shared(spin) : 0, false);
}

CAP_EXPORT int pthread_spin_lock(pthread_spinlock_t *spin)
{
    const uintptr_t source = CAP_CALLER();
    void *address = (void *)(uintptr_t)spin;
    cap_lock_fn *try = CAP_LOCK_FN(pthread_spin_trylock);
    int result = cap_lock_try(address, try);
    if (CAP_LIKELY(result == 0)) {
        cap_held_push(cap_self, address, WIO_CALL_pthread_spin_lock, source);
        return 0;
    }
    const struct cap_lock lock = spin_of(address, WIO_CALL_pthread_spin_lock, source);
    struct cap_lock_wait wait;
    if (cap_lock_wait_begin(&wait, &lock, try, &result)) {
        return result;
    }
    result = CAP_REAL(pthread_spin_lock)(spin);
    cap_lock_wait_end(&wait, &lock, result);
    return result;
}

CAP_EXPORT int pthread_spin_trylock(pthread_spinlock_t *spin)
{
    void *address = (void *)(uintptr_t)spin;
    cap_lock_fn *try = CAP_LOCK_FN(pthread_spin_trylock);
    const struct cap_lock lock =
        CAP_LOCK_OF(address, WIO_CALL_pthread_spin_trylock, CAP_CALLER(), 0, false);
    return cap_lock_tried(&lock, try, cap_lock_try(address, try));
}

CAP_EXPORT int pthread_spin_unlock(pthread_spinlock_t *spin)
{
    const uintptr_t source = CAP_CALLER();
    void *address = (void *)(uintptr_t)spin;
    cap_lock_fn *real = CAP_LOCK_FN(pthread_spin_unlock);
    const uint32_t *waiters = cap_waiters_of(address);
    if (CAP_UNLIKELY(!cap_unlock_begin(address, waiters))) {
        const struct cap_lock lock = spin_of(address, WIO_CALL_pthread_spin_unlock, source);
        return cap_unlock(&lock, real, false);
    }
    int result = real(address);
    if (CAP_UNLIKELY(cap_is_awaited(waiters))) {
        cap_unlock_late(address, WIO_CALL_pthread_spin_unlock, source);
    }
    return result;
}
