/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of the operations of a thread: of data from models, of metadata from HOST.json; an
 * operation of which neither is known takes its recorded time. */
#include <math.h>

#include "base/cleanup.h"
#include "predict/sim/account.h"
#include "predict/sim/sim.h"

#define NS 1e9

/* ---- what it does, step by step ---- */

/* Data that is gone, or leaves memory, is the page cache's business, which only one model has as
 * the kernel does. */
static bool changes_data(const struct sim *sim, const struct sim_thread *thread)
{
    const struct wio_converted *todo = &thread->op.todo;
    if (sim->params->model != WIO_MODEL_KERNEL) {
        return false;
    }
    return todo->change == WIO_CONVERT_CUTS || todo->change == WIO_CONVERT_REMOVES ||
           todo->change == WIO_CONVERT_FORGETS ||
           (todo->change == WIO_CONVERT_RENAMES && thread->events.on->was_there);
}

enum wio_status sim_op_perform(struct sim *sim, struct sim_thread *thread,
                               const struct wio_event *event, bool *go_on, struct wio_error *err)
{
    struct wio_converted *todo = &thread->op.todo;
    *go_on = false;
    thread->op.is_handed_out = false;
    if (todo->kind == WIO_CONVERT_COPY) {
        thread->phase = SIM_READ;
        return sim_place_begin(sim, thread, thread->id.index, event->path2, &todo->read, err);
    }
    thread->phase = SIM_THEN;
    if (todo->kind == WIO_CONVERT_TIMED && !changes_data(sim, thread)) {
        *go_on = true;
        return WIO_OK;
    }
    if (todo->is_everywhere) {
        return sim_place_everywhere(sim, thread, err);
    }
    return sim_place_begin(sim, thread, thread->id.index, todo->path, &todo->op, err);
}

enum wio_status sim_op_write(struct sim *sim, struct sim_thread *thread, struct wio_error *err)
{
    thread->phase = SIM_THEN;
    return sim_place_begin(sim, thread, thread->id.index, thread->op.todo.path, &thread->op.todo.op,
                           err);
}

/* As the machine has it; NaN where it has nothing. */
static double metadata_s(const struct sim *sim, const struct sim_thread *thread,
                         const struct wio_event *event)
{
    const struct sim_host *host = &sim->hosts[thread->host];
    const struct wio_converted *todo = &thread->op.todo;
    if (!todo->is_metadata) {
        return (double)NAN;
    }
    bool makes = todo->makes == WIO_CONVERT_MAKES ||
                 (todo->makes == WIO_CONVERT_MAY_MAKE && !thread->events.on->was_there);
    uint32_t device = sim_place_device(thread, host, event->path);
    return wio_meta_cost(&host->machine.host.devices[device].meta, event->op, makes);
}

enum wio_status sim_op_then(struct sim *sim, struct sim_thread *thread,
                            const struct wio_event *event, bool *go_on, struct wio_error *err)
{
    uint64_t due_ns = sim->now_ns;
    bool has_more;
    WIO_TRY(sim_replace_begin(sim, thread, event, &has_more, err));
    *go_on = false;
    if (has_more) {
        return WIO_OK;
    }
    thread->op.metadata_s = metadata_s(sim, thread, event);
    WIO_TRY(sim_replace_note(sim, thread));
    if (!isnan(thread->op.metadata_s)) {
        due_ns += sim_ns_of(thread->op.metadata_s);
    } else if (thread->op.todo.kind == WIO_CONVERT_TIMED) {
        /* what a model made it wait is in the recorded time already */
        due_ns = thread->op.begin_ns + (sim_end_of(event) - event->t_ns);
    }
    thread->phase = SIM_DONE;
    *go_on = due_ns <= sim->now_ns;
    if (!*go_on) {
        sim_wake(sim, thread, due_ns);
    }
    return WIO_OK;
}

/* ---- what it came to ---- */

static void add(struct sim_sum *sum, double time_s)
{
    sum->count++;
    sum->time_s += time_s;
}

/* The part of it that no model covers. */
static void account_rest(struct sim *sim, struct sim_thread *thread, const struct wio_event *event)
{
    struct wio_predict_account *sum = &thread->account;
    bool is_timed = thread->op.todo.kind == WIO_CONVERT_TIMED;
    bool is_known = !isnan(thread->op.metadata_s);
    double time_s = is_known ? thread->op.metadata_s : 0;
    if (is_timed) {
        time_s = (double)(sim->now_ns - thread->op.begin_ns) / NS;
    }
    sum->io_s += time_s;
    if (is_known) {
        sum->modelled_s += time_s;
        add(&sim->metadata[event->op], time_s);
    } else if (is_timed) {
        sum->kept_s += time_s;
        add(&sim->kept[event->op], time_s);
    }
}

void sim_op_span(struct wio_predict_account *sum, uint64_t begin_ns, uint64_t end_ns)
{
    sum->begin_ns = begin_ns < sum->begin_ns ? begin_ns : sum->begin_ns;
    sum->end_ns = end_ns > sum->end_ns ? end_ns : sum->end_ns;
}

void sim_op_traced(struct wio_predict_account *sum, const struct wio_event *event)
{
    uint64_t end_ns = sim_end_of(event);
    sum->traced_begin_ns = event->t_ns < sum->traced_begin_ns ? event->t_ns : sum->traced_begin_ns;
    sum->traced_end_ns = end_ns > sum->traced_end_ns ? end_ns : sum->traced_end_ns;
}

void sim_op_finish(struct sim *sim, struct sim_thread *thread, const struct wio_event *event)
{
    struct wio_predict_account *sum = &thread->account;
    uint64_t traced_end = sim_end_of(event);
    wio_gap_did(&thread->gap, traced_end, sim->now_ns);
    account_rest(sim, thread, event);
    sim_op_span(sum, thread->op.begin_ns, sim->now_ns);
    sim_op_traced(sum, event);
    sum->traced_io_s += (double)(traced_end - event->t_ns) / NS;
    thread->phase = SIM_AFTER;
}
