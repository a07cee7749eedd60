/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/wait/sync_table.h"

#include <sys/mman.h>

#include "replay/launcher/remote.h"
#include "replay/wait/pace.h"
#include "replay/wait/sync_table_wait.h"

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
        rp_gate_wake(low_half(&slot->v_ns));
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

static bool is_given(struct rp_waiting *waiting, uint32_t *seen_out)
{
    *seen_out = 0;
    return atomic_load(&waiting->gate->edges[waiting->index].v_ns) != 0;
}

static bool take(struct rp_waiting *waiting, struct wio_release *release_out)
{
    struct rp_gate *gate = waiting->gate;
    _Atomic uint64_t *v_ns = &gate->edges[waiting->index].v_ns;
    waiting->is_busy = rp_looks_on(gate->waits->edges[waiting->index].evidence);
    waiting->word = low_half(v_ns);
    waiting->sleepers = &gate->streams[waiting->stream].is_asleep;
    waiting->is_over = is_given;
    bool is_over = rp_gate_wait(waiting);
    release_out->traced_ns = gate->waits->edges[waiting->index].release_ns;
    release_out->v_ns = atomic_load(v_ns);
    return is_over;
}

/* ---- collectives ---- */

/* `count` givers have come, the last one at v_ns. */
static void enter_here(struct rp_gate *gate, uint32_t meeting, uint32_t count, uint64_t v_ns)
{
    struct rp_gate_meeting *slot = &gate->meetings[meeting];
    rp_store_max(&slot->v_ns, v_ns);
    uint32_t come = atomic_fetch_add(&slot->come, count) + count;
    if (come >= gate->waits->meetings[meeting].givers && atomic_load(&slot->sleepers) != 0) {
        rp_gate_wake(&slot->come);
    }
}

/* Other machines get a message when the last giver of this one has come. */
void rp_gate_enter(struct rp_gate *gate, uint32_t meeting, uint64_t v_ns)
{
    enter_here(gate, meeting, 1, v_ns);
    if (gate->far == NULL) {
        return;
    }
    struct rp_gate_meeting *slot = &gate->meetings[meeting];
    rp_store_max(&slot->here_v_ns, v_ns);
    uint32_t here = gate->far->meetings[meeting].here;
    if (atomic_fetch_add(&slot->here, 1) + 1 == here) {
        rp_far_announce(gate, meeting, here, atomic_load(&slot->here_v_ns));
    }
}

static bool is_complete(struct rp_waiting *waiting, uint32_t *seen_out)
{
    *seen_out = atomic_load(&waiting->gate->meetings[waiting->index].come);
    return *seen_out >= waiting->gate->waits->meetings[waiting->index].givers;
}

static bool leave(struct rp_waiting *waiting, struct wio_release *release_out)
{
    struct rp_gate *gate = waiting->gate;
    struct rp_gate_meeting *slot = &gate->meetings[waiting->index];
    waiting->is_busy = rp_looks_on(gate->waits->meetings[waiting->index].evidence);
    waiting->word = &slot->come;
    waiting->sleepers = &slot->sleepers;
    waiting->is_over = is_complete;
    bool is_over = rp_gate_wait(waiting);
    release_out->traced_ns = gate->waits->meetings[waiting->index].release_ns;
    release_out->v_ns = atomic_load(&slot->v_ns);
    return is_over;
}

/* ---- all of them ---- */

bool rp_gate_take(struct rp_gate *gate, uint32_t stream, size_t act,
                  struct wio_release *release_out)
{
    const struct wio_act *wanted = &gate->waits->acts[act];
    struct rp_waiting waiting = {
        .gate = gate, .stream = stream, .at = act + 1, .index = wanted->index};
    switch (wanted->kind) {
    case WIO_ACT_TAKE:
        return take(&waiting, release_out);
    case WIO_ACT_LEAVE:
        return leave(&waiting, release_out);
    default:
        return rp_gate_get(&waiting, release_out);
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
        rp_gate_put_here(gate, mail->index);
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
