/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/worker.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "replay/async.h"
#include "replay/classify.h"
#include "replay/kind.h"
#include "replay/pace.h"
#include "replay/perform.h"
#include "trace/calls.h"

#define REPORT_EVERY 256u
#define THINK_MAX_NS 1e18 /* thirty years: what a trace that lies may hold must fit */

static bool is_aborted(const struct rp_worker *worker)
{
    return rp_board_is_aborted(worker->run->board);
}

/* ---- time ---- */

/* When the trace lets the next operation begin, CLOCK_MONOTONIC. */
static uint64_t due(const struct rp_worker *worker, const struct wio_event *event)
{
    const struct rp_run *run = worker->run;
    if (run->mode == WIO_REPLAY_TIMED) {
        return run->board->start_ns + (event->t_ns - run->plan->first_ns);
    }
    double think_ns = (double)worker->think_ns * run->scale;
    return worker->free_ns +
           (think_ns < THINK_MAX_NS ? (uint64_t)think_ns : (uint64_t)THINK_MAX_NS);
}

/* Time passes in the trace up to the begin of this event: computing. */
static void think(struct rp_worker *worker, const struct wio_event *event)
{
    if (event->t_ns > worker->traced_ns) {
        worker->think_ns += event->t_ns - worker->traced_ns;
        worker->traced_ns = event->t_ns;
    }
}

/* Time in the call itself: none of it is computing. */
static void pass(struct rp_worker *worker, const struct wio_event *event)
{
    bool is_async = (event->flags & WIO_EVENT_ASYNC) != 0 || event->result == WIO_RESULT_PENDING;
    uint64_t end = event->t_ns + (is_async ? 0 : event->dur_ns);
    if (end > worker->traced_ns) {
        worker->traced_ns = end;
    }
}

/* Wait for the moment of the event; what it is late by goes into the histogram. Gives the time. */
static uint64_t start_on_time(struct rp_worker *worker, const struct wio_event *event)
{
    const struct rp_run *run = worker->run;
    if (run->mode == WIO_REPLAY_AFAP) {
        return wio_clock_mono_ns();
    }
    uint64_t at = due(worker, event);
    worker->think_ns = 0;
    (void)rp_pace_wait(run->board, run->cpus, at);
    uint64_t now = wio_clock_mono_ns();
    rp_late_add(&worker->tally.late, now > at ? now - at : 0);
    return now;
}

/* ---- asynchronous requests ---- */

static void collect_one(struct rp_worker *worker)
{
    struct rp_request request;
    if (!rp_async_take(worker->async, &request)) {
        return;
    }
    struct rp_outcome out = {.result = request.result};
    if (request.result < 0) {
        out.error = (int)-request.result;
        out.result = -1;
    }
    rp_settle(worker, &request.event, request.index, &out, request.begin_ns);
}

/* Requests that the program had collected before this event. */
static void collect_until(struct rp_worker *worker, uint64_t t_ns)
{
    while (worker->async != NULL && rp_async_next(worker->async) <= t_ns && !is_aborted(worker)) {
        collect_one(worker);
    }
}

static bool has_async(struct rp_worker *worker)
{
    if (worker->async != NULL) {
        return true;
    }
    if (rp_async_create(&worker->async, &worker->error) != WIO_OK) {
        rp_board_fail(worker->run->board, &worker->error);
        return false;
    }
    return true;
}

static void submit(struct rp_worker *worker, const struct wio_event *event)
{
    struct rp_outcome out = {0};
    uint64_t bytes = event->size == WIO_NO_SIZE ? 0 : event->size;
    if (!has_async(worker)) {
        return;
    }
    if (rp_async_count(worker->async) == RP_ASYNC_DEPTH) {
        collect_one(worker);
    }
    uint64_t begin = start_on_time(worker, event);
    uint8_t kind = rp_kind(worker, event->path);
    if (kind >= RP_KIND_NULL && kind < RP_KIND_SKIP) {
        out.result = event->result;
        out.error = event->error;
        rp_settle(worker, event, worker->index, &out, begin);
        return;
    }
    int fd = rp_fd_use(worker, event, &out);
    if (out.did == RP_DID_SKIP) {
        worker->tally.skipped[out.skip]++;
        return;
    }
    bool is_write = wio_op_class(event->op) == WIO_CLASS_ASYNC_WRITE;
    uint64_t room = worker->run->source.size;
    bytes = bytes < room ? bytes : room;
    uint8_t *data = is_write ? rp_source(worker, event, bytes) : rp_sink(worker);
    struct rp_request *request = rp_async_add(worker->async, event, fd, data, bytes);
    request->begin_ns = begin;
    request->index = worker->index;
    worker->free_ns = begin;
}

/* ---- one event ---- */

static bool is_request(enum wio_class cls)
{
    return cls == WIO_CLASS_ASYNC_READ || cls == WIO_CLASS_ASYNC_WRITE ||
           cls == WIO_CLASS_ASYNC_SYNC;
}

/* Processes, threads, and calls that only carry requests. True if the event was one of these. */
static bool control(struct rp_worker *worker, const struct wio_event *event)
{
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_PROCESS:
        (void)start_on_time(worker, event);
        rp_process_start_children(worker, event);
        break;
    case WIO_CLASS_THREAD:
        if (event->op == WIO_OP_pthread_create || event->op == WIO_OP_thrd_create) {
            (void)start_on_time(worker, event);
            rp_process_start_thread(worker, event);
        } else if (event->op == WIO_OP_pthread_join || event->op == WIO_OP_thrd_join) {
            (void)start_on_time(worker, event);
            rp_process_join_thread(worker, event);
        }
        break;
    case WIO_CLASS_WAIT:
        (void)start_on_time(worker, event);
        rp_process_wait_child(worker, event);
        break;
    case WIO_CLASS_EXEC:
    case WIO_CLASS_EXIT:
    case WIO_CLASS_CWD:
    case WIO_CLASS_ASYNC_CALL:
        break;
    default:
        return false;
    }
    worker->tally.control++;
    return true;
}

/* What the next think time counts from after a wait: now. */
static void resume(struct rp_worker *worker, const struct wio_event *event)
{
    enum wio_class cls = wio_op_class(event->op);
    if (cls == WIO_CLASS_WAIT || cls == WIO_CLASS_THREAD || cls == WIO_CLASS_PROCESS) {
        worker->free_ns = wio_clock_mono_ns();
    }
}

/* What is skipped takes no time here, and none of the time it took was computing. */
static bool is_timed(const struct rp_worker *worker, const struct wio_event *event)
{
    uint8_t kind;
    return rp_classify(&worker->run->plan->observer, event, &kind) != RP_FATE_SKIP ||
           kind == RP_KIND_OF_SKIP(UNKNOWN);
}

static void perform(struct rp_worker *worker, const struct wio_event *event)
{
    struct rp_outcome out = {0};
    if (is_timed(worker, event)) {
        (void)start_on_time(worker, event);
    }
    if (is_aborted(worker)) {
        return;
    }
    uint64_t tried = rp_perform_in_order(worker, event, &out);
    if (out.did == RP_DID_PERFORM) {
        rp_settle(worker, event, worker->index, &out, tried);
        if (out.error != 0 && event->error == 0 && wio_op_class(event->op) == WIO_CLASS_OPEN) {
            rp_open_anyway(worker, event, &out);
        }
    } else if (out.did == RP_DID_SKIP) {
        worker->tally.skipped[out.skip]++;
    } else {
        worker->tally.control++;
    }
}

static void report(struct rp_worker *worker)
{
    if (++worker->unreported == REPORT_EVERY) {
        atomic_fetch_add_explicit(&worker->run->board->done, REPORT_EVERY, memory_order_relaxed);
        worker->unreported = 0;
    }
}

static void step(struct rp_worker *worker, const struct wio_event *event)
{
    enum wio_class cls = wio_op_class(event->op);
    report(worker);
    atomic_store_explicit(&worker->run->board->progress[worker->stream].at_ns, event->t_ns,
                          memory_order_release);
    if (rp_is_covered(event, worker->caused)) {
        worker->tally.covered++;
        return; /* what is left of its time beside the calls that it caused is computing */
    }
    collect_until(worker, event->t_ns);
    think(worker, event);
    if (is_request(cls)) {
        submit(worker, event);
        rp_share_after(worker, event);
        pass(worker, event);
        return;
    }
    if (worker->async != NULL) {
        rp_async_flush(worker->async);
    }
    rp_share_before(worker, event);
    if (event->op == WIO_OP_popen) {
        rp_process_start_children(worker, event);
    }
    if (control(worker, event)) {
        resume(worker, event);
    } else {
        perform(worker, event);
    }
    rp_share_after(worker, event);
    pass(worker, event);
}

/* ---- a stream ---- */

static void perform_all(struct rp_worker *worker)
{
    const struct wio_event *event;
    enum wio_status status = WIO_OK;
    while (!is_aborted(worker) &&
           (status = rp_feed_next(&worker->feed, &event, &worker->error)) == WIO_OK) {
        step(worker, event);
        worker->index++;
    }
    while (worker->async != NULL && rp_async_count(worker->async) > 0 && !is_aborted(worker)) {
        collect_one(worker);
    }
    if (status != WIO_OK && status != WIO_END) {
        rp_board_fail(worker->run->board, &worker->error);
    }
}

static void release(struct rp_worker *worker)
{
    rp_async_destroy(worker->async);
    rp_dirs_fini(worker);
    rp_feed_fini(&worker->feed);
    rp_bulk_destroy(&worker->sink);
    wio_map_fini(&worker->mappings);
    free(worker->mapped);
}

static void store_max(_Atomic uint64_t *value, uint64_t candidate)
{
    uint64_t now = atomic_load(value);
    while (candidate > now && !atomic_compare_exchange_weak(value, &now, candidate)) {
    }
}

void rp_worker_perform(struct rp_thread *thread)
{
    struct rp_process *process = thread->process;
    const struct rp_run *run = process->run;
    struct rp_worker *worker = calloc(1, sizeof(*worker));
    if (worker == NULL) {
        struct wio_error error = WIO_ERROR_INIT;
        (void)wio_error_set(&error, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                            "no memory for a thread of the replay");
        rp_board_fail(run->board, &error);
        return;
    }
    worker->run = run;
    worker->process = process;
    worker->thread = thread;
    worker->stream = thread->stream;
    worker->caused = run->plan->family.images[process->image].caused;
    worker->traced_ns = thread->traced_base_ns;
    worker->free_ns = thread->base_ns;
    rp_tally_init(&worker->tally);
    atomic_fetch_add(&run->board->threads, 1);
    if (rp_feed_init(&worker->feed, run->trace, worker->stream, &worker->error) == WIO_OK) {
        rp_process_ready(worker);
        perform_all(worker);
    } else {
        rp_board_fail(run->board, &worker->error);
    }
    atomic_store(&run->board->progress[worker->stream].at_ns, UINT64_MAX);
    atomic_fetch_sub(&run->board->threads, 1);
    atomic_fetch_add(&run->board->done, worker->unreported);
    store_max(&process->last_ns, worker->free_ns);
    rp_board_add_tally(run->board, &worker->tally, run->rank_of_image[process->image]);
    release(worker);
    free(worker);
}
