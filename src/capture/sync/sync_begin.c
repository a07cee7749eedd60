/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks and barriers that begin anew, or end: what has their address next is another one. R-SYNC-12
 *
 * Recorded where something of the one before was, or may have been by another process: most locks
 * are made once, and never waited for.
 */
#include <pthread.h>
#include <threads.h>

#include "capture/sync/sync.h"
#include "capture/sync/sync_barrier.h"
#include "capture/sync/sync_mutex.h"
#include "capture/sync/sync_object.h"
#include "capture/sync/sync_told.h"

static void emit(unsigned call, uintptr_t source, int64_t id)
{
    bool is_needed = cap_is_causal && (id < 0 || cap_is_told(id));
    struct cap_thread *self = is_needed ? cap_enter_sync(source, call) : NULL;
    if (self != NULL) {
        CAP_KEEP_ERRNO;
        const int64_t arg[4] = {id};
        struct cap_event ev = CAP_EVENT_OF(call, source);
        ev.begin = cap_begin(self);
        ev.end = ev.begin;
        ev.result = 0;
        cap_emit_wait_ext(self, &ev, arg);
    }
}

static int64_t id_of(const void *object, bool is_shared)
{
    return cap_is_causal ? cap_object_id(object, is_shared) : 0;
}

/* No other thread can use it before the call is done: its id is read afterwards. */
#define DEFINE_INIT(symbol, object, is_shared, parameters, ...)                                    \
    CAP_EXPORT int symbol parameters                                                               \
    {                                                                                              \
        int result = CAP_REAL(symbol)(__VA_ARGS__);                                                \
        if (result == 0) {                                                                         \
            emit(WIO_CALL_##symbol, CAP_CALLER(),                                                  \
                 id_of((const void *)(uintptr_t)(object), is_shared));                             \
        }                                                                                          \
        return result;                                                                             \
    }

/* .. nor from the beginning of this call: its id is read before. One in use stays what it is. */
#define DEFINE_DESTROY(symbol, object, is_shared, parameters)                                      \
    CAP_EXPORT int symbol parameters                                                               \
    {                                                                                              \
        const int64_t id = id_of((const void *)(uintptr_t)(object), is_shared);                    \
        int result = CAP_REAL(symbol)(object);                                                     \
        if (result == 0) {                                                                         \
            emit(WIO_CALL_##symbol, CAP_CALLER(), id);                                             \
        }                                                                                          \
        return result;                                                                             \
    }

static bool is_shared_mutex(const void *mutex)
{
    return cap_mutex_is_shared(mutex);
}

DEFINE_INIT(pthread_mutex_init, mutex, cap_mutex_is_shared(mutex),
            (pthread_mutex_t * mutex, const pthread_mutexattr_t *attributes), mutex, attributes)
DEFINE_DESTROY(pthread_mutex_destroy, mutex, cap_mutex_is_shared(mutex), (pthread_mutex_t * mutex))
DEFINE_INIT(mtx_init, mutex, is_shared_mutex(mutex), (mtx_t * mutex, int type), mutex, type)
CAP_EXPORT void mtx_destroy(mtx_t *mutex)
{
    const int64_t id = id_of(mutex, is_shared_mutex(mutex));
    CAP_REAL(mtx_destroy)(mutex);
    emit(WIO_CALL_mtx_destroy, CAP_CALLER(), id);
}
DEFINE_INIT(pthread_rwlock_init, lock, cap_rwlock_is_shared(lock),
            (pthread_rwlock_t * lock, const pthread_rwlockattr_t *attributes), lock, attributes)
DEFINE_DESTROY(pthread_rwlock_destroy, lock, cap_rwlock_is_shared(lock), (pthread_rwlock_t * lock))
DEFINE_INIT(pthread_spin_init, lock, shared == PTHREAD_PROCESS_SHARED,
            (pthread_spinlock_t * lock, int shared), lock, shared)
DEFINE_INIT(pthread_barrier_init, barrier, cap_barrier_is_shared(barrier),
            (pthread_barrier_t * barrier, const pthread_barrierattr_t *attributes, unsigned count),
            barrier, attributes, count)
