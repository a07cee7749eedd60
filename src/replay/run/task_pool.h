/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mode causal: turns that any thread may take (schedule/task_pool.h). A thread that comes to its
 * first turn takes the next one that is free, again and again until none is left; then it goes on
 * behind its own last one. So the threads share the work as the program would on this storage.
 *
 * Not under a launcher, whose ranks have no memory in common for it, nor where the operations are
 * kept one by one as those of the threads that did them in the trace: there each thread performs
 * its recorded turns.
 */
#ifndef WIO_REPLAY_RUN_TASK_POOL_H
#define WIO_REPLAY_RUN_TASK_POOL_H

#include "replay/run/worker.h"
#include "schedule/task_pool.h"

struct rp_pools {
    struct wio_turns turns;
    _Atomic uint32_t *next; /* of each pool: turns taken, shared by all processes */
    void *memory;
    size_t bytes;
};

/* Zero-initialise; release with rp_pools_fini. The plan is one for mode causal. */
WIO_MUST_CHECK enum wio_status rp_pools_init(struct rp_pools *pools, const struct rp_plan *plan,
                                             struct wio_error *err);
void rp_pools_fini(struct rp_pools *pools);

/* Before the first event of a stream. */
void rp_pools_begin(struct rp_worker *worker);
/* Before each event of a stream: true if it belongs to a turn, and so is done. */
bool rp_pools_have(struct rp_worker *worker, const struct wio_event *event);

#endif
