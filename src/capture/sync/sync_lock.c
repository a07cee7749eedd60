/* SPDX-License-Identifier: Apache-2.0 */
/* Locks that have to be waited for, and those whose leaving is recorded. R-SYNC-2, R-SYNC-3 */
#include "capture/sync/sync_lock.h"

#include "capture/core/process.h"
#include "capture/sync/sync_object.h"
#include "capture/sync/sync_told.h"

void cap_emit_wait(struct cap_thread *self, struct cap_event *ev, const int64_t arg[2])
{
    ev->offset = arg[0];
    ev->size = (uint64_t)arg[1];
    cap_emit(self, ev);
}

void cap_emit_wait_ext(struct cap_thread *self, const struct cap_event *ev, const int64_t arg[4])
{
    struct cap_ext ext = CAP_EXT;
    for (unsigned i = 0; i < 4; i++) {
        ext.arg[i] = arg[i];
    }
    cap_emit_ext(self, ev, &ext);
}

static bool is_taken(int result)
{
    return result == 0 || result == EOWNERDEAD;
}

/* A robust mutex that is lost stays locked by a second try: what a try says, but that the lock is
 * not free, is what the lock function would say. */
static bool is_answer(int result)
{
    return result != EBUSY && result != CAP_NOT_TRIED;
}

static void settle(const struct cap_lock *lock, int result)
{
    struct cap_thread *self = cap_self;
    if (is_taken(result)) {
        cap_held_push(self, lock->address, lock->call, lock->source);
    } else if (cap_enter(lock->source, lock->call) != NULL) {
        struct cap_event ev = CAP_EVENT_OF(lock->call, lock->source);
        ev.begin = cap_begin(self);
        ev.end = ev.begin;
        ev.result = result;
        ev.error = result;
        const int64_t arg[2] = {lock->id, lock->is_reader};
        cap_emit_wait(self, &ev, arg);
    }
}

/* A thread that has recorded nothing yet (a fresh child of fork) shall not begin with a lock that
 * was free. */
static bool may_try_quietly(void)
{
    const struct cap_thread *self = cap_self;
    return !self->is_ready && self->mute == 0 && self->watch == CAP_WATCH_NONE;
}

bool cap_lock_wait_begin(struct cap_lock_wait *wait, const struct cap_lock *lock, cap_lock_fn *try,
                         int *result)
{
    wait->self = NULL;
    if (!cap_is_causal) {
        return false;
    }
    if (is_answer(*result)) {
        settle(lock, *result);
        return true;
    }
    if (may_try_quietly()) {
        *result = try(lock->address);
        if (is_answer(*result)) {
            return true;
        }
    }
    struct cap_thread *self = cap_enter(lock->source, lock->call);
    if (self == NULL) {
        return false;
    }
    wait->ev = CAP_EVENT_OF(lock->call, lock->source);
    wait->ev.begin = cap_begin(self);
    wait->waiters = cap_waiters_of(lock->address);
    (void)__atomic_fetch_add(wait->waiters, 1, __ATOMIC_SEQ_CST);
    *result = cap_lock_try(lock->address, try);
    if (is_answer(*result)) {
        (void)__atomic_fetch_sub(wait->waiters, 1, __ATOMIC_SEQ_CST);
        settle(lock, *result);
        return true;
    }
    wait->self = self;
    cap_state_enter(self, CAP_STATE_IN_LOCK);
    return false;
}

void cap_lock_wait_end(struct cap_lock_wait *wait, const struct cap_lock *lock, int result)
{
    struct cap_thread *self = wait->self;
    if (self == NULL) {
        return;
    }
    CAP_KEEP_ERRNO;
    cap_state_leave(self);
    (void)__atomic_fetch_sub(wait->waiters, 1, __ATOMIC_SEQ_CST);
    wait->ev.end = cap_now();
    wait->ev.result = result;
    wait->ev.error = result;
    const int64_t arg[2] = {lock->id, lock->is_reader};
    cap_tell(lock->id);
    cap_emit_wait(self, &wait->ev, arg);
    if (is_taken(result)) {
        cap_held_push_written(self, lock->address, lock->call, lock->source);
    }
}

int cap_lock_tried(const struct cap_lock *lock, cap_lock_fn *try, int result)
{
    if (result == CAP_NOT_TRIED) {
        return try(lock->address);
    }
    if (is_taken(result)) {
        cap_held_push(cap_self, lock->address, lock->call, lock->source);
    }
    return result;
}

static void emit_unlock(struct cap_thread *self, struct cap_event *ev, const struct cap_lock *lock,
                        const struct cap_held *held)
{
    const int64_t arg[2] = {lock->id, held != NULL ? cap_held_is_reader(held) : lock->is_reader};
    cap_emit_wait(self, ev, arg);
}

static void emit_late(struct cap_thread *self, const struct cap_lock *lock,
                      const struct cap_held *held)
{
    CAP_KEEP_ERRNO;
    struct cap_event ev = CAP_EVENT_OF(lock->call, lock->source);
    ev.begin = cap_begin(self);
    ev.end = ev.begin;
    ev.result = 0;
    if (cap_enter(lock->source, lock->call) != NULL && !cap_held_is_internal(self, held)) {
        cap_held_emit(self, held, lock->id);
        emit_unlock(self, &ev, lock, held);
    }
}

void cap_unlock_late(void *address, unsigned call, uintptr_t source)
{
    const struct cap_held held = cap_self->sync.held[0];
    /* The lock may be gone: its memory is not looked at. */
    const struct cap_lock lock =
        CAP_LOCK_OF(address, call, source, cap_object_shared(address), false);
    emit_late(cap_self, &lock, &held);
}

/* With its event; `held` is its entry no longer, NULL where there was none. */
static int unlock_and_record(struct cap_thread *self, const struct cap_lock *lock,
                             cap_lock_fn *real, const struct cap_held *held)
{
    bool is_quiet = held != NULL && held->use < CAP_HELD_WRITTEN;
    if (cap_enter(lock->source, lock->call) == NULL ||
        (is_quiet && cap_held_is_internal(self, held))) {
        return real(lock->address);
    }
    struct cap_event ev = CAP_EVENT_OF(lock->call, lock->source);
    ev.begin = cap_begin(self);
    int result = real(lock->address);
    ev.end = cap_now();
    ev.result = result;
    if (is_quiet) {
        cap_held_emit(self, held, lock->id);
    }
    if (result == 0) {
        emit_unlock(self, &ev, lock, held);
    }
    return result;
}

int cap_unlock(const struct cap_lock *lock, cap_lock_fn *real, bool is_contended)
{
    struct cap_thread *self = cap_self;
    if (!cap_is_plain(self)) {
        return real(lock->address);
    }
    const uint32_t *waiters = cap_waiters_of(lock->address);
    struct cap_held *entry = cap_held_find(self, lock->address);
    if (entry == NULL) {
        return unlock_and_record(self, lock, real, NULL);
    }
    if ((entry->use & ~(CAP_HELD_WRITTEN | CAP_HELD_INTERNAL)) != 0) {
        entry->use -= CAP_HELD_TWICE;
        return real(lock->address);
    }
    const struct cap_held held = *entry;
    cap_held_remove(self, entry);
    if (held.use >= CAP_HELD_INTERNAL) {
        return real(lock->address);
    }
    if (held.use >= CAP_HELD_WRITTEN || is_contended || cap_is_awaited(waiters)) {
        return unlock_and_record(self, lock, real, &held);
    }
    int result = real(lock->address);
    if (CAP_UNLIKELY(cap_is_awaited(waiters))) {
        emit_late(self, lock, &held);
    }
    return result;
}
