/* SPDX-License-Identifier: Apache-2.0 */
/* Queues and semaphores: first come, first served. */
#include "base/clock.h"
#include "replay/launcher/remote.h"
#include "replay/wait/sync_table_wait.h"

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

/* Some of the GETs that are one: `units` from one queue. They are sorted by queue. */
struct queue_units {
    uint32_t first;
    uint32_t queue;
    uint32_t units;
};

static uint32_t queue_of(const struct rp_waiting *waiting, uint32_t number)
{
    const struct wio_waits *waits = waiting->gate->waits;
    return wio_waits_queue(waits, waits->acts[waiting->at - 1 + number].index);
}

/* The part behind `part`; false at the end. Begin with zeros. */
static bool next_part(const struct rp_waiting *waiting, struct queue_units *part)
{
    uint32_t first = part->first + part->units;
    uint32_t end = first;
    if (first >= waiting->together) {
        return false;
    }
    part->queue = queue_of(waiting, first);
    while (end < waiting->together && queue_of(waiting, end) == part->queue) {
        end++;
    }
    part->first = first;
    part->units = end - first;
    return true;
}

/* The count may fall below zero by what the queue held at first. */
static bool try_part(struct rp_gate *gate, const struct queue_units *part, uint32_t *seen_out)
{
    struct rp_gate_queue *slot = &gate->queues[part->queue];
    uint32_t spare = gate->waits->spare[part->queue];
    *seen_out = atomic_load(&slot->count);
    while (*seen_out + spare >= part->units) {
        if (atomic_compare_exchange_weak(&slot->count, seen_out, *seen_out - part->units)) {
            return true;
        }
    }
    return false;
}

static void sleep_at(struct rp_waiting *waiting, uint32_t queue)
{
    waiting->word = &waiting->gate->queues[queue].count;
    waiting->sleepers = &waiting->gate->queues[queue].sleepers;
}

/* Does each queue hold enough? Else the thread sleeps at the first that does not. */
static bool have_all(struct rp_waiting *waiting, uint32_t *seen_out)
{
    struct queue_units part = {0};
    struct rp_gate *gate = waiting->gate;
    while (next_part(waiting, &part)) {
        *seen_out = atomic_load(&gate->queues[part.queue].count);
        if (*seen_out + gate->waits->spare[part.queue] < part.units) {
            sleep_at(waiting, part.queue);
            return false;
        }
    }
    return true;
}

static void give_back(struct rp_waiting *waiting, uint32_t until)
{
    struct queue_units part = {0};
    while (next_part(waiting, &part) && part.first < until) {
        struct rp_gate_queue *slot = &waiting->gate->queues[part.queue];
        atomic_fetch_add(&slot->count, part.units);
        if (atomic_load(&slot->sleepers) != 0) {
            rp_gate_wake(&slot->count);
        }
    }
}

/* All or nothing: what was got is given back where another thread was faster with the rest. */
static bool try_get(struct rp_waiting *waiting, uint32_t *seen_out)
{
    struct queue_units part = {0};
    if (!have_all(waiting, seen_out)) {
        return false;
    }
    while (next_part(waiting, &part)) {
        if (!try_part(waiting->gate, &part, seen_out)) {
            sleep_at(waiting, part.queue);
            give_back(waiting, part.first);
            return false;
        }
    }
    return true;
}

/* The wait was given up: what is missing comes later, and is this thread's. */
static void go_into_debt(struct rp_waiting *waiting)
{
    struct queue_units part = {0};
    uint32_t seen;
    while (next_part(waiting, &part)) {
        struct queue_units one = {part.first, part.queue, 1};
        for (uint32_t i = 0; i < part.units; i++) {
            bool is_got = try_part(waiting->gate, &one, &seen);
            atomic_fetch_add(&waiting->gate->queues[part.queue].debt, is_got ? 0 : 1);
        }
    }
}

bool rp_gate_get(struct rp_waiting *waiting, struct wio_release *release_out)
{
    uint32_t seen;
    const struct rp_gate *gate = waiting->gate;
    const struct wio_waits *waits = gate->waits;
    size_t act = waiting->at - 1;
    *release_out = (struct wio_release){0};
    waiting->together = (uint32_t)wio_waits_together(waits, act, waits->first[waiting->stream + 1]);
    for (uint32_t i = 0; i < waiting->together; i++) {
        uint32_t edge = waits->acts[act + i].index;
        uint64_t traced_ns = edge < waits->edge_count ? waits->edges[edge].release_ns : 0;
        wio_release_join(release_out, (struct wio_release){traced_ns, 0});
    }
    waiting->is_over = try_get;
    sleep_at(waiting, queue_of(waiting, 0));
    if (try_get(waiting, &seen)) {
        return true;
    }
    bool is_over = rp_gate_wait(waiting);
    if (waiting->is_passed) {
        go_into_debt(waiting);
    }
    release_out->v_ns = wio_clock_mono_ns();
    return is_over;
}

void rp_gate_wake_get(struct rp_gate *gate, uint32_t stream, size_t act)
{
    const struct wio_waits *waits = gate->waits;
    size_t together = wio_waits_together(waits, act, waits->first[stream + 1]);
    for (size_t i = 0; i < together; i++) {
        rp_gate_wake(&gate->queues[wio_waits_queue(waits, waits->acts[act + i].index)].count);
    }
}
