/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of the operations of a thread: of data from models, of metadata from HOST.json; an
 * operation of which neither is known takes its recorded time. */
#include <math.h>

#include "base/cleanup.h"
#include "predict/sim/account.h"
#include "predict/sim/sim.h"

#define NS 1e9

/* ---- where an operation is ---- */

uint64_t sim_op_name(const struct sim_thread *thread, uint32_t path)
{
    const struct sim_program *program = thread->program;
    uint32_t shared = program->paths != NULL ? program->paths[path] : path;
    uint64_t copy = thread->copy == 0 ? 0 : program->first_copy + thread->copy;
    return copy << 32 | shared;
}

static uint32_t device_of(const struct sim_thread *thread, const struct sim_host *host,
                          uint32_t path)
{
    const struct wio_host *machine = &host->machine.host;
    if (machine->device_count == 1) {
        return 0;
    }
    return wio_host_device_of(machine, wio_trace_string(thread->program->trace, path, NULL));
}

/* The file and the place in it; the next operation may continue there. */
static enum wio_status place(struct sim_host *host, uint64_t name, bool has_offset,
                             struct wio_model_op *op)
{
    op->file = wio_names_file(&host->names, name);
    const uint64_t *end = has_offset ? NULL : wio_map_get(&host->ends, op->file);
    op->offset = end != NULL ? *end : op->offset;
    if (op->offset > WIO_MODEL_OFFSET_MAX - op->size) {
        op->offset = WIO_MODEL_OFFSET_MAX - op->size; /* many large ones without a position */
    }
    if (wio_model_flow(op->method) == WIO_MODEL_MOVES_NOTHING) {
        return WIO_OK;
    }
    return wio_map_put(&host->ends, op->file, op->offset + op->size);
}

/* Up to now, but not to an operation that ends at this very moment: that one is yet to be told. */
static enum wio_status catch_up(const struct sim *sim, struct wio_model *model,
                                struct wio_error *err)
{
    struct wio_model_done ignored;
    double until_s = fmin((double)sim->now_ns / NS, nextafter(wio_model_next(model), -HUGE_VAL));
    enum wio_status status = wio_model_run(model, until_s, &ignored, err);
    if (status != WIO_END) {
        return status == WIO_OK ? WIO_ERR_INTERNAL : status;
    }
    return WIO_OK;
}

/* Now, on a device. */
static enum wio_status begin_on(struct sim *sim, struct sim_host *host, uint32_t device,
                                uint32_t task, struct wio_model_op *op, struct wio_error *err)
{
    struct sim_clock *clock = &host->clocks[wio_machine_aim(&host->machine, device, op)];
    WIO_TRY(catch_up(sim, clock->model, err));
    enum wio_status status = wio_model_begin(clock->model, task, op, err);
    sim_host_moved(sim, clock);
    return status;
}

enum wio_status sim_op_begin(struct sim *sim, const struct sim_thread *thread, uint32_t task,
                             uint32_t path, struct wio_model_op *op, struct wio_error *err)
{
    struct sim_host *host = &sim->hosts[thread->host];
    const struct wio_converted *todo = &thread->todo;
    bool has_offset = todo->has_offset || op->method == WIO_MODEL_TRUNCATE || op == &todo->read;
    WIO_TRY(place(host, sim_op_name(thread, path), has_offset, op));
    op->is_shared = sim->host_count > 1; /* each host has a model of its own */
    enum wio_status status = begin_on(sim, host, device_of(thread, host, path), task, op, err);
    if (status == WIO_ERR_USAGE) {
        wio_error_add(err, "in '%s'", wio_trace_string(thread->program->trace, path, NULL));
    }
    return status;
}

/* Operations that have no file are on one of their own, which no path names. */
#define NO_FILE (UINT64_C(1) << 61)

/* All devices begin at once, each with a task of its own; the last one ends the operation. */
static enum wio_status begin_everywhere(struct sim *sim, struct sim_thread *thread,
                                        struct wio_error *err)
{
    struct sim_host *host = &sim->hosts[thread->host];
    thread->parts = host->machine.host.device_count;
    for (uint32_t device = 0; device < host->machine.host.device_count; device++) {
        struct wio_model_op op = thread->todo.op;
        op.file = NO_FILE + device;
        WIO_TRY(begin_on(sim, host, device, sim_part_task(sim, thread->index, device), &op, err));
    }
    return WIO_OK;
}

/* ---- what it does, step by step ---- */

/* Data that is gone, or leaves memory, is the page cache's business, which only one model has as
 * the kernel does. */
static bool changes_data(const struct sim *sim, const struct sim_thread *thread)
{
    const struct wio_converted *todo = &thread->todo;
    if (sim->params->model != WIO_MODEL_KERNEL) {
        return false;
    }
    return todo->change == WIO_CONVERT_CUTS || todo->change == WIO_CONVERT_REMOVES ||
           todo->change == WIO_CONVERT_FORGETS ||
           (todo->change == WIO_CONVERT_RENAMES &&
            wio_names_is_there(&sim->hosts[thread->host].names, sim_op_name(thread, todo->to)));
}

enum wio_status sim_op_perform(struct sim *sim, struct sim_thread *thread,
                               const struct wio_event *event, bool *go_on, struct wio_error *err)
{
    struct wio_converted *todo = &thread->todo;
    *go_on = false;
    thread->has_handed_out = false;
    if (todo->kind == WIO_CONVERT_COPY) {
        thread->phase = SIM_READ;
        return sim_op_begin(sim, thread, thread->index, event->path2, &todo->read, err);
    }
    thread->phase = SIM_THEN;
    if (todo->kind == WIO_CONVERT_TIMED && !changes_data(sim, thread)) {
        *go_on = true;
        return WIO_OK;
    }
    if (todo->is_everywhere) {
        return begin_everywhere(sim, thread, err);
    }
    return sim_op_begin(sim, thread, thread->index, (uint32_t)todo->op.file, &todo->op, err);
}

enum wio_status sim_op_write(struct sim *sim, struct sim_thread *thread, struct wio_error *err)
{
    thread->phase = SIM_THEN;
    return sim_op_begin(sim, thread, thread->index, (uint32_t)thread->todo.op.file,
                        &thread->todo.op, err);
}

/* As the machine has it; NaN where it has nothing. */
static double metadata_s(const struct sim *sim, const struct sim_thread *thread,
                         const struct wio_event *event)
{
    const struct sim_host *host = &sim->hosts[thread->host];
    const struct wio_converted *todo = &thread->todo;
    if (!todo->is_metadata) {
        return (double)NAN;
    }
    bool is_new = !wio_names_is_there(&host->names, sim_op_name(thread, event->path));
    bool makes = todo->makes == WIO_CONVERT_MAKES || (todo->makes != WIO_CONVERT_FINDS && is_new);
    uint32_t device = device_of(thread, host, event->path);
    return wio_meta_cost(&host->machine.host.devices[device].meta, event->op, makes);
}

static enum wio_status change_names(struct sim *sim, const struct sim_thread *thread,
                                    const struct wio_event *event)
{
    struct wio_names *names = &sim->hosts[thread->host].names;
    uint64_t name = sim_op_name(thread, event->path);
    switch (thread->todo.change) {
    case WIO_CONVERT_CUTS:
        WIO_TRY(sim_replace_note(sim, thread, event->path));
        return wio_names_use(names, name);
    case WIO_CONVERT_USES:
    case WIO_CONVERT_FORGETS:
        return wio_names_use(names, name);
    case WIO_CONVERT_REMOVES:
        return wio_names_remove(names, name);
    case WIO_CONVERT_RENAMES:
        return wio_names_rename(names, name, sim_op_name(thread, thread->todo.to));
    case WIO_CONVERT_CLOSES:
    case WIO_CONVERT_NO_CHANGE:
    default:
        return WIO_OK;
    }
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
    thread->metadata_s = metadata_s(sim, thread, event);
    WIO_TRY(change_names(sim, thread, event));
    if (!isnan(thread->metadata_s)) {
        due_ns += sim_ns_of(thread->metadata_s);
    } else if (thread->todo.kind == WIO_CONVERT_TIMED) {
        /* what a model made it wait is in the recorded time already */
        due_ns = thread->op_ns + (sim_end_of(event) - event->t_ns);
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
    bool is_timed = thread->todo.kind == WIO_CONVERT_TIMED;
    bool is_known = !isnan(thread->metadata_s);
    double time_s = is_known ? thread->metadata_s : 0;
    if (is_timed) {
        time_s = (double)(sim->now_ns - thread->op_ns) / NS;
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
    sim_op_span(sum, thread->op_ns, sim->now_ns);
    sim_op_traced(sum, event);
    sum->traced_io_s += (double)(traced_end - event->t_ns) / NS;
    thread->phase = SIM_AFTER;
}
