/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/gate.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "replay/far.h"
#include "replay/pace.h"

/* News that come soon are not worth a sleep: waking a thread on another CPU takes tens of
 * microseconds, in a virtual machine up to a hundred. */
#define SPIN_NS 1000000u
/* Nobody sleeps longer without a look at `abort`. */
#define NAP_NS 50000000

/* ---- memory ---- */

static size_t aligned(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

static size_t lay_out(struct rp_gate *gate, const struct wio_waits *waits, char *memory)
{
    size_t streams = aligned((size_t)waits->stream_count * sizeof(*gate->streams));
    size_t meetings = aligned((size_t)waits->meeting_count * sizeof(*gate->meetings));
    size_t locks = aligned((size_t)waits->lock_count * sizeof(*gate->locks));
    size_t queues = aligned((size_t)waits->queue_count * sizeof(*gate->queues));
    size_t edges = aligned((size_t)waits->edge_count * sizeof(*gate->edges));
    if (memory != NULL) {
        gate->streams = (void *)memory;
        gate->meetings = (void *)(memory + streams);
        gate->locks = (void *)(memory + streams + meetings);
        gate->queues = (void *)(memory + streams + meetings + locks);
        gate->edges = (void *)(memory + streams + meetings + locks + queues);
    }
    return streams + meetings + locks + queues + edges + 64;
}

size_t rp_gate_size(const struct wio_waits *waits)
{
    struct rp_gate unused;
    return lay_out(&unused, waits, NULL);
}

enum wio_status rp_gate_init(struct rp_gate *gate, const struct wio_waits *waits,
                             struct rp_board *board, void *memory, struct wio_error *err)
{
    *gate = (struct rp_gate){.waits = waits, .board = board, .cpus = rp_pace_cpus()};
    if (memory == NULL) {
        gate->bytes = rp_gate_size(waits);
        memory = mmap(NULL, gate->bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
            return wio_error_sys(err, NULL, "cannot get %zu bytes of shared memory", gate->bytes);
        }
        gate->memory = memory;
    }
    (void)lay_out(gate, waits, memory);
    return WIO_OK;
}

void rp_gate_fini(struct rp_gate *gate)
{
    if (gate->memory != NULL) {
        (void)munmap(gate->memory, gate->bytes);
    }
    *gate = (struct rp_gate){0};
}

/* ---- futexes ---- */

static void sleep_on(void *word, uint32_t seen)
{
    const struct timespec moment = {0, NAP_NS};
    (void)syscall(SYS_futex, word, FUTEX_WAIT, seen, &moment, NULL, 0);
}

static void wake_all(void *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* A wait: asks `is_over` for as long as it takes, and for the value of the futex to sleep on. */
struct waiting {
    struct rp_gate *gate;
    uint32_t stream;
    uint64_t at; /* what rp_gate_stream.act becomes */
    uint32_t index;
    bool is_busy; /* the program looked again and again: see looks_on */
    void *word;
    _Atomic uint32_t *sleepers;
    bool (*is_over)(struct waiting *waiting, uint32_t *seen_out);
};

static bool spin(struct waiting *waiting)
{
    uint32_t seen;
    struct rp_board *board = waiting->gate->board;
    uint64_t end = wio_clock_mono_ns() + SPIN_NS;
    while (!waiting->is_over(waiting, &seen)) {
        if (wio_clock_mono_ns() >= end || rp_board_is_aborted(board)) {
            return false;
        }
        rp_pace_spin(board, waiting->gate->cpus);
    }
    return true;
}

/* MPI libraries and flags in memory are waited for by looking, never by sleeping. That has its
 * effect on everybody else: no processor falls asleep, and who waits for a storage device is
 * awake at once. So the replay looks, too. */
static bool looks_on(uint8_t evidence)
{
    return evidence == WIO_EVIDENCE_MPI || evidence == WIO_EVIDENCE_HELD;
}

static void rest(struct waiting *waiting, uint32_t seen)
{
    if (waiting->is_busy) {
        rp_pace_spin(waiting->gate->board, waiting->gate->cpus);
    } else {
        sleep_on(waiting->word, seen);
    }
}

/* The one who gives changes the word first and looks for sleepers then, we the other way round: one
 * of both notices. */
static bool rest_until_over(struct waiting *waiting)
{
    struct rp_wait wait;
    uint32_t seen;
    struct rp_gate *gate = waiting->gate;
    _Atomic uint64_t *named = &gate->streams[waiting->stream].act;
    bool is_over;
    rp_wait_begin(gate->board, &wait);
    atomic_store(named, waiting->at);
    atomic_fetch_add(waiting->sleepers, waiting->is_busy ? 0 : 1);
    while (!(is_over = waiting->is_over(waiting, &seen)) && !rp_board_is_aborted(gate->board)) {
        rest(waiting, seen);
    }
    atomic_fetch_sub(waiting->sleepers, waiting->is_busy ? 0 : 1);
    atomic_store(named, 0);
    rp_wait_end(gate->board);
    return is_over;
}

static bool wait_for(struct waiting *waiting)
{
    uint32_t seen;
    return waiting->is_over(waiting, &seen) || spin(waiting) || rest_until_over(waiting);
}

/* ---- edges ---- */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LOW_HALF 0u
#else
#define LOW_HALF 4u
#endif

/* The half that an odd number makes odd: a futex has 32 bits. */
static void *low_half(_Atomic uint64_t *value)
{
    return (void *)((uintptr_t)value + LOW_HALF);
}

static void give_here(struct rp_gate *gate, uint32_t edge, uint64_t v_ns)
{
    struct rp_gate_edge *slot = &gate->edges[edge];
    atomic_store(&slot->v_ns, v_ns | 1);
    if (atomic_load(&gate->streams[gate->waits->edges[edge].to_stream].is_asleep) != 0) {
        wake_all(low_half(&slot->v_ns));
    }
}

void rp_gate_give(struct rp_gate *gate, uint32_t edge, uint64_t v_ns)
{
    const struct wio_replay_mail mail = {.kind = RP_MAIL_EDGE, .index = edge};
    if (!rp_far_mail(gate, gate->waits->edges[edge].to_stream, &mail, v_ns)) {
        give_here(gate, edge, v_ns);
    }
}

bool rp_gate_is_given(const struct rp_gate *gate, uint32_t edge)
{
    return atomic_load(&gate->edges[edge].v_ns) != 0;
}

static bool is_given(struct waiting *waiting, uint32_t *seen_out)
{
    *seen_out = 0;
    return atomic_load(&waiting->gate->edges[waiting->index].v_ns) != 0;
}

static bool take(struct waiting *waiting, struct wio_release *release_out)
{
    struct rp_gate *gate = waiting->gate;
    _Atomic uint64_t *v_ns = &gate->edges[waiting->index].v_ns;
    waiting->is_busy = looks_on(gate->waits->edges[waiting->index].evidence);
    waiting->word = low_half(v_ns);
    waiting->sleepers = &gate->streams[waiting->stream].is_asleep;
    waiting->is_over = is_given;
    bool is_over = wait_for(waiting);
    release_out->traced_ns = gate->waits->edges[waiting->index].release_ns;
    release_out->v_ns = atomic_load(v_ns);
    return is_over;
}

/* ---- collectives ---- */

static void store_max(_Atomic uint64_t *value, uint64_t candidate)
{
    uint64_t now = atomic_load(value);
    while (candidate > now && !atomic_compare_exchange_weak(value, &now, candidate)) {
    }
}

/* `count` givers have come, the last one at v_ns. */
static void enter_here(struct rp_gate *gate, uint32_t meeting, uint32_t count, uint64_t v_ns)
{
    struct rp_gate_meeting *slot = &gate->meetings[meeting];
    store_max(&slot->v_ns, v_ns);
    uint32_t come = atomic_fetch_add(&slot->come, count) + count;
    if (come >= gate->waits->meetings[meeting].givers && atomic_load(&slot->sleepers) != 0) {
        wake_all(&slot->come);
    }
}

/* Other machines hear of it when the last giver of this one has come. */
void rp_gate_enter(struct rp_gate *gate, uint32_t meeting, uint64_t v_ns)
{
    enter_here(gate, meeting, 1, v_ns);
    if (gate->far == NULL) {
        return;
    }
    struct rp_gate_meeting *slot = &gate->meetings[meeting];
    store_max(&slot->here_v_ns, v_ns);
    uint32_t here = gate->far->meetings[meeting].here;
    if (atomic_fetch_add(&slot->here, 1) + 1 == here) {
        rp_far_announce(gate, meeting, here, atomic_load(&slot->here_v_ns));
    }
}

static bool is_complete(struct waiting *waiting, uint32_t *seen_out)
{
    *seen_out = atomic_load(&waiting->gate->meetings[waiting->index].come);
    return *seen_out >= waiting->gate->waits->meetings[waiting->index].givers;
}

static bool leave(struct waiting *waiting, struct wio_release *release_out)
{
    struct rp_gate *gate = waiting->gate;
    struct rp_gate_meeting *slot = &gate->meetings[waiting->index];
    waiting->is_busy = looks_on(gate->waits->meetings[waiting->index].evidence);
    waiting->word = &slot->come;
    waiting->sleepers = &slot->sleepers;
    waiting->is_over = is_complete;
    bool is_over = wait_for(waiting);
    release_out->traced_ns = gate->waits->meetings[waiting->index].release_ns;
    release_out->v_ns = atomic_load(&slot->v_ns);
    return is_over;
}

/* ---- queues ---- */

static void put_here(struct rp_gate *gate, uint32_t queue)
{
    struct rp_gate_queue *slot = &gate->queues[queue];
    atomic_fetch_add(&slot->count, 1);
    if (atomic_load(&slot->sleepers) != 0) {
        wake_all(&slot->count);
    }
}

/* Semaphores do not reach over machines: what no edge ties stays here. */
void rp_gate_put(struct rp_gate *gate, uint32_t index)
{
    const struct wio_waits *waits = gate->waits;
    uint32_t queue = wio_waits_queue(waits, index);
    const struct wio_replay_mail mail = {.kind = RP_MAIL_QUEUE, .index = queue};
    if (index >= waits->edge_count || !rp_far_mail(gate, waits->edges[index].to_stream, &mail, 0)) {
        put_here(gate, queue);
    }
}

/* The count may fall below zero by what the queue held at first. */
static bool try_get(struct waiting *waiting, uint32_t *seen_out)
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

static bool get(struct waiting *waiting, struct wio_release *release_out)
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
    bool is_over = wait_for(waiting);
    release_out->v_ns = wio_clock_mono_ns();
    return is_over;
}

bool rp_gate_take(struct rp_gate *gate, uint32_t stream, size_t act,
                  struct wio_release *release_out)
{
    const struct wio_act *wanted = &gate->waits->acts[act];
    struct waiting waiting = {
        .gate = gate, .stream = stream, .at = act + 1, .index = wanted->index};
    switch (wanted->kind) {
    case WIO_ACT_TAKE:
        return take(&waiting, release_out);
    case WIO_ACT_LEAVE:
        return leave(&waiting, release_out);
    default:
        return get(&waiting, release_out);
    }
}

void rp_gate_deliver(struct rp_gate *gate, const struct wio_replay_mail *mail)
{
    uint64_t v_ns = mail->value + (uint64_t)gate->far->clock_ahead_ns;
    if (mail->kind == RP_MAIL_EDGE && mail->index < gate->waits->edge_count) {
        give_here(gate, mail->index, v_ns);
    } else if (mail->kind == RP_MAIL_MEETING && mail->index < gate->waits->meeting_count) {
        enter_here(gate, mail->index, mail->count, v_ns);
    } else if (mail->kind == RP_MAIL_QUEUE && mail->index < gate->waits->queue_count) {
        put_here(gate, mail->index);
    }
}

void rp_gate_pass(struct rp_gate *gate, uint32_t stream)
{
    for (size_t i = gate->waits->first[stream]; i < gate->waits->first[stream + 1]; i++) {
        const struct wio_act *act = &gate->waits->acts[i];
        if (act->kind == WIO_ACT_GIVE || act->kind == WIO_ACT_GIVE_END) {
            rp_gate_give(gate, act->index, 0);
        } else if (act->kind == WIO_ACT_ENTER) {
            rp_gate_enter(gate, act->index, 0);
        } else if (act->kind == WIO_ACT_PUT) {
            rp_gate_put(gate, act->index);
        }
    }
}

/* ---- locks ---- */

static bool try_exclusive(struct waiting *waiting, uint32_t *seen_out)
{
    struct rp_gate_lock *slot = &waiting->gate->locks[waiting->index];
    *seen_out = 0;
    return atomic_compare_exchange_strong(&slot->state, seen_out, WIO_LOCK_EXCLUSIVE);
}

static bool try_shared(struct waiting *waiting, uint32_t *seen_out)
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

bool rp_gate_lock(struct rp_gate *gate, uint32_t lock, uint32_t stream, bool is_shared,
                  uint64_t *waited_ns_out)
{
    uint32_t seen;
    struct rp_gate_lock *slot = &gate->locks[lock];
    struct waiting waiting = {.gate = gate,
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
        if (!wait_for(&waiting)) {
            return false;
        }
        *waited_ns_out = wio_clock_mono_ns();
    }
    if (!is_shared) {
        atomic_store(&slot->owner, stream + 1);
    }
    return true;
}

void rp_gate_unlock(struct rp_gate *gate, uint32_t lock, uint32_t stream, bool is_shared)
{
    struct rp_gate_lock *slot = &gate->locks[lock];
    if (is_shared) {
        uint32_t readers = atomic_load(&slot->state);
        while (readers != 0 && readers != WIO_LOCK_EXCLUSIVE &&
               !atomic_compare_exchange_weak(&slot->state, &readers, readers - 1)) {
        }
    } else if (atomic_load(&slot->owner) == stream + 1) {
        atomic_store(&slot->owner, 0);
        atomic_store(&slot->state, 0);
    }
    if (atomic_load(&slot->sleepers) != 0) {
        wake_all(&slot->state);
    }
}

void rp_gate_unlock_all(struct rp_gate *gate, uint32_t stream)
{
    for (uint32_t lock = 0; lock < gate->waits->lock_count; lock++) {
        if (atomic_load(&gate->locks[lock].owner) == stream + 1) {
            rp_gate_unlock(gate, lock, stream, false);
        }
    }
}
