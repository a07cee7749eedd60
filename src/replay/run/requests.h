/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's asynchronous requests: submitted and collected where the program did. */
#ifndef WIO_REPLAY_RUN_REQUESTS_H
#define WIO_REPLAY_RUN_REQUESTS_H

#include "replay/run/worker.h"

void rp_requests_submit(struct rp_worker *worker, const struct wio_event *event);
/* Collect what the program had collected at this moment of the trace. */
void rp_requests_collect(struct rp_worker *worker, uint64_t t_ns);
/* Collect the next one. */
void rp_requests_collect_one(struct rp_worker *worker);

#endif
