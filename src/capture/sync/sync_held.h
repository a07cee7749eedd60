/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lockset of a thread, and the waiters for its locks.
 *
 * Most locks are free when they are taken and guard no I/O: an event for each would tell nothing.
 * So taking a free lock only notes it here. The event is written when something else of the thread
 * is recorded before the unlock (cap_emit finds has_pending set), or when another thread waits for
 * the lock meanwhile: it counts itself in a table of counters (R-SYNC-2).
 *
 *     lock:    trylock, cap_held_push                       unlock:  cap_held_drop, unlock, read
 * for waiter:  trylock fails, cap_waiters++, trylock, lock           waiters once more
 *
 * The second check of each side closes the gap: either the waiter's second trylock succeeds, or the
 * holder sees the counter behind its unlock.
 *
 * A signal handler may push and pop between any two instructions, and may write what is pending.
 */
#ifndef WIO_CAPTURE_SYNC_SYNC_HELD_H
#define WIO_CAPTURE_SYNC_SYNC_HELD_H

#include "capture/core/capture.h"

/* struct cap_held.use: how often it was taken again (recursive locks, readers), and: */
#define CAP_HELD_TWICE 1u
#define CAP_HELD_WRITTEN 0x40000000u  /* its event is there, so the unlock makes one too */
#define CAP_HELD_INTERNAL 0x80000000u /* taken by an MPI library: no events */

/* How many threads wait for objects with this hash. In memory that a fork wipes. */
extern uint32_t *cap_waiters CAP_HIDDEN;

static inline uint32_t *cap_waiters_of(const void *object)
{
    uint32_t hash = (uint32_t)((uintptr_t)object >> 3) * 0x9e3779b1u;
    return &cap_waiters[hash >> 24];
}

_Static_assert(CAP_WAITERS == 1u << 8, "the hash has 8 bits");

static inline bool cap_is_awaited(const uint32_t *waiters)
{
    return __atomic_load_n(waiters, __ATOMIC_SEQ_CST) != 0;
}

/* Once, while the process is configured. */
void cap_held_configure(void) CAP_HIDDEN;
/* Write the events of all locks that are held and have none yet. */
void cap_held_write(struct cap_thread *self) CAP_HIDDEN;
/* The lock was free and is taken. This is for where others are held, or it is this one again. */
void cap_held_push_more(struct cap_thread *self, const void *address, unsigned call,
                        uintptr_t source) CAP_HIDDEN;
/* It was taken after a wait, and the event for that is written. */
void cap_held_push_written(struct cap_thread *self, const void *address, unsigned call,
                           uintptr_t source) CAP_HIDDEN;
/* Its entry; NULL where it is not known. */
struct cap_held *cap_held_find(struct cap_thread *self, const void *address) CAP_HIDDEN;
/* Take the entry out. */
void cap_held_remove(struct cap_thread *self, struct cap_held *held) CAP_HIDDEN;
/* Write the event of a taken lock with this id. */
void cap_held_emit(struct cap_thread *self, const struct cap_held *held, int64_t id) CAP_HIDDEN;
/* Was it taken by an MPI library? */
bool cap_held_is_internal(struct cap_thread *self, const struct cap_held *held) CAP_HIDDEN;
/* By the call that took it. */
bool cap_held_is_reader(const struct cap_held *held) CAP_HIDDEN;

static inline void cap_held_push(struct cap_thread *self, const void *address, unsigned call,
                                 uintptr_t source)
{
    if (CAP_UNLIKELY(self->sync.held_count != 0)) {
        cap_held_push_more(self, address, call, source);
        return;
    }
    struct cap_held *held = &self->sync.held[0];
    self->sync.held_count = 1; /* a handler that comes now begins behind it */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    held->begin = cap_now();
    held->source = source;
    held->call = call;
    held->use = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    held->lock = (uintptr_t)address;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->has_pending |= CAP_PENDING_EVENTS;
}

/* The only lock that is held is this one, taken once and not written. */
static inline bool cap_held_is_only(const struct cap_thread *self, const void *address)
{
    const struct cap_held *held = &self->sync.held[0];
    return self->sync.held_count == 1 && held->lock == (uintptr_t)address && held->use == 0;
}

/* The only one is let go without an event; its fields stay where they are until the next push.
 * False: a handler has written its event meanwhile, so that it is held still, and to be let go with
 * one. */
static inline bool cap_held_drop_only(struct cap_thread *self)
{
    struct cap_held *held = &self->sync.held[0];
    uintptr_t lock = held->lock;
    held->lock = 0; /* from here on no handler finds it */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (CAP_UNLIKELY(held->use != 0)) {
        held->lock = lock;
        return false;
    }
    self->has_pending &= (uint8_t)~CAP_PENDING_EVENTS;
    self->sync.held_count = 0;
    return true;
}

#endif
