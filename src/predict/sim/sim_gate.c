/* SPDX-License-Identifier: Apache-2.0 */
/* Edges, collectives and queues of a simulated run. All in simulated time: nothing blocks. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "predict/sim/sim.h"

#define EARLY_MAX 64 /* acts that sim_thread.early has bits for */

enum wio_status sim_gate_init(struct sim_program *program, struct wio_error *err)
{
    const struct wio_waits *waits = program->waits;
    size_t copies = program->copies;
    program->edges = calloc(waits->edge_count * copies + 1, sizeof(*program->edges));
    program->meetings = calloc((size_t)waits->meeting_count + 1, sizeof(*program->meetings));
    program->queues = calloc(waits->queue_count * copies + 1, sizeof(*program->queues));
    program->locks = calloc(waits->lock_count * copies + 1, sizeof(*program->locks));
    if (program->edges == NULL || program->meetings == NULL || program->queues == NULL ||
        program->locks == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for the edges of the trace");
    }
    for (uint32_t i = 0; i < waits->meeting_count; i++) {
        TAILQ_INIT(&program->meetings[i].line);
    }
    for (size_t i = 0; i < waits->queue_count * copies; i++) {
        TAILQ_INIT(&program->queues[i].line);
        program->queues[i].items = waits->spare[i % waits->queue_count];
    }
    for (size_t i = 0; i < waits->lock_count * copies; i++) {
        TAILQ_INIT(&program->locks[i].line);
    }
    return WIO_OK;
}

void sim_gate_fini(struct sim_program *program)
{
    free(program->edges);
    free(program->meetings);
    free(program->queues);
    free(program->locks);
}

/* Each copy of the job has edges and queues of its own; collectives are of all copies. */
static struct sim_edge *edge_of(const struct sim_thread *thread, uint32_t index)
{
    const struct sim_program *program = thread->program;
    return &program->edges[(size_t)thread->id.copy * program->waits->edge_count + index];
}

static struct sim_queue *queue_of(const struct sim_thread *thread, uint32_t number)
{
    const struct sim_program *program = thread->program;
    return &program->queues[(size_t)thread->id.copy * program->waits->queue_count + number];
}

/* One of the things that the thread waits for has come. */
static void came(struct sim *sim, struct sim_thread *thread)
{
    if (--thread->gate.lacking == 0) {
        sim_wake(sim, thread, sim->now_ns);
    }
}

/* ---- giving ---- */

static void give_edge(struct sim *sim, const struct sim_thread *giver, uint32_t index)
{
    struct sim_edge *edge = edge_of(giver, index);
    edge->is_given = true;
    edge->given_ns = sim->now_ns;
    if (edge->waiting != 0) {
        came(sim, &sim->threads[edge->waiting - 1]);
    }
}

static bool is_complete(const struct sim_program *program, uint32_t index)
{
    return program->meetings[index].arrived >=
           (uint64_t)program->waits->meetings[index].givers * program->copies;
}

/* The last giver wakes all threads that wait in line. */
static void enter(struct sim *sim, struct sim_program *program, uint32_t index)
{
    struct sim_meeting *meeting = &program->meetings[index];
    struct sim_thread *thread;
    meeting->arrived++;
    meeting->last_ns = sim->now_ns;
    if (!is_complete(program, index)) {
        return;
    }
    while ((thread = TAILQ_FIRST(&meeting->line)) != NULL) {
        TAILQ_REMOVE(&meeting->line, thread, in_line);
        came(sim, thread);
    }
}

/* Whatever is the reason: it waits for the queue no longer. */
static void end_line(struct sim *sim, struct sim_thread *thread)
{
    TAILQ_REMOVE(&thread->gate.gets->line, thread, in_line);
    thread->gate.gets = NULL;
    came(sim, thread);
}

static void put(struct sim *sim, const struct sim_thread *giver, uint32_t number)
{
    struct sim_queue *queue = queue_of(giver, number);
    struct sim_thread *thread = TAILQ_FIRST(&queue->line);
    if (thread == NULL) {
        queue->items++;
        return;
    }
    end_line(sim, thread);
}

/* Has the thread given it already, for what the same call takes? */
static bool is_early(const struct sim_thread *thread, const struct wio_act *act)
{
    size_t index = (size_t)(act - thread->program->waits->acts) - thread->gate.early_act;
    return index < EARLY_MAX && (thread->gate.early >> index & 1) != 0;
}

static bool give(struct sim *sim, const struct sim_thread *giver, const struct wio_act *act)
{
    if (is_early(giver, act)) {
        return true;
    }
    switch (act->kind) {
    case WIO_ACT_GIVE:
    case WIO_ACT_GIVE_END:
        give_edge(sim, giver, act->index);
        return true;
    case WIO_ACT_ENTER:
        enter(sim, giver->program, act->index);
        return true;
    case WIO_ACT_PUT:
        put(sim, giver, wio_waits_queue(giver->program->waits, act->index));
        return true;
    default:
        return false;
    }
}

/* ---- asking ---- */

/* A call that takes a unit without a known post may take one that it posts itself: the operations
 * of a call are done at once. */
static bool give_early(struct sim_thread *thread, const struct wio_act *act)
{
    const struct wio_act *acts = thread->program->waits->acts;
    uint32_t number = wio_waits_queue(thread->program->waits, act->index);
    uint64_t last =
        wio_calls_last(&thread->program->recorded->calls, thread->id.stream, thread->gate.call_seq);
    for (size_t i = thread->gate.act + 1; i < thread->gate.act_end && acts[i].seq <= last; i++) {
        bool is_same = acts[i].kind == WIO_ACT_PUT &&
                       wio_waits_queue(thread->program->waits, acts[i].index) == number;
        if (!is_same || is_early(thread, &acts[i])) {
            continue;
        }
        if (thread->gate.early_act <= thread->gate.act) { /* that was another call */
            thread->gate.early_act = i;
            thread->gate.early = 0;
        }
        if (i - thread->gate.early_act >= EARLY_MAX) {
            return false;
        }
        thread->gate.early |= UINT64_C(1) << (i - thread->gate.early_act);
        return true;
    }
    return false;
}

/* Can the thread have what the act asks for now? Else it stands in line for it. */
static bool ask(struct sim_thread *thread, const struct wio_act *act)
{
    const struct wio_plan_edge *edges = thread->program->waits->edges;
    struct sim_queue *queue;
    switch (act->kind) {
    case WIO_ACT_TAKE:
        edge_of(thread, act->index)->waiting = thread->id.index + 1;
        return edge_of(thread, act->index)->is_given;
    case WIO_ACT_LEAVE:
        if (!is_complete(thread->program, act->index)) {
            TAILQ_INSERT_TAIL(&thread->program->meetings[act->index].line, thread, in_line);
            return false;
        }
        return true;
    case WIO_ACT_GET:
        queue = queue_of(thread, wio_waits_queue(thread->program->waits, act->index));
        if (queue->items == 0 && act->index >= thread->program->waits->edge_count &&
            give_early(thread, act)) {
            return true; /* that one */
        }
        if (queue->items == 0) {
            TAILQ_INSERT_TAIL(&queue->line, thread, in_line);
            thread->gate.gets = queue;
            return false;
        }
        queue->items--;
        return true;
    case WIO_ACT_LOCKED:
        if (edges[act->index].release_ns > thread->lock.free_ns) {
            thread->lock.free_ns = edges[act->index].release_ns;
        }
        return true;
    default:
        return true;
    }
}

/* A thread stands in one line at a time, so it asks for one such thing after the other. */
static bool is_a_line(const struct wio_act *act)
{
    return act->kind == WIO_ACT_LEAVE || act->kind == WIO_ACT_GET;
}

bool sim_gate_begin(struct sim *sim, struct sim_thread *thread, const struct wio_event *event)
{
    const struct wio_act *acts = thread->program->waits->acts;
    if ((event->flags & WIO_EVENT_CAUSED) == 0) {
        thread->gate.call_seq = event->seq;
    }
    for (; thread->gate.act < thread->gate.act_end; thread->gate.act++) {
        const struct wio_act *act = &acts[thread->gate.act];
        if (act->seq > event->seq || (act->seq == event->seq && act->kind == WIO_ACT_GIVE_END)) {
            break;
        }
        if (act->kind == WIO_ACT_POLL) {
            thread->gate.poll = act->index + 1;
            continue;
        }
        if (give(sim, thread, act) || act->seq < event->seq || ask(thread, act)) {
            continue;
        }
        thread->gate.lacking++;
        if (is_a_line(act)) {
            thread->gate.act++;
            return false;
        }
    }
    return thread->gate.lacking == 0;
}

bool sim_gate_is_pointless(struct sim_thread *thread, const struct wio_event *event)
{
    if (thread->gate.poll == 0) {
        return false;
    }
    const struct wio_plan_poll *poll = &thread->program->waits->polls[thread->gate.poll - 1];
    if (event->seq >= poll->last_seq) {
        thread->gate.poll = 0;
        return false;
    }
    return poll->edge != UINT32_MAX && edge_of(thread, poll->edge)->is_given;
}

/* Joins the release of one act, in the simulation and in the trace. */
static void join(struct sim *sim, struct sim_thread *thread, const struct wio_act *act)
{
    struct wio_release release = {.v_ns = sim->now_ns};
    if (act->kind == WIO_ACT_LEAVE) {
        release.traced_ns = thread->program->waits->meetings[act->index].release_ns;
        release.v_ns = thread->program->meetings[act->index].last_ns;
    } else if (act->kind == WIO_ACT_GET && act->index >= thread->program->waits->edge_count) {
        /* a semaphore that was not waited for in the trace */
    } else if (act->kind == WIO_ACT_TAKE || act->kind == WIO_ACT_GET) {
        const struct wio_plan_edge *edge = &thread->program->waits->edges[act->index];
        release.traced_ns = edge->release_ns;
        release.v_ns =
            act->kind == WIO_ACT_TAKE ? edge_of(thread, act->index)->given_ns : sim->now_ns;
        thread->taken.is_held |= edge->evidence == WIO_EVIDENCE_HELD;
        thread->taken.lag_ns =
            edge->lag_ns > thread->taken.lag_ns ? edge->lag_ns : thread->taken.lag_ns;
    } else {
        return;
    }
    thread->taken.is_any = true;
    wio_release_join(&thread->taken.release, release);
}

static void give_up(struct sim *sim, struct sim_thread *thread)
{
    if (thread->gate.gets == NULL) {
        sim_lock_give_up(sim, thread);
        return;
    }
    end_line(sim, thread);
}

bool sim_gate_untie(struct sim *sim)
{
    struct sim_thread *first = NULL;
    for (uint32_t i = 0; i < sim->thread_count; i++) {
        struct sim_thread *thread = &sim->threads[i];
        bool is_in_line = thread->lock.wants != NULL || thread->gate.gets != NULL;
        if (is_in_line && (first == NULL || thread->events.now->t_ns < first->events.now->t_ns)) {
            first = thread;
        }
    }
    if (first == NULL) {
        return false;
    }
    sim->result.untied++;
    give_up(sim, first);
    return true;
}

void sim_gate_taken(struct sim *sim, struct sim_thread *thread)
{
    for (size_t i = thread->gate.asked; i < thread->gate.act; i++) {
        join(sim, thread, &thread->program->waits->acts[i]);
    }
    thread->gate.asked = thread->gate.act;
}

void sim_gate_after(struct sim *sim, struct sim_thread *thread, const struct wio_event *event)
{
    while (thread->gate.act < thread->gate.act_end &&
           thread->program->waits->acts[thread->gate.act].seq <= event->seq) {
        (void)give(sim, thread, &thread->program->waits->acts[thread->gate.act++]);
    }
}

void sim_gate_end(struct sim *sim, struct sim_thread *thread)
{
    while (thread->gate.act < thread->gate.act_end) {
        (void)give(sim, thread, &thread->program->waits->acts[thread->gate.act++]);
    }
}
