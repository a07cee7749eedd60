/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/run/task_pool.h"

#include <sys/mman.h>

#include "base/cleanup.h"
#include "replay/wait/pace.h"

/* Threads that share descriptors count the uses yet to come (shared.h): these keep their own
 * turns. */
static bool has_shares(const struct rp_plan *plan)
{
    return plan->shared.count > 0;
}

enum wio_status rp_pools_init(struct rp_pools *pools, const struct rp_plan *plan,
                              struct wio_error *err)
{
    if (has_shares(plan)) {
        return WIO_OK;
    }
    WIO_TRY(wio_turns_read(&plan->waits, &pools->turns, err));
    if (pools->turns.pool_count == 0) {
        return WIO_OK;
    }
    size_t bytes = pools->turns.pool_count * sizeof(*pools->next);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return wio_error_sys(err, NULL, "cannot get %zu bytes of shared memory", bytes);
    }
    pools->memory = memory;
    pools->next = memory;
    pools->bytes = bytes;
    return WIO_OK;
}

void rp_pools_fini(struct rp_pools *pools)
{
    if (pools->next != NULL) {
        (void)munmap(pools->memory, pools->bytes);
    }
    wio_turns_fini(&pools->turns);
    *pools = (struct rp_pools){0};
}

/* ---- performing ---- */

/* Take the next turn, by the clock: first come, first served. NULL: none left, or aborted. */
static const struct wio_turn *take(struct rp_worker *worker, uint32_t number)
{
    const struct rp_pools *pools = worker->run->pools;
    const struct wio_turn_pool *pool = &pools->turns.pools[number];
    uint64_t at_ns = worker->causal.gap.v_ns;
    if (rp_pace_wait(worker->run->board, worker->run->cpus, at_ns) < at_ns) {
        return NULL;
    }
    /* none left, for good: the counter need not go on */
    if (atomic_load(&pools->next[number]) >= pool->count) {
        return NULL;
    }
    uint32_t place = atomic_fetch_add(&pools->next[number], 1);
    return place < pool->count ? &pools->turns.turns[pools->turns.order[pool->first + place]]
                               : NULL;
}

static void perform(struct rp_worker *worker, const struct wio_turn_span *span,
                    const struct wio_turn *turn)
{
    const struct wio_event *events = &worker->run->pools->turns.events[turn->first];
    wio_gap_jump(&worker->causal.gap, events[0].t_ns);
    for (uint32_t i = 0; i < turn->count && !rp_board_is_aborted(worker->run->board); i++) {
        struct wio_event event = events[i];
        event.fd = wio_turns_fd(span, event.path);
        rp_worker_do(worker, &event);
    }
    wio_gap_reach(&worker->causal.gap, turn->end_ns);
}

static void perform_all(struct rp_worker *worker, const struct wio_turn_span *span)
{
    const struct wio_turn *turn;
    wio_gap_reach(&worker->causal.gap, span->begin_ns);
    while ((turn = take(worker, span->pool)) != NULL) {
        perform(worker, span, turn);
    }
    wio_gap_jump(&worker->causal.gap, span->end_ns);
}

void rp_pools_begin(struct rp_worker *worker)
{
    const struct rp_pools *pools = worker->run->pools;
    worker->span = pools == NULL ? NULL : wio_turns_span(&pools->turns, worker->stream, 0);
}

bool rp_pools_have(struct rp_worker *worker, const struct wio_event *event)
{
    if (worker->span != NULL && event->seq >= worker->span->end_seq) {
        worker->span = wio_turns_span(&worker->run->pools->turns, worker->stream, event->seq);
    }
    if (worker->span == NULL || event->seq < worker->span->first_seq) {
        return false;
    }
    if (event->seq == worker->span->first_seq) {
        perform_all(worker, worker->span);
    }
    return true;
}
