/* SPDX-License-Identifier: Apache-2.0 */
/* Predicting a trace: its threads on the models of their hosts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "plan/waits_name.h"
#include "predict/host.h"
#include "predict/opened.h"
#include "predict/sim.h"
#include "predict/times.h"
#include "predict/whatif.h"

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

/* ---- hosts ---- */

static uint32_t find_host(const struct sim *sim, const char *name)
{
    uint32_t host = 0;
    while (host < sim->host_count && strcmp(sim->hosts[host].name, name) != 0) {
        host++;
    }
    return host;
}

static enum wio_status add_host(struct sim *sim, const char *name,
                                const struct wio_model_params *machine, struct wio_error *err)
{
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct sim_host *more =
        reallocarray(sim->hosts, (size_t)sim->host_count + 1, sizeof(*sim->hosts));
    if (more == NULL) {
        return WIO_ERR_NOMEM;
    }
    sim->hosts = more;
    sim->hosts[sim->host_count] = (struct sim_host){.name = name};
    WIO_TRY(wio_model_create(sim->params->model, machine, &heap, &sim->hosts[sim->host_count].model,
                             err));
    sim->host_count++;
    return WIO_OK;
}

/* ---- threads ---- */

/* The thread that an image made by exec goes on with: the same tid of the image before. */
static void find_successors(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->thread_count; i++) {
        uint32_t first = i - i % wio_trace_stream_count(sim->trace); /* of its copy */
        const struct wio_stream_info *stream = wio_trace_stream(sim->trace, i - first);
        const struct wio_process_info *process = wio_trace_process(sim->trace, stream->process);
        sim->threads[i].successor = UINT32_MAX;
        for (uint32_t k = first; k < i && process->parent != UINT32_MAX; k++) {
            const struct wio_stream_info *other = wio_trace_stream(sim->trace, k - first);
            if (other->process == process->parent && other->tid == stream->tid) {
                sim->threads[k].successor = i;
                sim->threads[i].is_heir = true;
            }
        }
    }
}

static enum wio_status add_threads(struct sim *sim, const struct wio_model_params *machine,
                                   struct wio_error *err)
{
    for (uint32_t i = 0; i < sim->thread_count; i++) {
        const struct wio_stream_info *stream =
            wio_trace_stream(sim->trace, i % wio_trace_stream_count(sim->trace));
        const char *name = wio_trace_process(sim->trace, stream->process)->host;
        uint32_t host = find_host(sim, name);
        if (host == sim->host_count) {
            WIO_TRY(add_host(sim, name, machine, err));
        }
        sim->threads[i].host = host;
        sim->threads[i].account =
            (struct wio_predict_account){.begin_ns = UINT64_MAX, .traced_begin_ns = UINT64_MAX};
        WIO_TRY(sim_thread_init(sim, i, err));
    }
    find_successors(sim);
    return WIO_OK;
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
    sim->next_task = sim->thread_count;
    return WIO_OK;
}

/* ---- time ---- */

/* The host where something happens first; *others_out: when something does on another one. */
static struct sim_host *first_host(const struct sim *sim, double *others_out)
{
    struct sim_host *first = NULL;
    double first_s = HUGE_VAL;
    *others_out = HUGE_VAL;
    for (uint32_t i = 0; i < sim->host_count; i++) {
        double next_s = wio_model_next(sim->hosts[i].model);
        if (next_s < first_s) {
            *others_out = first_s;
            first_s = next_s;
            first = &sim->hosts[i];
        } else {
            *others_out = fmin(*others_out, next_s);
        }
    }
    return first;
}

static void move_clock(struct sim *sim, double seconds)
{
    uint64_t now_ns = (uint64_t)(seconds * NS + 0.5);
    sim->now_ns = now_ns > sim->now_ns ? now_ns : sim->now_ns;
}

/* What happens next, of threads and hosts. WIO_END: nothing. */
static enum wio_status happen(struct sim *sim, struct wio_error *err)
{
    struct sim_thread *thread = sim_first(sim);
    double thread_s = thread != NULL ? (double)thread->wake_ns / NS : HUGE_VAL;
    struct wio_model_done done;
    double others_s;
    struct sim_host *host = first_host(sim, &others_s);
    if (host == NULL || wio_model_next(host->model) > thread_s) {
        return thread == NULL ? WIO_END : sim_thread_wake(sim, thread, err);
    }
    enum wio_status status = wio_model_run(host->model, fmin(thread_s, others_s), &done, err);
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

static enum wio_status run(struct sim *sim, struct wio_error *err)
{
    const struct wio_predict_params *params = sim->params;
    struct wio_trace_info info;
    uint64_t told = 0;
    wio_trace_get_info(sim->trace, &info);
    while (sim->left > 0) {
        enum wio_status status = happen(sim, err);
        if (status == WIO_END) {
            return stuck(sim, err);
        }
        WIO_TRY(status);
        if (params->progress != NULL && sim->events - told >= PROGRESS_EVENTS) {
            told = sim->events;
            params->progress(params->progress_arg, told, info.events * sim->copies, "events");
        }
    }
    return WIO_OK;
}

/* ---- the result ---- */

static double seconds(uint64_t begin_ns, uint64_t end_ns)
{
    return end_ns > begin_ns ? (double)(end_ns - begin_ns) / NS : 0;
}

static void join_accounts(struct wio_predict_account *to, const struct wio_predict_account *from)
{
    to->ops += from->ops;
    to->bytes_read += from->bytes_read;
    to->bytes_written += from->bytes_written;
    to->io_s += from->io_s;
    to->wait_s += from->wait_s;
    to->compute_s += from->compute_s;
    to->traced_io_s += from->traced_io_s;
    to->begin_ns = from->begin_ns < to->begin_ns ? from->begin_ns : to->begin_ns;
    to->end_ns = from->end_ns > to->end_ns ? from->end_ns : to->end_ns;
    to->traced_begin_ns =
        from->traced_begin_ns < to->traced_begin_ns ? from->traced_begin_ns : to->traced_begin_ns;
    to->traced_end_ns =
        from->traced_end_ns > to->traced_end_ns ? from->traced_end_ns : to->traced_end_ns;
}

static int by_rank(const void *a, const void *b)
{
    const struct wio_predict_account *x = a;
    const struct wio_predict_account *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* One account per rank that did I/O, those without a rank together, in rising order. */
static enum wio_status collect_ranks(struct sim *sim)
{
    struct wio_predict_account *ranks = calloc((size_t)sim->thread_count + 1, sizeof(*ranks));
    size_t count = 0;
    if (ranks == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < sim->thread_count; i++) {
        struct wio_predict_account *account = &sim->threads[i].account;
        if (account->end_ns > 0) {
            double life_s = seconds(account->begin_ns, account->end_ns);
            account->compute_s = fmax(life_s - account->io_s - account->wait_s, 0);
            ranks[count++] = *account;
        }
    }
    if (count > 0) {
        qsort(ranks, count, sizeof(*ranks), by_rank);
    }
    size_t last = 0;
    for (size_t i = 1; i < count; i++) {
        if (ranks[i].rank == ranks[last].rank) {
            join_accounts(&ranks[last], &ranks[i]);
        } else {
            ranks[++last] = ranks[i];
        }
    }
    sim->result.ranks = ranks;
    sim->result.rank_count = count > 0 ? last + 1 : 0;
    return WIO_OK;
}

static enum wio_status sum_up(struct sim *sim)
{
    struct wio_predict_account all = {
        .rank = -1, .begin_ns = UINT64_MAX, .traced_begin_ns = UINT64_MAX};
    WIO_TRY(collect_ranks(sim));
    for (size_t i = 0; i < sim->result.rank_count; i++) {
        struct wio_predict_account *rank = &sim->result.ranks[i];
        rank->total_s = seconds(rank->begin_ns, rank->end_ns);
        rank->traced_s = seconds(rank->traced_begin_ns, rank->traced_end_ns);
        join_accounts(&all, rank);
    }
    all.total_s = seconds(all.begin_ns, all.end_ns);
    all.traced_s = seconds(all.traced_begin_ns, all.traced_end_ns);
    sim->result.all = all;
    sim->result.model = sim->params->model;
    return WIO_OK;
}

/* ---- all of it ---- */

static void sim_cleanup(struct sim *sim)
{
    for (uint32_t i = 0; sim->threads != NULL && i < sim->thread_count; i++) {
        sim_thread_fini(&sim->threads[i]);
    }
    for (uint32_t i = 0; i < sim->host_count; i++) {
        wio_model_destroy(sim->hosts[i].model);
    }
    sim_gate_fini(sim);
    wio_map_fini(&sim->ends);
    wio_map_fini(&sim->requests);
    free(sim->threads);
    free(sim->hosts);
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

static enum wio_status simulate(struct sim *sim, const struct wio_model_params *machine,
                                struct wio_error *err)
{
    sim->threads = calloc((size_t)sim->thread_count + 1, sizeof(*sim->threads));
    if (sim->threads == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(sim_gate_init(sim, err));
    WIO_TRY(add_threads(sim, machine, err));
    start_threads(sim);
    WIO_TRY(run(sim, err));
    if (sim->params->keep_events) {
        WIO_TRY(wio_predict_times_take(sim, &sim->result.times));
    }
    return sum_up(sim);
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
    struct wio_model_params machine;

    WIO_TRY(wio_host_read(params->host, &machine, err));
    wio_whatif_machine(&params->whatif, &machine);
    WIO_TRY(scale(&sim, err));
    WIO_TRY(wio_waits_init(&waits, trace, true, err));
    WIO_TRY(scan(trace, &waits, &opened, err));
    enum wio_status status = simulate(&sim, &machine, err);
    if (status != WIO_OK) {
        wio_predict_result_fini(&sim.result);
        return status == WIO_ERR_NOMEM ? no_memory(err) : status;
    }
    *result_out = sim.result;
    return WIO_OK;
}

void wio_predict_result_fini(struct wio_predict_result *result)
{
    free(result->ranks);
    wio_predict_times_free(result->times);
    result->times = NULL;
    result->ranks = NULL;
    result->rank_count = 0;
}
