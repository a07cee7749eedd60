/* SPDX-License-Identifier: Apache-2.0 */
/* Queues and semaphores: first come, first served. */
#include "base/clock.h"
#include "replay/far.h"
#include "replay/gate_wait.h"

static bool pays_debt(struct rp_gate_queue *slot)
{
    uint32_t debt = atomic_load(&slot->debt);
    while (debt != 0 && !atomic_compare_exchange_weak(&slot->debt, &debt, debt - 1)) {
    }
    return debt != 0;
}

void rp_gate_put_here(struct rp_gate *gate, uint32_t queue)
{
    struct rp_gate_queue *slot = &gate->queues[queue];
    if (pays_debt(slot)) {
        return;
    }
    atomic_fetch_add(&slot->count, 1);
    if (atomic_load(&slot->sleepers) != 0) {
        rp_gate_wake(&slot->count);
    }
}

/* Semaphores do not reach over machines: what no edge ties stays here. */
void rp_gate_put(struct rp_gate *gate, uint32_t index)
{
    const struct wio_waits *waits = gate->waits;
    uint32_t queue = wio_waits_queue(waits, index);
    const struct wio_replay_mail mail = {.kind = RP_MAIL_QUEUE, .index = queue};
    if (index >= waits->edge_count || !rp_far_mail(gate, waits->edges[index].to_stream, &mail, 0)) {
        rp_gate_put_here(gate, queue);
    }
}

/* The count may fall below zero by what the queue held at first. */
static bool try_get(struct rp_waiting *waiting, uint32_t *seen_out)
{
    struct rp_gate_queue *slot = &waiting->gate->queues[waiting->index];
    uint32_t spare = waiting->gate->waits->spare[waiting->index];
    *seen_out = atomic_load(&slot->count);
    while (*seen_out + spare != 0) {
        if (atomic_compare_exchange_weak(&slot->count, seen_out, *seen_out - 1)) {
            return true;
        }
    }
    return false;
}

bool rp_gate_get(struct rp_waiting *waiting, struct wio_release *release_out)
{
    uint32_t seen;
    struct rp_gate *gate = waiting->gate;
    uint32_t index = waiting->index;
    uint32_t queue = wio_waits_queue(gate->waits, index);
    release_out->traced_ns =
        index < gate->waits->edge_count ? gate->waits->edges[index].release_ns : 0;
    release_out->v_ns = 0;
    waiting->index = queue;
    waiting->word = &gate->queues[queue].count;
    waiting->sleepers = &gate->queues[queue].sleepers;
    waiting->is_over = try_get;
    if (try_get(waiting, &seen)) {
        return true;
    }
    bool is_over = rp_gate_wait(waiting);
    atomic_fetch_add(&gate->queues[queue].debt, waiting->is_passed ? 1 : 0);
    release_out->v_ns = wio_clock_mono_ns();
    return is_over;
}
