/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread of the trace does in the simulation: one event after the other, phase by phase. */
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "ops/calls.h"
#include "predict/sim/account.h"
#include "predict/sim/sim.h"
#include "predict/sim/sim_phase.h"
#include "schedule/sync.h"

/* ---- its events ---- */

static enum wio_status load(struct sim_thread *thread, struct wio_error *err)
{
    enum wio_status status = wio_cursor_next(thread->events.cursor, &thread->events.now, err);
    if (status == WIO_END) {
        thread->events.now = NULL;
        return WIO_OK;
    }
    return status;
}

enum wio_status sim_thread_init(struct sim *sim, uint32_t index, struct wio_error *err)
{
    struct sim_thread *thread = &sim->threads[index];
    const struct sim_program *program = thread->program;
    uint32_t streams = wio_trace_stream_count(program->trace);
    uint32_t stream = (index - program->first_thread) % streams;
    const struct wio_filter filter = {.struct_size = sizeof(filter),
                                      .order = WIO_ORDER_STREAM,
                                      .streams = &stream,
                                      .stream_count = 1,
                                      .columns = ~(uint64_t)WIO_COLUMN_SOURCE};
    thread->id.index = index;
    thread->id.stream = stream;
    thread->id.copy = (index - program->first_thread) / streams;
    thread->id.image = wio_trace_stream(program->trace, stream)->process;
    thread->gate.act = program->waits->first[stream];
    thread->gate.asked = thread->gate.act;
    thread->gate.act_end = program->waits->first[stream + 1];
    int32_t rank = wio_trace_process(program->trace, thread->id.image)->rank;
    uint32_t first = program->first_rank + thread->id.copy * program->recorded->rank_span;
    thread->account.rank = rank < 0 ? -1 : rank + (int32_t)first;
    thread->change.list = program->edits.streams != NULL ? &program->edits.streams[stream] : NULL;
    wio_gap_init(&thread->gap, 1.0, 0, 0);
    wio_used_files_reader_init(&thread->events.files, &program->recorded->files, stream);
    if (sim->params->keep_events) {
        thread->events.times = calloc(wio_trace_stream(thread->program->trace, stream)->events + 1,
                                      sizeof(*thread->events.times));
        if (thread->events.times == NULL) {
            return WIO_ERR_NOMEM;
        }
    }
    WIO_TRY(wio_cursor_create(thread->program->trace, &filter, &thread->events.cursor, err));
    return load(thread, err);
}

void sim_thread_fini(struct sim_thread *thread)
{
    wio_cursor_destroy(thread->events.cursor);
    free(thread->events.times);
    sim_async_fini(thread);
}

/* ---- its phases: sim_phase.h, and what it does ---- */

/* A point that takes no time of its own. */
static void pass(const struct sim *sim, struct sim_thread *thread, const struct wio_event *event)
{
    const struct sim_host *host = &sim->hosts[thread->host];
    bool is_known = event->dur_cpu_ns != 0 && event->dur_cpu_ns <= event->dur_ns;
    /* Others that wait in loops have processors for a turn each before they yield: with no more of
     * these than there were this comes about again. Computing, which is simulated, took longer. */
    if (is_known && event->dur_slept == 0 && host->cpus != 0) {
        wio_gap_kept(&thread->gap, sim_end_of(event), event->dur_ns - event->dur_cpu_ns,
                     host->cpus > host->traced_cpus ? 0 : SIM_TURN_NS);
    }
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_SLEEP:
        wio_gap_sleep(&thread->gap, sim_end_of(event));
        break;
    case WIO_CLASS_HOLD: /* the recorder kept the thread waiting */
        wio_gap_skip(&thread->gap, sim_end_of(event));
        break;
    default:
        wio_gap_call(&thread->gap, sim_end_of(event),
                     !thread->taken.is_any && !wio_waits_by_chance(event));
        break;
    }
}

/* An operation needs a processor at least up to where it sleeps first; false until there is one. */
static bool has_processor(struct sim *sim, struct sim_thread *thread)
{
    const struct sim_host *host = &sim->hosts[thread->host];
    if (host->cpus == 0 || thread->op.todo.kind == WIO_CONVERT_PASS ||
        thread->op.todo.kind == WIO_CONVERT_ASYNC) {
        return true;
    }
    if (!host->tells_sleep) {
        sim_cpu_leave(sim, thread);
        return true;
    }
    return sim_cpu_take(sim, thread);
}

/* A thread that has to wait keeps its processor only for what is short, up to the end of its turn,
 * or computes. */
static void yield(struct sim *sim, struct sim_thread *thread)
{
    bool is_timed = thread->wake_ns > sim->now_ns;
    bool is_short =
        is_timed && thread->wake_ns - sim->now_ns <= SIM_SHORT_NS && !sim_cpu_is_over(sim, thread);
    switch ((int)thread->phase) {
    case SIM_EDIT:
        if (thread->change.added > 0) {
            return; /* the model tells */
        }
        is_timed = is_short;
        break;
    case SIM_READ:
    case SIM_THEN: /* the model tells */
        return;
    case SIM_DONE: /* metadata: processor time, but for what was recorded */
        is_timed = is_timed && !isnan(thread->op.metadata_s);
        break;
    case SIM_COMPUTE:
        is_timed = is_short || (is_timed && thread->cpu.is_working);
        break;
    default:
        is_timed = is_short;
        break;
    }
    if (!is_timed) {
        sim_cpu_leave(sim, thread);
    }
}

/* Page faults are no operations: a run with fitted costs lasts up to what follows them. */
static void see_slept(const struct sim *sim, struct sim_thread *thread,
                      const struct wio_event *event)
{
    struct wio_predict_account *sum = &thread->account;
    bool has_begun = sum->traced_begin_ns <= event->t_ns;

    if (has_begun && event->gap_cpu_ns != 0) {
        sim_op_span(sum, sim->now_ns, sim->now_ns);
        sum->traced_end_ns = event->t_ns > sum->traced_end_ns ? event->t_ns : sum->traced_end_ns;
    }
}

/* *go_on: the next phase can begin at once. */
static enum wio_status perform(struct sim *sim, struct sim_thread *thread,
                               const struct wio_event *event, bool *go_on, struct wio_error *err)
{
    *go_on = true;
    thread->op.begin_ns = sim->now_ns;
    if (sim_gate_is_pointless(thread, event) || sim_edit_drops(sim, thread, event)) {
        wio_gap_late(&thread->gap, sim->now_ns); /* it may have waited for a processor */
        wio_gap_skip(&thread->gap, sim_end_of(event));
        thread->phase = SIM_AFTER;
        return sim->params->fit != NULL ? sim_fit_dropped(sim, thread, event) : WIO_OK;
    }
    if (thread->op.todo.kind == WIO_CONVERT_ASYNC && sim->params->fit != NULL) {
        sim_fit_beside(sim, thread, event);
    } else if (thread->op.todo.kind == WIO_CONVERT_ASYNC) {
        WIO_TRY(sim_async_begin(sim, thread, event, err));
    } else if (thread->op.todo.kind != WIO_CONVERT_PASS) {
        return sim->params->fit != NULL ? sim_fit_perform(sim, thread, event, go_on)
                                        : sim_op_perform(sim, thread, event, go_on, err);
    } else if (!sim_async_collect(thread, event)) {
        *go_on = false; /* is woken by the last request */
        return WIO_OK;
    } else if (event->gap_slept && sim->params->fit != NULL) {
        see_slept(sim, thread, event);
    }
    pass(sim, thread, event);
    thread->phase = SIM_AFTER;
    return WIO_OK;
}

/* The moment of the simulation at which the thread leaves the event, as far as it is known now. */
static uint64_t leave_ns(const struct sim *sim, const struct sim_thread *thread,
                         const struct wio_event *event)
{
    const struct wio_gap *gap = &thread->gap;
    uint64_t end_ns = sim_end_of(event);
    uint64_t rest_ns = end_ns > gap->at_ns ? end_ns - gap->at_ns : 0;
    uint64_t v_ns = gap->v_ns + rest_ns;
    return v_ns > sim->now_ns ? v_ns : sim->now_ns;
}

static void note_time(const struct sim *sim, struct sim_thread *thread,
                      const struct wio_event *event)
{
    if (thread->events.times != NULL && thread->op.todo.kind != WIO_CONVERT_ASYNC) {
        thread->events.times[thread->events.done] =
            (struct sim_time){thread->wait_ns, leave_ns(sim, thread, event) - thread->wait_ns};
    }
    thread->events.done++;
}

static enum wio_status next_event(struct sim *sim, struct sim_thread *thread,
                                  const struct wio_event *event, struct wio_error *err)
{
    note_time(sim, thread, event);
    sim_gate_after(sim, thread, event);
    sim->events++;
    thread->phase = SIM_REACH;
    return load(thread, err);
}

/* Behind the last event: the time up to the stream's end, then the successor begins. */
static void end_thread(struct sim *sim, struct sim_thread *thread)
{
    wio_gap_reach(&thread->gap,
                  wio_trace_stream(thread->program->trace, thread->id.stream)->last_ns);
    if (thread->gap.v_ns > sim->now_ns) {
        sim_wake(sim, thread, thread->gap.v_ns);
        return;
    }
    sim_gate_end(sim, thread);
    sim_lock_leave_all(sim, thread);
    thread->phase = SIM_ENDED;
    sim->left--;
    if (thread->id.successor != UINT32_MAX) {
        struct sim_thread *heir = &sim->threads[thread->id.successor];
        uint64_t at_ns = wio_trace_stream(thread->program->trace, thread->id.stream)->last_ns;
        wio_gap_init(&heir->gap, 1.0, at_ns, sim->now_ns);
        heir->has_begun = true;
        sim_wake(sim, heir, sim->now_ns);
    }
}

static enum wio_status run(struct sim *sim, struct sim_thread *thread, struct wio_error *err)
{
    bool go_on = true;
    while (go_on && thread->phase != SIM_ENDED) {
        const struct wio_event *event = thread->events.now;
        if (event == NULL) { /* only in phase REACH */
            end_thread(sim, thread);
            break;
        }
        switch (thread->phase) {
        case SIM_REACH:
            go_on = sim_phase_reach(sim, thread, event);
            break;
        case SIM_COMPUTE:
            go_on = sim_phase_compute(sim, thread);
            break;
        case SIM_EDIT:
            WIO_TRY(sim_edit_before(sim, thread, event, &go_on, err));
            break;
        case SIM_BEGIN:
            go_on = sim_phase_begin(sim, thread, event);
            break;
        case SIM_WAITS:
            go_on = sim_phase_wait(sim, thread, event);
            break;
        case SIM_LOCK:
            go_on = sim_phase_lock(sim, thread, event);
            break;
        case SIM_READY:
            go_on = sim_phase_ready(sim, thread, event);
            break;
        case SIM_DO:
            go_on = has_processor(sim, thread);
            if (go_on) {
                WIO_TRY(perform(sim, thread, event, &go_on, err));
            }
            break;
        case SIM_READ:
            WIO_TRY(sim_op_write(sim, thread, err));
            go_on = false;
            break;
        case SIM_THEN:
            WIO_TRY(sim_op_then(sim, thread, event, &go_on, err));
            break;
        case SIM_DONE:
            sim_op_finish(sim, thread, event);
            break;
        case SIM_AFTER:
            WIO_TRY(next_event(sim, thread, event, err));
            break;
        case SIM_ENDED:
        default:
            break;
        }
    }
    yield(sim, thread);
    return WIO_OK;
}

enum wio_status sim_thread_wake(struct sim *sim, struct sim_thread *thread, struct wio_error *err)
{
    sim_wake_take(sim, thread);
    sim->now_ns = thread->wake_ns > sim->now_ns ? thread->wake_ns : sim->now_ns;
    return run(sim, thread, err);
}

/* ---- the end of an operation ---- */

static enum wio_status tell(struct sim *sim, const struct wio_model_done *done,
                            struct wio_error *err)
{
    const struct wio_predict_params *params = sim->params;
    sim->result.dirty_bytes_max = fmax(sim->result.dirty_bytes_max, done->result.dirty_bytes);
    uint64_t index = sim->told++;
    return params->per_op == NULL ? WIO_OK
                                  : params->per_op(params->per_op_arg, index, &done->result, err);
}

enum wio_status sim_thread_done(struct sim *sim, const struct wio_model_done *done,
                                struct wio_error *err)
{
    if (done->is_asleep) {
        if (done->task < sim->first_request) {
            sim_cpu_leave(sim, &sim->threads[sim_thread_of(sim, done->task)]);
        }
        return WIO_OK;
    }
    if (done->task >= sim->first_request) {
        WIO_TRY(tell(sim, done, err));
        sim_async_done(sim, done->task);
        return WIO_OK;
    }
    struct sim_thread *thread = &sim->threads[sim_thread_of(sim, done->task)];
    const struct wio_converted *todo = &thread->op.todo;
    if (thread->op.parts > 1) {
        thread->op.parts--;
        return WIO_OK; /* the last one is the operation's end */
    }
    thread->op.parts = 0;
    if (!sim_replace_done(thread, done->result.cost_s) &&
        todo->kind != WIO_CONVERT_TIMED) { /* that is metadata, whose time is more than a model's */
        WIO_TRY(tell(sim, done, err));
        wio_account_op(&thread->account, thread->phase == SIM_READ ? &todo->read : &todo->op,
                       done->result.cost_s);
    }
    return run(sim, thread, err);
}
