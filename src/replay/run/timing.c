/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/run/timing.h"

#include "base/clock.h"
#include "ops/calls.h"
#include "replay/wait/pace.h"

/* Much longer than it takes to decode what is read ahead at a time. */
#define SPARE_NS UINT64_C(3000000)
#define THINK_MAX_NS 1e18 /* thirty years: what a wrong trace may hold must fit */

/* When the trace lets the next operation begin, CLOCK_MONOTONIC. */
static uint64_t due(const struct rp_worker *worker, const struct wio_event *event)
{
    const struct rp_run *run = worker->run;
    if (rp_is_causal(run)) {
        return worker->causal.gap.v_ns;
    }
    if (run->mode == WIO_REPLAY_TIMED) {
        return run->board->start_ns + (event->t_ns - run->plan->first_ns);
    }
    double think_ns = (double)worker->think_ns * run->scale;
    return worker->free_ns +
           (think_ns < THINK_MAX_NS ? (uint64_t)think_ns : (uint64_t)THINK_MAX_NS);
}

uint64_t rp_worker_now(const struct rp_worker *worker)
{
    return rp_is_causal(worker->run) ? worker->causal.gap.v_ns : wio_clock_mono_ns();
}

/* Time passes in the trace up to the begin of this event: computing. */
void rp_time_think(struct rp_worker *worker, const struct wio_event *event)
{
    if (event->t_ns > worker->traced_ns) {
        worker->think_ns += event->t_ns - worker->traced_ns;
        worker->traced_ns = event->t_ns;
    }
}

/* Time in the call itself: none of it is computing, but that of a sleep is not waiting either. */
void rp_time_pass(struct rp_worker *worker, const struct wio_event *event)
{
    if (wio_op_class(event->op) == WIO_CLASS_SLEEP) {
        return;
    }
    bool is_async = (event->flags & WIO_EVENT_ASYNC) != 0 || event->result == WIO_RESULT_PENDING;
    uint64_t end = event->t_ns + (is_async ? 0 : event->dur_ns);
    if (end > worker->traced_ns) {
        worker->traced_ns = end;
    }
}

/* Decode what comes later while there is nothing else to do: a program that goes on as fast as it
 * can leaves no time for it. */
static void read_ahead(struct rp_worker *worker, uint64_t until_ns)
{
    while (worker->feed.has_room && wio_clock_mono_ns() + SPARE_NS < until_ns &&
           rp_feed_read_ahead(&worker->feed, &worker->error) == WIO_OK) {
    }
}

/* Wait for the moment of the event; what it is late by goes into the histogram. Gives the time. */
uint64_t rp_time_start(struct rp_worker *worker, const struct wio_event *event)
{
    const struct rp_run *run = worker->run;
    if (run->mode == WIO_REPLAY_AFAP) {
        return wio_clock_mono_ns();
    }
    uint64_t at = due(worker, event);
    worker->think_ns = 0;
    read_ahead(worker, at);
    uint64_t now = rp_pace_wait(run->board, run->cpus, at);
    wio_histogram_add(&worker->tally.late, now > at ? now - at : 0);
    return now;
}

/* What makes processes and threads, or waits for them, is on time where the program's waits are
 * dropped. With them its time is computed (causal.h). */
void rp_time_start_control(struct rp_worker *worker, const struct wio_event *event)
{
    if (!rp_is_causal(worker->run)) {
        (void)rp_time_start(worker, event);
    }
}

/* What the next think time counts from after a wait: now. */
void rp_time_resume(struct rp_worker *worker, const struct wio_event *event)
{
    enum wio_class cls = wio_op_class(event->op);
    if (cls == WIO_CLASS_WAIT || cls == WIO_CLASS_THREAD || cls == WIO_CLASS_PROCESS) {
        worker->free_ns = wio_clock_mono_ns();
    }
}
