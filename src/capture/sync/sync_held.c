/* SPDX-License-Identifier: Apache-2.0 */
/* Locks that a thread holds, beyond the first one; their events. */
#include "capture/sync/sync_held.h"

#include "capture/core/process.h"
#include "capture/sync/sync_mutex.h"
#include "capture/sync/sync_object.h"
#include "capture/sync/sync_told.h"

uint32_t *cap_waiters;
int64_t cap_told[CAP_TOLD_MAX];

void cap_held_configure(void)
{
    cap_waiters = cap_image->sync.waiters;
}

bool cap_held_is_reader(const struct cap_held *held)
{
    unsigned op = wio_call_op(held->call);
    return op == WIO_OP_pthread_rwlock_rdlock || op == WIO_OP_pthread_rwlock_tryrdlock;
}

/* Of a lock that is still held, so its memory is there. */
static int64_t id_of(const struct cap_held *held, uintptr_t address)
{
    const void *lock = (const void *)address;
    switch ((unsigned)wio_call_op(held->call)) {
    case WIO_OP_pthread_mutex_lock:
    case WIO_OP_pthread_mutex_trylock:
    case WIO_OP_mtx_lock:
    case WIO_OP_mtx_trylock:
        return cap_object_id(lock, cap_mutex_is_shared(lock));
    case WIO_OP_pthread_spin_lock:
    case WIO_OP_pthread_spin_trylock:
        return cap_object_shared(lock); /* an int does not say */
    case WIO_OP_pthread_rwlock_rdlock:
    case WIO_OP_pthread_rwlock_tryrdlock:
    case WIO_OP_pthread_rwlock_wrlock:
    case WIO_OP_pthread_rwlock_trywrlock:
        return cap_object_id(lock, cap_rwlock_is_shared(lock));
    default:
        return (int64_t)address;
    }
}

void cap_held_emit(struct cap_thread *self, const struct cap_held *held, int64_t id)
{
    struct cap_event ev = CAP_EVENT_OF(held->call, held->source);
    ev.begin = held->begin;
    ev.end = held->begin;
    ev.result = 0;
    ev.offset = id;
    cap_tell(id);
    ev.size = cap_held_is_reader(held);
    /* The frames of that moment are gone, and it was not before the lock that the thread stood. */
    uint8_t flags = self->flags;
    self->flags = (uint8_t)(flags & ~(WIO_EVENT_STACK | WIO_EVENT_HOLD));
    cap_emit(self, &ev);
    self->flags = flags;
}

bool cap_held_is_internal(struct cap_thread *self, const struct cap_held *held)
{
    struct cap_module module;
    return held->source - self->lo >= self->span && !cap_process.with_mpi_internals &&
           cap_module_find(self, held->source, &module) && module.is_internal;
}

void cap_held_write(struct cap_thread *self)
{
    self->has_pending &= (uint8_t)~CAP_PENDING_EVENTS;
    for (uint32_t i = 0; i < self->sync.held_count; i++) {
        struct cap_held *held = &self->sync.held[i];
        uintptr_t address = __atomic_load_n(&held->lock, __ATOMIC_RELAXED);
        if (address == 0 || held->use >= CAP_HELD_WRITTEN) {
            continue;
        }
        if (cap_held_is_internal(self, held)) {
            held->use |= CAP_HELD_INTERNAL;
        } else {
            held->use |= CAP_HELD_WRITTEN;
            cap_held_emit(self, held, id_of(held, address));
        }
    }
}

struct cap_held *cap_held_find(struct cap_thread *self, const void *address)
{
    for (uint32_t i = self->sync.held_count; i > 0; i--) {
        if (self->sync.held[i - 1].lock == (uintptr_t)address) {
            return &self->sync.held[i - 1];
        }
    }
    return NULL;
}

/* A new entry at the end. False: there are too many. */
static bool append(struct cap_thread *self, const void *address, struct cap_held fresh)
{
    uint32_t place = self->sync.held_count;
    if (place == CAP_HELD_MAX) {
        return false;
    }
    fresh.lock = 0;
    self->sync.held_count = place + 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->sync.held[place] = fresh;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->sync.held[place].lock = (uintptr_t)address;
    return true;
}

void cap_held_push_more(struct cap_thread *self, const void *address, unsigned call,
                        uintptr_t source)
{
    struct cap_held *known = cap_held_find(self, address);
    if (known != NULL) {
        known->use += CAP_HELD_TWICE;
        return;
    }
    const struct cap_held fresh = {.begin = cap_now(), .source = source, .call = call};
    if (append(self, address, fresh)) {
        self->has_pending |= CAP_PENDING_EVENTS;
    } else if (!cap_held_is_internal(self, &fresh)) {
        cap_held_emit(self, &fresh, id_of(&fresh, (uintptr_t)address));
    }
}

void cap_held_push_written(struct cap_thread *self, const void *address, unsigned call,
                           uintptr_t source)
{
    struct cap_held *known = cap_held_find(self, address);
    if (known != NULL) {
        known->use |= CAP_HELD_WRITTEN;
        return;
    }
    (void)append(self, address,
                 (struct cap_held){.source = source, .call = call, .use = CAP_HELD_WRITTEN});
}

void cap_held_remove(struct cap_thread *self, struct cap_held *held)
{
    held->lock = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    uint32_t count = self->sync.held_count;
    while (count > 0 && self->sync.held[count - 1].lock == 0) {
        count--;
    }
    self->sync.held_count = count;
    if (count == 0) {
        self->has_pending &= (uint8_t)~CAP_PENDING_EVENTS;
    }
}
