/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread of a causal replay does around each event beside performing it. */
#ifndef WIO_REPLAY_WAIT_CAUSAL_H
#define WIO_REPLAY_WAIT_CAUSAL_H

#include "replay/run/worker.h"

/* The first event follows: time counts from where the thread's worker is. */
void rp_causal_begin(struct rp_worker *worker);

/* Time passes up to the event; what others wait for is given, what it waits for is waited for. */
void rp_causal_before(struct rp_worker *worker, const struct wio_event *event);

/* Is the event a failed poll for a file that is there by now, or a pause between two such polls?
 * Then it is left out: the program would not have made it. */
bool rp_causal_is_pointless(struct rp_worker *worker, const struct wio_event *event);

/* The event was performed; it was due at due_ns, began by the clock at begin_ns, and ended at
 * end_ns. */
void rp_causal_did(struct rp_worker *worker, const struct wio_event *event, uint64_t due_ns,
                   uint64_t begin_ns, uint64_t end_ns);
/* An asynchronous request was collected; the thread waited for it from before_ns to after_ns. */
void rp_causal_collected(struct rp_worker *worker, const struct wio_event *event,
                         uint64_t before_ns, uint64_t after_ns);
/* The event was not performed. */
void rp_causal_passed(struct rp_worker *worker, const struct wio_event *event);
/* The event waited (join, wait) for a thread or process that ended at `traced_ns` of the trace, at
 * v_ns of the replay. */
void rp_causal_waited(struct rp_worker *worker, const struct wio_event *event, uint64_t traced_ns,
                      uint64_t v_ns);
/* After either: what is given behind the event. */
void rp_causal_after(struct rp_worker *worker, const struct wio_event *event);

/* The stream is at its end: what it has yet to give is given. */
void rp_causal_end(struct rp_worker *worker);

#endif
