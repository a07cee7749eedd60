/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/run/worker.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "ops/calls.h"
#include "replay/initial/classify.h"
#include "replay/initial/kind.h"
#include "replay/perform/perform.h"
#include "replay/run/async.h"
#include "replay/run/requests.h"
#include "replay/run/task_pool.h"
#include "replay/run/timing.h"
#include "replay/wait/causal.h"
#include "schedule/sync.h"

#define REPORT_EVERY 256u
/* All threads of a replay decode so many bytes of events ahead of time, one of them .. */
#define AHEAD_BYTES (UINT64_C(256) << 20)
#define AHEAD_THREAD_BYTES (UINT64_C(32) << 20)

static bool is_aborted(const struct rp_worker *worker)
{
    return rp_board_is_aborted(worker->run->board);
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
        rp_time_start_control(worker, event);
        rp_process_start_children(worker, event);
        break;
    case WIO_CLASS_THREAD:
        if (event->op == WIO_OP_pthread_create || event->op == WIO_OP_thrd_create) {
            rp_time_start_control(worker, event);
            rp_process_start_thread(worker, event);
        } else if (event->op == WIO_OP_pthread_join || event->op == WIO_OP_thrd_join) {
            rp_time_start_control(worker, event);
            rp_process_join_thread(worker, event);
        }
        break;
    case WIO_CLASS_WAIT:
        rp_time_start_control(worker, event);
        rp_process_wait_child(worker, event);
        break;
    case WIO_CLASS_EXEC:
    case WIO_CLASS_EXIT:
    case WIO_CLASS_CWD:
    case WIO_CLASS_ASYNC_CALL:
        break;
    default:
        if (!wio_is_sync(wio_op_class(event->op))) {
            return false;
        }
        break;
    }
    worker->tally.control++;
    return true;
}

/* What is skipped takes no time here, and none of the time it took was computing. */
static bool is_timed(const struct rp_worker *worker, const struct wio_event *event)
{
    uint8_t kind;
    return rp_classify(&worker->run->plan->observer, event, &kind) != RP_FATE_SKIP ||
           kind == RP_KIND_OF_SKIP(UNKNOWN);
}

static void performed(struct rp_worker *worker, const struct wio_event *event,
                      const struct rp_outcome *out, uint64_t tried)
{
    struct rp_outcome copy = *out;
    rp_settle(worker, event, worker->index, out, tried);
    if (out->error != 0 && event->error == 0 && wio_op_class(event->op) == WIO_CLASS_OPEN) {
        rp_open_anyway(worker, event, &copy);
    }
}

/* Perform it and give the begin; 0 if the file that the thread polls for has just come, or the one
 * that it tries to make has just gone: that poll does not count. */
static uint64_t try(struct rp_worker *worker, const struct wio_event *event, uint64_t begin,
                    struct rp_outcome *out)
{
    bool is_try = event->error == EEXIST;
    if (worker->causal.poll == 0 || (event->error != ENOENT && !is_try)) {
        return rp_perform_in_order(worker, event, begin, out);
    }
    /* one that succeeded would leave its file behind */
    bool is_free = is_try && rp_is_name_free(worker, event);
    if (!is_free) {
        rp_perform(worker, event, out);
    }
    if (is_try ? !is_free : out->error != 0) {
        return begin;
    }
    rp_causal_passed(worker, event);
    worker->tally.control++;
    return 0;
}

static void perform(struct rp_worker *worker, const struct wio_event *event)
{
    struct rp_outcome out = {0};
    uint64_t due_ns = worker->causal.gap.v_ns;
    uint64_t begin_ns =
        is_timed(worker, event) ? rp_time_start(worker, event) : wio_clock_mono_ns();
    if (is_aborted(worker)) {
        return;
    }
    uint64_t tried = try(worker, event, begin_ns, &out);
    if (tried == 0) {
        return;
    }
    if (out.did == RP_DID_PERFORM) {
        performed(worker, event, &out, tried);
    } else if (out.did == RP_DID_SKIP) {
        worker->tally.skipped[out.skip]++;
    } else {
        worker->tally.control++;
    }
    if (rp_is_causal(worker->run) && out.did == RP_DID_PERFORM) {
        rp_causal_did(worker, event, due_ns, begin_ns, worker->free_ns);
    } else if (rp_is_causal(worker->run)) {
        rp_causal_passed(worker, event);
    }
}

static void report(struct rp_worker *worker)
{
    if (++worker->unreported == REPORT_EVERY) {
        atomic_fetch_add_explicit(&worker->run->board->done, REPORT_EVERY, memory_order_relaxed);
        worker->unreported = 0;
    }
}

static bool is_wait(const struct wio_event *event)
{
    enum wio_class cls = wio_op_class(event->op);
    return cls == WIO_CLASS_WAIT || cls == WIO_CLASS_THREAD || cls == WIO_CLASS_PROCESS ||
           wio_is_sync(cls);
}

/* From when on the thread may touch files again. One that waits, perhaps for a thread that checks
 * its progress, does not before its wait is over, or its next event begins: within a call of
 * MPI-IO, or in a handler of a signal that came meanwhile. */
static uint64_t place_of(struct rp_worker *worker, const struct wio_event *event)
{
    uint64_t end_ns = event->t_ns + event->dur_ns;
    if (event->dur_ns == 0 || !is_wait(event)) {
        return event->t_ns;
    }
    uint64_t next_ns = rp_feed_next_ns(&worker->feed, &worker->error);
    return next_ns < end_ns ? next_ns : end_ns;
}

static void set_progress(struct rp_worker *worker, const struct wio_event *event, uint64_t place_ns)
{
    struct rp_progress *progress = &worker->run->board->progress[worker->stream];
    atomic_store_explicit(&progress->begin_ns, event->t_ns, memory_order_relaxed);
    atomic_store_explicit(&progress->at_ns, place_ns, memory_order_release);
}

/* One event in a mode that has its time from the gaps between operations alone. */
static void go_through(struct rp_worker *worker, const struct wio_event *event)
{
    if (is_request(wio_op_class(event->op))) {
        rp_requests_submit(worker, event);
        return;
    }
    if (worker->async != NULL) {
        rp_async_flush(worker->async);
    }
    rp_share_before(worker, event);
    if (event->op == WIO_OP_popen) {
        rp_process_start_children(worker, event);
    }
    if (!control(worker, event)) {
        perform(worker, event);
    } else if (rp_is_causal(worker->run)) {
        rp_causal_passed(worker, event);
    } else {
        rp_time_resume(worker, event);
    }
}

void rp_worker_do(struct rp_worker *worker, const struct wio_event *event)
{
    report(worker);
    set_progress(worker, event, event->t_ns);
    worker->causal.has_taken = false;
    wio_gap_reach(&worker->causal.gap, event->t_ns);
    perform(worker, event);
    worker->free_ns = worker->causal.gap.v_ns;
}

/* In mode causal every event is a point that others may wait for, also one that does nothing. */
static void step_causal(struct rp_worker *worker, const struct wio_event *event)
{
    rp_requests_collect(worker, event->t_ns);
    if (event->op == WIO_OP_system) { /* it waits for the end of what it makes */
        wio_gap_reach(&worker->causal.gap, event->t_ns);
        rp_process_begin_children(worker, event);
    }
    rp_causal_before(worker, event);
    if (rp_is_covered(event, worker->caused)) {
        worker->tally.covered++;
    } else if (rp_causal_is_pointless(worker, event)) {
        worker->tally.control++;
    } else if (!is_aborted(worker)) {
        go_through(worker, event);
        rp_share_after(worker, event);
    }
    rp_causal_after(worker, event);
}

static void step(struct rp_worker *worker, const struct wio_event *event)
{
    report(worker);
    set_progress(worker, event, place_of(worker, event));
    if (rp_is_causal(worker->run)) {
        step_causal(worker, event);
        return;
    }
    if (rp_is_covered(event, worker->caused)) {
        worker->tally.covered++;
        return; /* what is left of its time beside the calls that it caused is computing */
    }
    rp_requests_collect(worker, event->t_ns);
    rp_time_think(worker, event);
    go_through(worker, event);
    rp_share_after(worker, event);
    rp_time_pass(worker, event);
}

/* ---- a stream ---- */

static void perform_all(struct rp_worker *worker)
{
    const struct wio_event *event;
    enum wio_status status = WIO_OK;
    while (!is_aborted(worker) &&
           (status = rp_feed_next(&worker->feed, &event, &worker->error)) == WIO_OK) {
        if (!rp_pools_have(worker, event)) {
            step(worker, event);
        }
        worker->index++;
    }
    while (worker->async != NULL && rp_async_count(worker->async) > 0 && !is_aborted(worker)) {
        rp_requests_collect_one(worker);
    }
    if (rp_is_causal(worker->run) && !is_aborted(worker)) {
        rp_causal_end(worker);
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
    if (worker->null_fd > 0) {
        (void)close(worker->null_fd);
    }
    wio_map_fini(&worker->mappings);
    free(worker->mapped);
}

static void store_max(_Atomic uint64_t *value, uint64_t candidate)
{
    uint64_t now = atomic_load(value);
    while (candidate > now && !atomic_compare_exchange_weak(value, &now, candidate)) {
    }
}

static size_t events_ahead(const struct rp_run *run)
{
    uint64_t share = AHEAD_BYTES / wio_trace_stream_count(run->trace);
    uint64_t bytes = share < AHEAD_THREAD_BYTES ? share : AHEAD_THREAD_BYTES;
    return (size_t)(bytes / sizeof(struct wio_event));
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
    atomic_fetch_add(&run->board->crowd->threads, 1);
    rp_pools_begin(worker);
    if (rp_feed_init(&worker->feed, run->trace, worker->stream, events_ahead(run),
                     &worker->error) == WIO_OK) {
        rp_process_ready(worker);
        if (rp_is_causal(run)) {
            rp_causal_begin(worker);
        }
        perform_all(worker);
    } else {
        rp_board_fail(run->board, &worker->error);
    }
    atomic_store(&run->board->progress[worker->stream].at_ns, UINT64_MAX);
    atomic_fetch_sub(&run->board->crowd->threads, 1);
    atomic_fetch_add(&run->board->done, worker->unreported);
    thread->end_ns = worker->free_ns;
    store_max(&process->last_ns, worker->free_ns);
    rp_board_add_tally(run->board, &worker->tally, run->rank_of_image[process->image]);
    release(worker);
    free(worker);
}
