/* SPDX-License-Identifier: Apache-2.0 */
/* Predicting a trace: its threads on the models of their hosts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "predict/sim/sim.h"
#include "predict/sim/sim_store.h"
#include "predict/sim/times.h"
#include "schedule/waits_name.h"

#define NS 1e9
#define PROGRESS_EVENTS 65536

/* ---- threads ---- */

/* The thread that an image made by exec goes on with: the same tid of the image before, which comes
 * before it in the trace. */
static enum wio_status find_successor(struct sim *sim, struct wio_map *threads, uint32_t index)
{
    struct sim_thread *thread = &sim->threads[index];
    const struct wio_trace *trace = thread->program->trace;
    const struct wio_stream_info *stream = wio_trace_stream(trace, thread->id.stream);
    uint32_t parent = wio_trace_process(trace, thread->id.image)->parent;
    const uint64_t *found = NULL;
    thread->id.successor = UINT32_MAX;
    if (parent != UINT32_MAX) {
        found = wio_map_get(threads, (uint64_t)parent << 32 | stream->tid);
    }
    struct sim_thread *before = found != NULL ? &sim->threads[*found] : NULL;
    if (before != NULL && before->id.copy == thread->id.copy &&
        before->program == thread->program) {
        before->id.successor = index;
        thread->id.is_heir = true;
    }
    return wio_map_put(threads, (uint64_t)thread->id.image << 32 | stream->tid, index);
}

static enum wio_status add_thread(struct sim *sim, struct sim_program *program, uint32_t index,
                                  struct wio_error *err)
{
    uint32_t stream = (index - program->first_thread) % wio_trace_stream_count(program->trace);
    struct sim_thread *thread = &sim->threads[index];
    thread->program = program;
    thread->host = program->hosts[wio_trace_stream(program->trace, stream)->process];
    thread->account =
        (struct wio_predict_account){.begin_ns = UINT64_MAX, .traced_begin_ns = UINT64_MAX};
    return sim_thread_init(sim, index, err);
}

static void map_cleanup(struct wio_map *map)
{
    wio_map_fini(map);
}

static enum wio_status add_threads(struct sim *sim, struct wio_error *err)
{
    WIO_CLEANUP(map_cleanup) struct wio_map threads = {0};
    for (uint32_t p = 0; p < sim->program_count; p++) {
        struct sim_program *program = &sim->programs[p];
        for (uint32_t i = 0; i < program->thread_count; i++) {
            WIO_TRY(add_thread(sim, program, program->first_thread + i, err));
            WIO_TRY(find_successor(sim, &threads, program->first_thread + i));
        }
    }
    return WIO_OK;
}

/* Of the host, as it was recorded; 0: not known. */
static uint32_t recorded_cpus(const struct sim *sim, uint32_t host)
{
    uint32_t cpus = 0;
    for (uint32_t p = 0; p < sim->program_count; p++) {
        const struct sim_program *program = &sim->programs[p];
        for (uint32_t i = 0; i < wio_trace_process_count(program->trace); i++) {
            const struct wio_process_info *process = wio_trace_process(program->trace, i);
            if (process->cpus > cpus && program->hosts[i] == host) {
                cpus = process->cpus;
            }
        }
    }
    return cpus;
}

static void add_processors(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->host_count; i++) {
        struct sim_host *host = &sim->hosts[i];
        uint32_t cpus = sim->params->whatif.cpus;
        cpus = cpus != 0 ? cpus : host->machine.host.cpus;
        host->traced_cpus = recorded_cpus(sim, i);
        sim_cpu_init(host, cpus != 0 ? cpus : host->traced_cpus);
        host->tells_sleep = host->machine.model_count > 0;
        for (uint32_t j = 0; j < host->machine.model_count; j++) {
            host->tells_sleep &= wio_model_tell_sleep(host->machine.models[j]);
        }
    }
}

/* Does the first event wait for the event that made the thread? Else it comes when it came in the
 * trace. */
static bool waits_at_first(const struct sim_thread *thread)
{
    const struct wio_waits *waits = thread->program->waits;
    for (size_t i = thread->gate.act; i < thread->gate.act_end; i++) {
        const struct wio_act *act = &waits->acts[i];
        if (thread->events.now == NULL || act->seq > thread->events.now->seq) {
            return false;
        }
        if (act->kind != WIO_ACT_TAKE) {
            continue;
        }
        unsigned evidence = waits->edges[act->index].evidence;
        if (evidence == WIO_EVIDENCE_PROCESS || evidence == WIO_EVIDENCE_THREAD) {
            return true;
        }
    }
    return false;
}

static void start_threads(struct sim *sim)
{
    sim->left = sim->thread_count;
    for (uint32_t i = 0; i < sim->thread_count; i++) {
        struct sim_thread *thread = &sim->threads[i];
        if (!thread->id.is_heir) {
            thread->has_begun = !waits_at_first(thread);
            sim_wake(sim, thread, 0);
        }
    }
}

/* ---- time ---- */

static void move_clock(struct sim *sim, double seconds)
{
    uint64_t now_ns = sim_ns_of(seconds);
    sim->now_ns = now_ns > sim->now_ns ? now_ns : sim->now_ns;
}

/* Of a request: its thread, which may be at another operation by now. */
static const struct sim_thread *of_task(const struct sim *sim, uint32_t task)
{
    return task < sim->first_request ? &sim->threads[sim_thread_of(sim, task)] : NULL;
}

static enum wio_status wake(struct sim *sim, struct sim_thread *thread, struct wio_error *err)
{
    enum wio_status status = sim_thread_wake(sim, thread, err);
    return status == WIO_OK ? WIO_OK : sim_blame(sim, thread, status, err);
}

/* Something happens at the store. */
static enum wio_status store(struct sim *sim, struct wio_error *err)
{
    struct wio_model_done done;
    enum wio_status status = sim_store_run(sim, &done, err);
    if (status == WIO_END) {
        return WIO_OK;
    }
    status = status == WIO_OK ? sim_thread_done(sim, &done, err) : status;
    return status == WIO_OK
               ? WIO_OK
               : sim_blame(sim, done.task != UINT32_MAX ? of_task(sim, done.task) : NULL, status,
                           err);
}

/* What happens next, of threads, hosts and the store. WIO_END: nothing. */
static enum wio_status happen(struct sim *sim, struct wio_error *err)
{
    struct sim_thread *thread = sim_first(sim);
    double thread_s = thread != NULL ? (double)thread->wake_ns / NS : HUGE_VAL;
    struct wio_model_done done;
    double others_s;
    struct sim_clock *clock = sim_host_first(sim, &others_s);
    uint64_t store_ns = sim_store_next_ns(sim);
    double store_s = store_ns != UINT64_MAX ? (double)store_ns / NS : HUGE_VAL;
    double next_s = fmin(thread_s, store_s);
    if (clock == NULL || clock->next_s > next_s) {
        if (store_ns != UINT64_MAX && (thread == NULL || store_ns <= thread->wake_ns)) {
            return store(sim, err);
        }
        return thread == NULL ? WIO_END : wake(sim, thread, err);
    }
    done.task = UINT32_MAX;
    enum wio_status status = wio_model_run(clock->model, fmin(next_s, others_s), &done, err);
    sim_host_moved(sim, clock);
    if (status == WIO_END) {
        return WIO_OK; /* another one is first now */
    }
    if (status != WIO_OK) {
        return sim_blame(sim, done.task != UINT32_MAX ? of_task(sim, done.task) : NULL, status,
                         err);
    }
    move_clock(sim, done.result.time_s);
    status = sim_thread_done(sim, &done, err);
    return status == WIO_OK ? WIO_OK : sim_blame(sim, of_task(sim, done.task), status, err);
}

/* Deadlock: report one of the threads that wait. */
static enum wio_status stuck(const struct sim *sim, struct wio_error *err)
{
    for (uint32_t i = 0; i < sim->thread_count; i++) {
        const struct sim_thread *thread = &sim->threads[i];
        char text[WIO_NAME_MAX];
        if (thread->phase == SIM_WAITS && thread->gate.lacking > 0) {
            return wio_error_set(
                err, WIO_ERR_FORMAT, NULL, WIO_ERROR_NO_OFFSET, "the simulation cannot go on: %s",
                wio_name_wait(thread->program->waits, thread->id.stream,
                              &thread->program->waits->acts[thread->gate.act - 1], text));
        }
    }
    return wio_error_set(err, WIO_ERR_FORMAT, NULL, WIO_ERROR_NO_OFFSET,
                         "the simulation cannot go on: %u threads wait for locks or requests",
                         sim->left);
}

/* To the end of the last thread, and of requests that were not collected. */
static enum wio_status run(struct sim *sim, struct wio_error *err)
{
    const struct wio_predict_params *params = sim->params;
    uint64_t told = 0;
    enum wio_status status;
    while ((status = happen(sim, err)) == WIO_OK || (status == WIO_END && sim_gate_untie(sim))) {
        if (params->progress != NULL && sim->events - told >= PROGRESS_EVENTS) {
            told = sim->events;
            params->progress(params->progress_arg, told, sim->total_events, "events");
        }
    }
    if (status != WIO_END) {
        return status;
    }
    return sim->left == 0 ? WIO_OK : stuck(sim, err);
}

/* ---- all of it ---- */

static void sim_cleanup(struct sim *sim)
{
    for (uint32_t i = 0; sim->threads != NULL && i < sim->thread_count; i++) {
        sim_thread_fini(&sim->threads[i]);
    }
    sim_store_fini(sim);
    sim_host_fini(sim);
    sim_program_fini(sim);
    sim_fit_fini(sim);
    wio_map_fini(&sim->requests);
    free(sim->threads);
}

static enum wio_status no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
}

static enum wio_status simulate(struct sim *sim, struct wio_error *err)
{
    sim->threads = calloc((size_t)sim->thread_count + 1, sizeof(*sim->threads));
    if (sim->threads == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < sim->program_count; i++) {
        WIO_TRY(sim_gate_init(&sim->programs[i], err));
    }
    WIO_TRY(add_threads(sim, err));
    add_processors(sim);
    start_threads(sim);
    WIO_TRY(run(sim, err));
    sim_store_sum_up(sim, &sim->result.store);
    if (sim->params->keep_events) {
        WIO_TRY(wio_predict_times_take(sim, &sim->result.times));
    }
    return sim_sum_up(sim);
}

/* A longer trace may take more steps; many operations of many bytes each are more than a model can
 * go through. */
static void bound_steps(const struct sim *sim, struct wio_predict_params *params)
{
    if (params->steps_max == 0) {
        uint64_t events = sim->total_events < UINT32_MAX ? sim->total_events : UINT32_MAX;
        params->steps_max = WIO_PREDICT_STEPS_MAX + events * WIO_PREDICT_EVENT_STEPS;
    }
}

static enum wio_status run_programs(struct sim *sim, struct wio_predict_params *params,
                                    const struct wio_program *programs, uint32_t count,
                                    struct wio_error *err)
{
    WIO_TRY(sim_program_add_all(sim, programs, count, err));
    bound_steps(sim, params);
    WIO_TRY(sim_host_add_all(sim, err));
    WIO_TRY(sim_store_init(sim, err));
    WIO_TRY(sim_program_change(sim, err));
    return simulate(sim, err);
}

enum wio_status wio_predict_programs(const struct wio_program *programs, uint32_t count,
                                     const struct wio_predict_params *params,
                                     struct wio_predict_result *result_out, struct wio_error *err)
{
    struct wio_predict_params bounded = *params;
    WIO_CLEANUP(sim_cleanup)
    struct sim sim = {.params = &bounded, .budget = wio_predict_budget(params)};
    enum wio_status status = run_programs(&sim, &bounded, programs, count, err);
    if (status != WIO_OK) {
        bool is_told = err != NULL && err->message[0] != '\0';
        wio_predict_result_fini(&sim.result);
        return status == WIO_ERR_NOMEM && !is_told ? no_memory(err) : status;
    }
    *result_out = sim.result;
    return WIO_OK;
}

static void program_cleanup(struct wio_program *program)
{
    wio_program_fini(program);
}

enum wio_status wio_predict_trace(const struct wio_trace *trace,
                                  const struct wio_predict_params *params,
                                  struct wio_predict_result *result_out, struct wio_error *err)
{
    WIO_CLEANUP(program_cleanup) struct wio_program program = {0};
    WIO_TRY(wio_program_init(&program, trace, err));
    return wio_predict_programs(&program, 1, params, result_out, err);
}

enum wio_status wio_predict_seconds(const struct wio_program *program,
                                    const struct wio_predict_params *params, double *seconds_out,
                                    struct wio_error *err)
{
    WIO_CLEANUP(wio_predict_result_fini) struct wio_predict_result result = {0};
    WIO_TRY(wio_predict_programs(program, 1, params, &result, err));
    *seconds_out = result.all.total_s;
    return WIO_OK;
}
