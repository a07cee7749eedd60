/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that threads share, while they perform (shared.h has the plan of it). */
#include "replay/perform/perform.h"

/* A program may use a descriptor while it closes it; then the plan counts one use too many here.
 * Each time that this was waited for in vain the next wait is half as long. */
#define CLOSE_WAIT_NS UINT64_C(2000000000)
#define CLOSE_WAITS_MAX 12u

static struct rp_share_state *state_of(struct rp_worker *worker, const struct wio_event *event,
                                       int64_t fd, const struct rp_share **share_out)
{
    const struct rp_shared *shared = &worker->run->plan->shared;
    uint32_t image = worker->process->image;
    if (fd < 0 || fd > INT32_MAX) {
        return NULL;
    }
    uint32_t index = rp_shared_find(shared, image, (int32_t)fd, event->t_ns);
    if (index == RP_NONE) {
        return NULL;
    }
    *share_out = &shared->items[index];
    return &worker->process->shares[index - shared->first[image]];
}

struct rp_fd *rp_share_entry(struct rp_worker *worker, const struct wio_event *event, int64_t fd,
                             bool *is_shared_out)
{
    const struct rp_share *share;
    struct rp_share_state *state =
        worker->process->shares == NULL ? NULL : state_of(worker, event, fd, &share);
    *is_shared_out = state != NULL && share->opener != worker->stream;
    if (!*is_shared_out) {
        return NULL;
    }
    if (!rp_board_wait(worker->run->board, &state->step, RP_SHARE_OPEN) ||
        atomic_load(&state->step) != RP_SHARE_OPEN || rp_fd_real(state->entry) < 0) {
        return NULL;
    }
    return state->entry;
}

void rp_share_before(struct rp_worker *worker, const struct wio_event *event)
{
    struct rp_fd_effect effect;
    const struct rp_share *share;
    if (worker->process->shares == NULL) {
        return;
    }
    rp_fd_effect_of(event, &effect);
    struct rp_share_state *state = state_of(worker, event, effect.takes, &share);
    if (state == NULL) {
        return;
    }
    (void)rp_board_wait_for(worker->run->board, &state->uses, (uint32_t)share->uses,
                            CLOSE_WAIT_NS >> worker->close_waits);
    if (atomic_load(&state->uses) < (uint32_t)share->uses &&
        worker->close_waits < CLOSE_WAITS_MAX) {
        worker->close_waits++;
    }
}

static void count_use(struct rp_worker *worker, const struct wio_event *event, int64_t fd)
{
    const struct rp_share *share;
    struct rp_share_state *state = state_of(worker, event, fd, &share);
    if (state != NULL) {
        uint32_t uses = atomic_fetch_add(&state->uses, 1) + 1;
        if (uses >= (uint32_t)share->uses) {
            rp_board_set(&state->uses, uses);
        }
    }
}

void rp_share_after(struct rp_worker *worker, const struct wio_event *event)
{
    struct rp_fd_effect effect;
    const struct rp_share *share;
    if (worker->process->shares == NULL) {
        return;
    }
    rp_fd_effect_of(event, &effect);
    count_use(worker, event, effect.uses[0]);
    count_use(worker, event, effect.uses[1]);
    struct rp_share_state *state = state_of(worker, event, effect.gives, &share);
    if (state != NULL && share->opener == worker->stream && share->open_ns == event->t_ns) {
        state->entry = rp_fd_own(worker, effect.gives);
        bool is_open = state->entry != NULL && rp_fd_real(state->entry) >= 0;
        rp_board_set(&state->step, is_open ? RP_SHARE_OPEN : RP_SHARE_GONE);
    }
}

struct rp_fd *rp_fd_own(struct rp_worker *worker, int64_t fd)
{
    return rp_fds_at(&worker->thread->fds, fd);
}
