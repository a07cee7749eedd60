/* SPDX-License-Identifier: Apache-2.0 */
/* Predicting a trace: its threads on the models of their hosts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "plan/waits_name.h"
#include "predict/opened.h"
#include "predict/sim.h"
#include "predict/times.h"

#define NS 1e9
#define PROGRESS_EVENTS 65536
#define THREADS_MAX 1000000u

/* ---- what the trace says ---- */

static void cursor_cleanup(struct wio_cursor **cursor)
{
    wio_cursor_destroy(*cursor);
}

/* One pass over all events, one stream after the other. */
static enum wio_status scan(const struct wio_trace *trace, struct wio_waits *waits,
                            struct wio_opened *opened, struct wio_error *err)
{
    const struct wio_filter filter = {.struct_size = sizeof(filter), .order = WIO_ORDER_STREAM};
    WIO_CLEANUP(cursor_cleanup) struct wio_cursor *cursor = NULL;
    const struct wio_event *events;
    enum wio_status status;
    size_t count;
    WIO_TRY(wio_cursor_create(trace, &filter, &cursor, err));
    while ((status = wio_cursor_next_block(cursor, &events, &count, err)) == WIO_OK) {
        for (size_t i = 0; i < count; i++) {
            uint32_t image = wio_trace_stream(trace, events[i].stream)->process;
            WIO_TRY(wio_waits_see(waits, &events[i], image));
            WIO_TRY(wio_opened_see(opened, &events[i], image));
        }
    }
    if (status != WIO_END) {
        return status;
    }
    wio_opened_finish(opened);
    WIO_TRY(wio_waits_finish(waits));
    return wio_waits_check(waits, err);
}

/* ---- threads ---- */

/* The thread that an image made by exec goes on with: the same tid of the image before, which comes
 * before it in the trace. */
static enum wio_status find_successor(struct sim *sim, struct wio_map *threads, uint32_t index)
{
    struct sim_thread *thread = &sim->threads[index];
    const struct wio_stream_info *stream = wio_trace_stream(sim->trace, thread->stream);
    uint32_t parent = wio_trace_process(sim->trace, thread->image)->parent;
    const uint64_t *before = NULL;
    thread->successor = UINT32_MAX;
    if (parent != UINT32_MAX) {
        before = wio_map_get(threads, (uint64_t)parent << 32 | stream->tid);
    }
    if (before != NULL && sim->threads[*before].copy == thread->copy) {
        sim->threads[*before].successor = index;
        thread->is_heir = true;
    }
    return wio_map_put(threads, (uint64_t)thread->image << 32 | stream->tid, index);
}

/* Before anything else, so that what is wrong with a machine is said at once. */
static enum wio_status add_hosts(struct sim *sim, struct wio_error *err)
{
    for (uint32_t i = 0; i < wio_trace_stream_count(sim->trace); i++) {
        uint32_t process = wio_trace_stream(sim->trace, i)->process;
        uint32_t ignored;
        WIO_TRY(sim_host_need(sim, wio_trace_process(sim->trace, process)->host, &ignored, err));
    }
    return sim_host_check(sim, err);
}

static enum wio_status add_thread(struct sim *sim, uint32_t index, struct wio_error *err)
{
    const struct wio_stream_info *stream =
        wio_trace_stream(sim->trace, index % wio_trace_stream_count(sim->trace));
    struct sim_thread *thread = &sim->threads[index];
    WIO_TRY(sim_host_need(sim, wio_trace_process(sim->trace, stream->process)->host, &thread->host,
                          err));
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
    for (uint32_t i = 0; i < sim->thread_count; i++) {
        WIO_TRY(add_thread(sim, i, err));
        WIO_TRY(find_successor(sim, &threads, i));
    }
    return WIO_OK;
}

/* Of the host, as it was recorded; 0: not known. */
static uint32_t recorded_cpus(const struct sim *sim, const char *host)
{
    uint32_t cpus = 0;
    for (uint32_t i = 0; i < wio_trace_process_count(sim->trace); i++) {
        const struct wio_process_info *process = wio_trace_process(sim->trace, i);
        if (process->cpus > cpus && strcmp(process->host, host) == 0) {
            cpus = process->cpus;
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
        host->traced_cpus = recorded_cpus(sim, host->name);
        sim_cpu_init(host, cpus != 0 ? cpus : host->traced_cpus);
        host->tells_sleep = true;
        for (uint32_t j = 0; j < host->machine.model_count; j++) {
            host->tells_sleep &= wio_model_tell_sleep(host->machine.models[j]);
        }
    }
}

/* Does the first event wait for whoever made the thread? Else it comes when it came in the trace.
 */
static bool waits_at_first(const struct sim *sim, const struct sim_thread *thread)
{
    for (size_t i = thread->act; i < thread->act_end; i++) {
        const struct wio_act *act = &sim->waits->acts[i];
        if (thread->event == NULL || act->seq > thread->event->seq) {
            return false;
        }
        if (act->kind != WIO_ACT_TAKE) {
            continue;
        }
        unsigned evidence = sim->waits->edges[act->index].evidence;
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
        if (!thread->is_heir) {
            thread->has_begun = !waits_at_first(sim, thread);
            sim_wake(sim, thread, 0);
        }
    }
}

/* How many copies of the job there are to be. */
static enum wio_status scale(struct sim *sim, struct wio_error *err)
{
    uint32_t wanted = sim->params->whatif.ranks;
    uint64_t threads = wio_trace_stream_count(sim->trace);
    struct wio_trace_info info;
    wio_trace_get_info(sim->trace, &info);
    sim->ranks = info.ranks > 0 ? info.ranks : 1;
    if (wanted % sim->ranks != 0) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "%u ranks: expected a multiple of the %u of the trace", wanted,
                             sim->ranks);
    }
    sim->copies = wanted > 0 ? wanted / sim->ranks : 1;
    threads *= sim->copies;
    if (threads > THREADS_MAX) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "%u ranks would be %llu threads; at most %u can be simulated", wanted,
                             (unsigned long long)threads, THREADS_MAX);
    }
    sim->thread_count = (uint32_t)threads;
    sim->first_request = sim_part_task(sim, sim->thread_count, 0);
    sim->next_task = sim->first_request;
    return WIO_OK;
}

/* ---- time ---- */

static void move_clock(struct sim *sim, double seconds)
{
    uint64_t now_ns = sim_ns_of(seconds);
    sim->now_ns = now_ns > sim->now_ns ? now_ns : sim->now_ns;
}

/* What happens next, of threads and hosts. WIO_END: nothing. */
static enum wio_status happen(struct sim *sim, struct wio_error *err)
{
    struct sim_thread *thread = sim_first(sim);
    double thread_s = thread != NULL ? (double)thread->wake_ns / NS : HUGE_VAL;
    struct wio_model_done done;
    double others_s;
    struct sim_clock *clock = sim_host_first(sim, &others_s);
    if (clock == NULL || clock->next_s > thread_s) {
        return thread == NULL ? WIO_END : sim_thread_wake(sim, thread, err);
    }
    enum wio_status status = wio_model_run(clock->model, fmin(thread_s, others_s), &done, err);
    sim_host_moved(sim, clock);
    if (status == WIO_END) {
        return WIO_OK; /* another one is first now */
    }
    WIO_TRY(status);
    move_clock(sim, done.result.time_s);
    return sim_thread_done(sim, &done, err);
}

/* Threads wait and nothing happens any more: tell of one. */
static enum wio_status stuck(const struct sim *sim, struct wio_error *err)
{
    for (uint32_t i = 0; i < sim->thread_count; i++) {
        const struct sim_thread *thread = &sim->threads[i];
        char text[WIO_NAME_MAX];
        if (thread->phase == SIM_WAITS && thread->lacking > 0) {
            return wio_error_set(err, WIO_ERR_FORMAT, NULL, WIO_ERROR_NO_OFFSET,
                                 "the simulation cannot go on: %s",
                                 wio_name_wait(sim->waits, thread->stream,
                                               &sim->waits->acts[thread->act - 1], text));
        }
    }
    return wio_error_set(err, WIO_ERR_FORMAT, NULL, WIO_ERROR_NO_OFFSET,
                         "the simulation cannot go on: %u threads wait for locks or requests",
                         sim->left);
}

/* To the end of the last thread, and of requests that nobody has collected. */
static enum wio_status run(struct sim *sim, struct wio_error *err)
{
    const struct wio_predict_params *params = sim->params;
    struct wio_trace_info info;
    uint64_t told = 0;
    wio_trace_get_info(sim->trace, &info);
    enum wio_status status;
    while ((status = happen(sim, err)) == WIO_OK || (status == WIO_END && sim_gate_untie(sim))) {
        if (params->progress != NULL && sim->events - told >= PROGRESS_EVENTS) {
            told = sim->events;
            params->progress(params->progress_arg, told, info.events * sim->copies, "events");
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
    sim_host_fini(sim);
    sim_gate_fini(sim);
    wio_map_fini(&sim->requests);
    free(sim->threads);
}

static void waits_cleanup(struct wio_waits *waits)
{
    wio_waits_fini(waits);
}

static void opened_cleanup(struct wio_opened *opened)
{
    wio_opened_fini(opened);
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
    WIO_TRY(sim_gate_init(sim, err));
    WIO_TRY(add_threads(sim, err));
    add_processors(sim);
    start_threads(sim);
    WIO_TRY(run(sim, err));
    if (sim->params->keep_events) {
        WIO_TRY(wio_predict_times_take(sim, &sim->result.times));
    }
    return sim_sum_up(sim);
}

enum wio_status wio_predict_trace(const struct wio_trace *trace,
                                  const struct wio_predict_params *params,
                                  struct wio_predict_result *result_out, struct wio_error *err)
{
    WIO_CLEANUP(opened_cleanup) struct wio_opened opened = {.trace = trace};
    WIO_CLEANUP(waits_cleanup) struct wio_waits waits = {0};
    WIO_CLEANUP(sim_cleanup)
    struct sim sim = {
        .trace = trace,
        .params = params,
        .waits = &waits,
        .converter = {trace, &opened, &params->whatif},
    };

    WIO_TRY(scale(&sim, err));
    WIO_TRY(add_hosts(&sim, err));
    WIO_TRY(wio_waits_init(&waits, trace, true, err));
    WIO_TRY(scan(trace, &waits, &opened, err));
    enum wio_status status = simulate(&sim, err);
    if (status != WIO_OK) {
        wio_predict_result_fini(&sim.result);
        return status == WIO_ERR_NOMEM ? no_memory(err) : status;
    }
    *result_out = sim.result;
    return WIO_OK;
}
