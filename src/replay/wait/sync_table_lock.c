/* SPDX-License-Identifier: Apache-2.0 */
/* Mutexes and their like: first come, first served. */
#include "base/clock.h"
#include "replay/wait/sync_table_wait.h"

static bool try_exclusive(struct rp_waiting *waiting, uint32_t *seen_out)
{
    struct rp_gate_lock *slot = &waiting->gate->locks[waiting->index];
    *seen_out = 0;
    return atomic_compare_exchange_strong(&slot->state, seen_out, WIO_LOCK_EXCLUSIVE);
}

static bool try_shared(struct rp_waiting *waiting, uint32_t *seen_out)
{
    struct rp_gate_lock *slot = &waiting->gate->locks[waiting->index];
    *seen_out = atomic_load(&slot->state);
    while (*seen_out < WIO_LOCK_EXCLUSIVE - 1) {
        if (atomic_compare_exchange_weak(&slot->state, seen_out, *seen_out + 1)) {
            return true;
        }
    }
    return false;
}

static bool wait_for_lock(struct rp_waiting *waiting, bool is_shared)
{
    struct rp_gate_lock *slot = &waiting->gate->locks[waiting->index];
    atomic_fetch_add(&slot->shared_sleepers, is_shared ? 1 : 0);
    bool is_over = rp_gate_wait(waiting);
    atomic_fetch_sub(&slot->shared_sleepers, is_shared ? 1 : 0);
    return is_over;
}

bool rp_gate_lock(struct rp_gate *gate, uint32_t lock, uint32_t stream, bool is_shared,
                  uint64_t *waited_ns_out)
{
    uint32_t seen;
    struct rp_gate_lock *slot = &gate->locks[lock];
    struct rp_waiting waiting = {.gate = gate,
                                 .stream = stream,
                                 .at = RP_AT_LOCK + lock,
                                 .index = lock,
                                 .word = &slot->state,
                                 .sleepers = &slot->sleepers,
                                 .is_over = is_shared ? try_shared : try_exclusive};
    *waited_ns_out = 0;
    if (atomic_load(&slot->owner) == stream + 1) {
        return true; /* taken twice by its owner counts once */
    }
    if (!waiting.is_over(&waiting, &seen)) {
        if (!wait_for_lock(&waiting, is_shared)) {
            return false;
        }
        *waited_ns_out = wio_clock_mono_ns();
    }
    if (!is_shared && !waiting.is_passed) {
        atomic_store(&slot->owner, stream + 1);
    } else if (is_shared && waiting.is_passed) {
        atomic_fetch_add(&slot->passed, 1);
    }
    return true;
}

/* Did the leaving reader go on without a share? Of the readers that leave, as many give nothing
 * back as went on without one. */
static bool had_none(struct rp_gate_lock *slot)
{
    uint32_t passed = atomic_load(&slot->passed);
    while (passed != 0 && !atomic_compare_exchange_weak(&slot->passed, &passed, passed - 1)) {
    }
    return passed != 0;
}

/* Only one can have it, unless some want a share: those all may. One that is woken in vain, because
 * another thread was faster, sleeps again, and that thread wakes the next when it leaves. */
static void wake_next(struct rp_gate_lock *slot)
{
    if (atomic_load(&slot->sleepers) == 0) {
        return;
    }
    if (atomic_load(&slot->shared_sleepers) == 0) {
        rp_gate_wake_one(&slot->state);
    } else {
        rp_gate_wake(&slot->state);
    }
}

void rp_gate_unlock(struct rp_gate *gate, uint32_t lock, uint32_t stream, bool is_shared)
{
    struct rp_gate_lock *slot = &gate->locks[lock];
    if (is_shared && had_none(slot)) {
        return;
    }
    if (is_shared) {
        uint32_t readers = atomic_load(&slot->state);
        while (readers != 0 && readers != WIO_LOCK_EXCLUSIVE &&
               !atomic_compare_exchange_weak(&slot->state, &readers, readers - 1)) {
        }
    } else if (atomic_load(&slot->owner) == stream + 1) {
        atomic_store(&slot->owner, 0);
        atomic_store(&slot->state, 0);
    }
    wake_next(slot);
}

void rp_gate_unlock_all(struct rp_gate *gate, uint32_t stream)
{
    for (uint32_t lock = 0; lock < gate->waits->lock_count; lock++) {
        if (atomic_load(&gate->locks[lock].owner) == stream + 1) {
            rp_gate_unlock(gate, lock, stream, false);
        }
    }
}
