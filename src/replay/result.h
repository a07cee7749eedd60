/* SPDX-License-Identifier: Apache-2.0 */
/* From the board to the result that a caller sees. */
#ifndef WIO_REPLAY_RESULT_H
#define WIO_REPLAY_RESULT_H

#include "replay/control_block.h"
#include "replay/initial/plan.h"
#include "replay/replay.h"

/* The ranks of a trace, ascending, -1 first; and for each process image its place in them. */
struct rp_ranks {
    struct wio_replay_rank *items;
    uint32_t count;
    uint32_t *of_image;
};
WIO_MUST_CHECK enum wio_status rp_ranks_init(struct rp_ranks *ranks, const struct rp_plan *plan,
                                             struct wio_error *err);
void rp_ranks_fini(struct rp_ranks *ranks);

/* Copy what is on the board. Takes ranks->items. With keep_events the result takes the board too
 * (*board becomes NULL). */
WIO_MUST_CHECK enum wio_status rp_result_take(struct wio_replay_result *result,
                                              const struct rp_plan *plan, struct rp_board **board,
                                              struct rp_ranks *ranks, struct wio_error *err);

/* Copy phases: as many as the plan has pauses, + 1. */
WIO_MUST_CHECK enum wio_status rp_result_set_phases(struct wio_replay_result *result,
                                                    const struct rp_plan *plan,
                                                    const struct rp_tally *tally,
                                                    struct wio_error *err);
void rp_result_set_totals(struct wio_replay_result *result, const struct rp_tally *tally);

#endif
