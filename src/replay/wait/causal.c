/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/wait/causal.h"

#include <errno.h>

#include "base/clock.h"
#include "ops/calls.h"
#include "replay/initial/classify.h"
#include "replay/wait/pace.h"
#include "replay/wait/sync_table.h"
#include "schedule/sync.h"

/* An operation that began late does not delay what follows, unless it was later than this: then the
 * machine cannot keep up. */
#define LATE_MAX_NS UINT64_C(2000000)

/* A check whether a request is done takes less than this: longer is a wait. */
#define LOOK_NS 5000u

static struct rp_gate *gate_of(const struct rp_worker *worker)
{
    return worker->run->gate;
}

void rp_causal_begin(struct rp_worker *worker)
{
    struct rp_causal *causal = &worker->causal;
    const struct wio_waits *waits = &worker->run->plan->waits;
    wio_gap_init(&causal->gap, worker->run->scale, worker->traced_ns, worker->free_ns);
    causal->act = waits->first[worker->stream];
    causal->act_end = waits->first[worker->stream + 1];
}

/* Locks and queues are first come, first served by the clock. */
static void keep_to_clock(struct rp_worker *worker)
{
    (void)rp_pace_wait(worker->run->board, worker->run->cpus, worker->causal.gap.v_ns);
}

/* ---- giving ---- */

static bool give(struct rp_worker *worker, const struct wio_act *act)
{
    uint64_t v_ns = worker->causal.gap.v_ns;
    struct rp_gate *gate = gate_of(worker);
    switch (act->kind) {
    case WIO_ACT_GIVE:
    case WIO_ACT_GIVE_END:
        rp_gate_give(gate, act->index, v_ns);
        return true;
    case WIO_ACT_ENTER:
        rp_gate_enter(gate, act->index, v_ns);
        return true;
    case WIO_ACT_POLL:
        worker->causal.poll = act->index + 1;
        return true;
    case WIO_ACT_PUT:
        keep_to_clock(worker);
        rp_gate_put(gate, act->index);
        return true;
    default:
        return false;
    }
}

/* ---- waiting ---- */

struct taken {
    struct wio_release release;
    bool is_any;
    bool is_held;       /* one of them has evidence `held` .. */
    uint64_t lag_ns;    /* .. and is this long behind its release at least */
    uint64_t locked_ns; /* of the trace: when the lock was free, 0 = it was never held before */
};

static void note(struct rp_worker *worker, const struct wio_act *act, struct taken *taken)
{
    const struct wio_waits *waits = gate_of(worker)->waits;
    if (act->kind == WIO_ACT_LEAVE) {
        worker->tally.waits[WIO_EDGE_COLLECTIVE]++;
    } else if (act->index < waits->edge_count) {
        const struct wio_plan_edge *edge = &waits->edges[act->index];
        worker->tally.waits[edge->edge_class]++;
        taken->is_held |= edge->evidence == WIO_EVIDENCE_HELD;
        taken->lag_ns = edge->lag_ns > taken->lag_ns ? edge->lag_ns : taken->lag_ns;
    }
}

/* Acts from `index` on, `together` of them. */
static void take(struct rp_worker *worker, size_t index, size_t together, struct taken *taken)
{
    struct wio_release release = {0};
    struct rp_gate *gate = gate_of(worker);
    const struct wio_act *act = &gate->waits->acts[index];
    if (act->kind == WIO_ACT_LOCKED) {
        uint64_t release_ns = gate->waits->edges[act->index].release_ns;
        taken->locked_ns = release_ns > taken->locked_ns ? release_ns : taken->locked_ns;
        return;
    }
    if (act->kind == WIO_ACT_GET) {
        keep_to_clock(worker);
        worker->causal.may_lock = true;
    }
    if (!rp_gate_take(gate, worker->stream, index, &release)) {
        return; /* aborted */
    }
    taken->is_any = true;
    for (size_t i = 0; i < together; i++) {
        note(worker, &act[i], taken);
    }
    wio_release_join(&taken->release, release);
}

static uint64_t end_of(const struct wio_event *event)
{
    return event->t_ns + (event->result == WIO_RESULT_PENDING ? 0 : event->dur_ns);
}

/* Can the wait have been inside the event? Of what is performed the replay has its own duration. */
static uint64_t wait_end(const struct rp_worker *worker, const struct wio_event *event)
{
    uint8_t kind;
    enum rp_fate fate = rp_classify(&worker->run->plan->observer, event, &kind);
    bool is_performed = fate != RP_FATE_SKIP && fate != RP_FATE_CONTROL;
    return is_performed ? event->t_ns : end_of(event);
}

static void apply(struct rp_worker *worker, const struct wio_event *event,
                  const struct taken *taken)
{
    struct rp_causal *causal = &worker->causal;
    if (!taken->is_any) {
        return;
    }
    causal->has_taken = true;
    if (taken->is_held) {
        wio_gap_take_held(&causal->gap, taken->release, taken->lag_ns, wait_end(worker, event));
    } else {
        wio_gap_take(&causal->gap, taken->release, wait_end(worker, event));
    }
}

/* ---- locks ---- */

static void lock(struct rp_worker *worker, uint32_t number, bool is_shared, struct taken *taken)
{
    uint64_t waited_ns;
    keep_to_clock(worker);
    if (!rp_gate_lock(gate_of(worker), number, worker->stream, is_shared, &waited_ns)) {
        return;
    }
    worker->causal.locks++;
    worker->tally.waits[WIO_EDGE_MUTEX] += taken->locked_ns != 0;
    wio_release_join(&taken->release, (struct wio_release){taken->locked_ns, waited_ns});
    taken->is_any = true;
}

static void unlock(struct rp_worker *worker, uint32_t number, bool is_shared)
{
    keep_to_clock(worker);
    worker->causal.locks -= worker->causal.locks != 0;
    rp_gate_unlock(gate_of(worker), number, worker->stream, is_shared);
}

/* The lock that the event takes or leaves, UINT32_MAX = none that threads have handed on. */
static uint32_t lock_of(const struct rp_worker *worker, const struct wio_event *event,
                        enum wio_lock_step step)
{
    if (step == WIO_LOCK_NONE || gate_of(worker)->waits->lock_count == 0) {
        return UINT32_MAX;
    }
    return wio_waits_lock(gate_of(worker)->waits, worker->process->image, wio_lock_of(event));
}

/* ---- around an event ---- */

void rp_causal_before(struct rp_worker *worker, const struct wio_event *event)
{
    struct rp_causal *causal = &worker->causal;
    const struct wio_act *acts = gate_of(worker)->waits->acts;
    enum wio_lock_step step = wio_lock_step_of(event);
    uint32_t number = lock_of(worker, event, step);
    struct taken taken = {0};
    causal->has_taken = false;
    wio_gap_reach(&causal->gap, event->t_ns);
    if (number != UINT32_MAX && (step == WIO_LOCK_LEAVE || step == WIO_LOCK_LEND)) {
        unlock(worker, number, event->arg[1] == 1 && step == WIO_LOCK_LEAVE);
    }
    for (size_t together; causal->act < causal->act_end; causal->act += together) {
        const struct wio_act *act = &acts[causal->act];
        if (act->seq > event->seq || (act->seq == event->seq && act->kind == WIO_ACT_GIVE_END)) {
            break;
        }
        together = wio_waits_together(gate_of(worker)->waits, causal->act, causal->act_end);
        if (!give(worker, act) && act->seq == event->seq) {
            take(worker, causal->act, together, &taken);
        }
    }
    if (number != UINT32_MAX && step == WIO_LOCK_LEND && !taken.is_any) {
        wio_gap_in_vain(&causal->gap, taken.locked_ns, end_of(event));
    }
    if (number != UINT32_MAX && (step == WIO_LOCK_TAKE || step == WIO_LOCK_LEND)) {
        lock(worker, number, event->arg[1] == 1 && step == WIO_LOCK_TAKE, &taken);
    }
    apply(worker, event, &taken);
}

bool rp_causal_is_pointless(struct rp_worker *worker, const struct wio_event *event)
{
    struct rp_causal *causal = &worker->causal;
    if (causal->poll == 0) {
        return false;
    }
    const struct wio_plan_poll *poll = &gate_of(worker)->waits->polls[causal->poll - 1];
    if (event->seq >= poll->last_seq) {
        causal->poll = 0;
        return false;
    }
    if (!rp_gate_is_given(gate_of(worker), poll->edge)) {
        return false;
    }
    wio_gap_skip(&causal->gap, end_of(event));
    return true;
}

void rp_causal_did(struct rp_worker *worker, const struct wio_event *event, uint64_t due_ns,
                   uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t late_ns = begin_ns > due_ns ? begin_ns - due_ns : 0;
    uint64_t forgiven = late_ns < LATE_MAX_NS ? late_ns : LATE_MAX_NS;
    wio_gap_did(&worker->causal.gap, end_of(event), end_ns - forgiven);
}

void rp_causal_collected(struct rp_worker *worker, const struct wio_event *event,
                         uint64_t before_ns, uint64_t after_ns)
{
    struct wio_gap *gap = &worker->causal.gap;
    uint64_t v_ns = after_ns - before_ns > LOOK_NS ? after_ns : 0;
    if (end_of(event) > gap->call_end) {
        wio_gap_reach(gap, end_of(event)); /* found done while it computed */
    }
    wio_gap_take(gap, (struct wio_release){end_of(event), v_ns}, end_of(event));
}

void rp_causal_waited(struct rp_worker *worker, const struct wio_event *event, uint64_t traced_ns,
                      uint64_t v_ns)
{
    worker->causal.has_taken = true;
    wio_gap_take(&worker->causal.gap, (struct wio_release){traced_ns, v_ns}, end_of(event));
}

void rp_causal_passed(struct rp_worker *worker, const struct wio_event *event)
{
    struct wio_gap *gap = &worker->causal.gap;
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_SLEEP:
        wio_gap_sleep(gap, end_of(event));
        break;
    case WIO_CLASS_HOLD: /* the recorder kept the thread waiting */
        wio_gap_skip(gap, end_of(event));
        break;
    default:
        wio_gap_call(gap, end_of(event), !worker->causal.has_taken && !wio_waits_by_chance(event));
        break;
    }
}

void rp_causal_after(struct rp_worker *worker, const struct wio_event *event)
{
    struct rp_causal *causal = &worker->causal;
    const struct wio_act *acts = gate_of(worker)->waits->acts;
    while (causal->act < causal->act_end && acts[causal->act].seq <= event->seq) {
        (void)give(worker, &acts[causal->act++]);
    }
    worker->free_ns = causal->gap.v_ns;
}

void rp_causal_end(struct rp_worker *worker)
{
    struct rp_causal *causal = &worker->causal;
    const struct wio_act *acts = gate_of(worker)->waits->acts;
    wio_gap_reach(&causal->gap, wio_trace_stream(worker->run->trace, worker->stream)->last_ns);
    while (causal->act < causal->act_end) {
        (void)give(worker, &acts[causal->act++]);
    }
    rp_gate_unlock_all(gate_of(worker), worker->stream);
    worker->free_ns = causal->gap.v_ns;
}
