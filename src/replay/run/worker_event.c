/* SPDX-License-Identifier: Apache-2.0 */
/* One event of a stream: when it begins, what it does, and what others learn of it. */
#include "base/clock.h"
#include "ops/calls.h"
#include "replay/initial/classify.h"
#include "replay/initial/kind.h"
#include "replay/perform/perform.h"
#include "replay/run/async.h"
#include "replay/run/requests.h"
#include "replay/run/timing.h"
#include "replay/run/worker.h"
#include "replay/wait/causal.h"
#include "schedule/sync.h"

#define REPORT_EVERY 256u

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
    rp_order_await(worker, event);
    uint64_t due_ns = worker->causal.gap.v_ns;
    uint64_t begin_ns =
        is_timed(worker, event) ? rp_time_start(worker, event) : wio_clock_mono_ns();
    if (rp_board_is_aborted(worker->run->board)) {
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
    } else if (!rp_board_is_aborted(worker->run->board)) {
        go_through(worker, event);
        rp_share_after(worker, event);
    }
    rp_causal_after(worker, event);
}

void rp_worker_step(struct rp_worker *worker, const struct wio_event *event)
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
