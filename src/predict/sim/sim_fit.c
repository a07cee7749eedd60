/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What operations cost where a fit takes the place of the machine: what is done as it was recorded
 * takes its recorded time, what a change does otherwise takes what the fit says of it.
 */
#include <math.h>

#include "base/cleanup.h"
#include "predict/fit.h"
#include "predict/sim/account.h"
#include "predict/sim/sim.h"

#define NS 1e9

/* ---- what flushes find ---- */

static uint64_t get(const struct wio_map *map, uint64_t key)
{
    const uint64_t *value = wio_map_get(map, key);

    return value != NULL ? *value : 0;
}

static enum wio_status note(struct wio_map *map, uint64_t key, const struct wio_model_op *op)
{
    if (wio_fit_is_flush(op->method)) {
        return wio_map_put(map, key, 0);
    }
    return wio_fit_leaves_data(op->method) && op->size > 0
               ? wio_map_put(map, key, get(map, key) + op->size)
               : WIO_OK;
}

/* ---- what it was in the trace ---- */

static struct wio_converted recorded_as(const struct sim_thread *thread,
                                        const struct wio_event *event)
{
    const struct wio_predict_params as_it_was = wio_predict_params_default();
    struct wio_converter converter = thread->program->converter;

    converter.whatif = &as_it_was.whatif;
    struct wio_converted was;
    wio_convert(&converter, event, thread->events.on, thread->events.caller, &was);
    return was;
}

enum wio_status sim_fit_dropped(struct sim *sim, const struct sim_thread *thread,
                                const struct wio_event *event)
{
    const struct wio_converted was = recorded_as(thread, event);

    return was.kind == WIO_CONVERT_OP
               ? note(&sim->recorded_dirty, sim_place_file(thread, thread->events.on->file),
                      &was.op)
               : WIO_OK;
}

/* ---- costs ---- */

/* Of a size that was not seen; what the page cache takes, where it took nothing before, goes no
 * slower than that. NaN: nothing can be assumed. */
static double assume(const struct wio_fit *fit, uint32_t fs, const struct wio_model_op *op,
                     uint64_t bytes, double most_s)
{
    double low_s = wio_fit_cost(fit, fs, op->method, bytes, WIO_FIT_LOW);

    return isnan(low_s) && wio_fit_leaves_data(op->method)
               ? (isnan(most_s) ? most_s : fmin((double)bytes / WIO_FIT_ASSUMED_BW, most_s))
               : wio_fit_assumed(fit, fs, op->method, bytes);
}

/* A middle that nothing tells is half-way between the bounds, and the result says so; so is what
 * was never seen: between nothing and `most_s`. */
static double ask(struct sim *sim, uint32_t path, const struct wio_model_op *op, uint64_t bytes,
                  double most_s)
{
    const struct wio_fit *fit = sim->params->fit;
    uint32_t fs = wio_fit_fs(fit, path);
    enum wio_fit_at at = sim->params->fit_at;
    double low_s = wio_fit_cost(fit, fs, op->method, bytes, WIO_FIT_LOW);
    double high_s = wio_fit_cost(fit, fs, op->method, bytes, WIO_FIT_HIGH);
    double mid_s = wio_fit_cost(fit, fs, op->method, bytes, WIO_FIT_MID);

    low_s = isnan(low_s) ? 0 : low_s;
    high_s = isnan(high_s) ? most_s : high_s;
    if (isnan(mid_s)) {
        mid_s = assume(fit, fs, op, bytes, most_s);
        sim->result.assumed += !isnan(mid_s);
    }
    sim->result.outside += isnan(mid_s);
    sim->result.unseen += isnan(high_s);
    high_s = isnan(high_s) ? low_s : high_s;
    mid_s = isnan(mid_s) ? (low_s + high_s) / 2 : mid_s;
    return at == WIO_FIT_LOW ? low_s : at == WIO_FIT_HIGH ? high_s : mid_s;
}

static bool is_alike(const struct sim_thread *thread, const struct wio_event *event,
                     const struct wio_converted *was)
{
    const struct wio_model_op *op = &thread->op.todo.op;
    bool has_range = thread->change.range != NULL && thread->change.range->seq == event->seq;

    return thread->op.todo.kind != WIO_CONVERT_OP || was->kind != WIO_CONVERT_OP ||
           (op->method == was->op.method && (!has_range || op->size == was->op.size));
}

static enum wio_status cost_of(struct sim *sim, const struct sim_thread *thread,
                               const struct wio_event *event, double *seconds_out)
{
    const struct wio_converted was = recorded_as(thread, event);
    const struct wio_model_op *op = &thread->op.todo.op;
    double recorded_s = (double)(sim_end_of(event) - event->t_ns) / NS;
    uint64_t name = sim_place_file(thread, thread->events.on->file);
    uint64_t bytes = op->size;
    bool is_same = is_alike(thread, event, &was);

    *seconds_out = recorded_s;
    if (thread->op.todo.kind != WIO_CONVERT_OP || was.kind != WIO_CONVERT_OP) {
        return WIO_OK;
    }
    if (wio_fit_is_flush(op->method)) {
        bytes = get(&sim->dirty, name);
        is_same = is_same && bytes == get(&sim->recorded_dirty, name);
    }
    if (!is_same) {
        /* an operation that no longer waits for the device takes no longer than one that did */
        double most_s = op->size <= was.op.size ? recorded_s : (double)NAN;
        *seconds_out = ask(sim, event->path, op, bytes, most_s);
    }
    WIO_TRY(note(&sim->recorded_dirty, name, &was.op));
    return note(&sim->dirty, name, op);
}

/* No trace tells: between nothing, and what is slow for processes of one machine, or for machines.
 */
struct wio_change_net sim_fit_net(struct sim *sim)
{
    const struct wio_predict_params *params = sim->params;
    struct wio_change_net slow = sim->host_count == 1
                                     ? (struct wio_change_net){WIO_FIT_HERE_BW, WIO_FIT_HERE_LAT}
                                     : (struct wio_change_net){WIO_FIT_NET_BW, WIO_FIT_NET_LAT};

    for (size_t i = 0; i < params->change_count; i++) {
        sim->result.assumed += params->changes[i].kind == WIO_CHANGE_COLLECTIVE;
    }
    switch (params->fit_at) {
    case WIO_FIT_LOW:
        return (struct wio_change_net){INFINITY, 0};
    case WIO_FIT_HIGH:
        return slow;
    case WIO_FIT_MID:
    case WIO_FIT_ATS:
        break;
    }
    return (struct wio_change_net){2 * slow.bytes_per_s, slow.latency_s / 2};
}

/* ---- operations ---- */

enum wio_status sim_fit_perform(struct sim *sim, struct sim_thread *thread,
                                const struct wio_event *event, bool *go_on)
{
    double seconds;

    WIO_TRY(cost_of(sim, thread, event, &seconds));
    thread->op.metadata_s = (double)NAN;
    if (thread->op.todo.kind != WIO_CONVERT_TIMED) {
        wio_account_op(&thread->account, &thread->op.todo.op, seconds);
    }
    thread->phase = SIM_DONE;
    *go_on = seconds <= 0;
    if (!*go_on) {
        sim_wake(sim, thread, sim->now_ns + sim_ns_of(seconds));
    }
    return WIO_OK;
}

enum wio_status sim_fit_added(struct sim *sim, struct sim_thread *thread, uint32_t path)
{
    const struct wio_model_op *op = &thread->op.todo.op;
    uint64_t name = sim_place_file(thread, op->file);
    uint64_t bytes = wio_fit_is_flush(op->method) ? get(&sim->dirty, name) : op->size;
    double seconds = ask(sim, path, op, bytes, (double)NAN);

    wio_account_op(&thread->account, op, seconds);
    WIO_TRY(note(&sim->dirty, name, op));
    sim_cpu_leave(sim, thread);
    sim_wake(sim, thread, sim->now_ns + sim_ns_of(seconds));
    return WIO_OK;
}

void sim_fit_beside(struct sim *sim, struct sim_thread *thread, const struct wio_event *event)
{
    bool has_range = thread->change.range != NULL && thread->change.range->seq == event->seq;

    sim_op_traced(&thread->account, event);
    sim_op_span(&thread->account, sim->now_ns, sim->now_ns + sim_end_of(event) - event->t_ns);
    sim->result.unseen += has_range;
    sim->result.outside += has_range;
}

void sim_fit_fini(struct sim *sim)
{
    wio_map_fini(&sim->recorded_dirty);
    wio_map_fini(&sim->dirty);
}
