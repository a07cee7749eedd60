/* SPDX-License-Identifier: Apache-2.0 */
/* When a thread's events begin, in every mode. What mode causal does beside it is in causal.h. */
#ifndef WIO_REPLAY_RUN_TIMING_H
#define WIO_REPLAY_RUN_TIMING_H

#include "replay/run/worker.h"

/* Time passes in the trace up to the begin of this event: computing. */
void rp_time_think(struct rp_worker *worker, const struct wio_event *event);
/* Time in the call itself: none of it is computing, but that of a sleep is not waiting either. */
void rp_time_pass(struct rp_worker *worker, const struct wio_event *event);
/* What the next think time counts from after a wait: now. */
void rp_time_resume(struct rp_worker *worker, const struct wio_event *event);

/* Wait for the moment of the event; what it is late by goes into the histogram. Gives the time. */
uint64_t rp_time_start(struct rp_worker *worker, const struct wio_event *event);
/* The same for what makes processes and threads, or waits for them: in mode causal their time is
 * computed, and nothing is waited for. */
void rp_time_start_control(struct rp_worker *worker, const struct wio_event *event);

#endif
