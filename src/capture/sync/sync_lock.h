/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking and leaving a lock of any kind: see sync_held.h for what is recorded.
 *
 *     int result = cap_lock_try(mutex, CAP_LOCK_FN(pthread_mutex_trylock));
 *     if (CAP_LIKELY(result == 0)) {
 *         cap_held_push(cap_self, mutex, WIO_CALL_pthread_mutex_lock, CAP_CALLER());
 *         return 0;
 *     }
 *     ... in a function of its own, so that the way above stays short:
 *     if (cap_lock_wait_begin(&wait, &lock, CAP_LOCK_FN(pthread_mutex_trylock), &result)) {
 *         return result;
 *     }
 *     result = CAP_REAL(pthread_mutex_lock)(mutex);
 *     cap_lock_wait_end(&wait, &lock, result);
 *
 * A try is what the lock function itself does first: kinds, errors and owners of locks stay as they
 * are. Where it finds the lock taken the function that the program called is called.
 */
#ifndef WIO_CAPTURE_SYNC_SYNC_LOCK_H
#define WIO_CAPTURE_SYNC_SYNC_LOCK_H

#include "capture/sync/sync.h"
#include "capture/sync/sync_held.h"

/* 0, or an error number. */
typedef int cap_lock_fn(void *lock);

#define CAP_LOCK_FN(symbol) ((cap_lock_fn *)cap_real(WIO_CALL_##symbol))

/* No try was made: nothing is recorded just now. */
#define CAP_NOT_TRIED (-1)

#define CAP_NOINLINE __attribute__((noinline))

/* Take the lock by `try` if it is free; its result, or CAP_NOT_TRIED. */
static inline int cap_lock_try(void *address, cap_lock_fn *try)
{
    return CAP_LIKELY(cap_is_plain(cap_self)) ? try(address) : CAP_NOT_TRIED;
}

/* A lock that is to be waited for, or to be left. */
struct cap_lock {
    void *address;
    uintptr_t source;
    int64_t id;
    uint16_t call;
    bool is_reader;
};

#define CAP_LOCK_OF(address_, number, source_, id_, is_reader_)                                    \
    ((struct cap_lock){.address = (address_),                                                      \
                       .source = (source_),                                                        \
                       .id = (id_),                                                                \
                       .call = (uint16_t)(number),                                                 \
                       .is_reader = (is_reader_)})

struct cap_lock_wait {
    struct cap_thread *self; /* NULL: not recorded */
    uint32_t *waiters;
    struct cap_event ev;
};

/* *result is that of cap_lock_try, not 0. True: what the program gets is *result; else call the
 * real function, then cap_lock_wait_end. */
bool cap_lock_wait_begin(struct cap_lock_wait *wait, const struct cap_lock *lock, cap_lock_fn *try,
                         int *result) CAP_HIDDEN;
void cap_lock_wait_end(struct cap_lock_wait *wait, const struct cap_lock *lock,
                       int result) CAP_HIDDEN;

/* The whole of a trylock; *result as above. */
int cap_lock_tried(const struct cap_lock *lock, cap_lock_fn *try, int result) CAP_HIDDEN;

/* Leave a lock by `real`. `is_contended`: the lock itself says that a thread waits. */
int cap_unlock(const struct cap_lock *lock, cap_lock_fn *real, bool is_contended) CAP_HIDDEN;
/* A waiter came during an unlock without event: write the events of lock and unlock. */
void cap_unlock_late(void *address, unsigned call, uintptr_t source) CAP_HIDDEN;

/* True: no event will come of it, so call the real function, and cap_unlock_late if afterwards the
 * lock is awaited. False: cap_unlock. */
static inline bool cap_unlock_begin(const void *address, const uint32_t *waiters)
{
    struct cap_thread *self = cap_self;
    if (CAP_UNLIKELY(!cap_is_plain(self)) || CAP_UNLIKELY(!cap_held_is_only(self, address)) ||
        CAP_UNLIKELY(cap_is_awaited(waiters))) {
        return false;
    }
    return cap_held_drop_only(self);
}

/* All of it, where a few instructions do not count. */
static inline int cap_unlock_any(const struct cap_lock *lock, cap_lock_fn *real)
{
    const uint32_t *waiters = cap_waiters_of(lock->address);
    if (!cap_unlock_begin(lock->address, waiters)) {
        return cap_unlock(lock, real, false);
    }
    int result = real(lock->address);
    if (CAP_UNLIKELY(cap_is_awaited(waiters))) {
        cap_unlock_late(lock->address, lock->call, lock->source);
    }
    return result;
}

#endif
