/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that a replay holds, and the steps that it is made of, with and without a launcher. */
#ifndef WIO_REPLAY_SESSION_H
#define WIO_REPLAY_SESSION_H

#include <sys/resource.h>

#include "replay/launcher/machine.h"
#include "replay/launcher/remote.h"
#include "replay/prepare/manifest.h"
#include "replay/prepare/prepare.h"
#include "replay/result.h"
#include "replay/run/coordinate.h"
#include "replay/run/task_pool.h"

struct rp_stage {
    const struct wio_replay_params *params;
    enum wio_replay_mode mode;
    struct rp_plan *plan;
    struct rp_root root;
    struct rp_manifest manifest;
    struct rp_ranks ranks;
    struct rp_board *board;
    struct rp_gate gate;
    struct rp_pools pools;
    struct rp_run run;
    struct rlimit files; /* before */
    bool has_limit;
    /* under a launcher */
    uint32_t *homes; /* rank that plays each group */
    struct rp_machine machine;
    struct rp_far far;
};

#define RP_STAGE_INIT                                                                              \
    {                                                                                              \
        .root = {.fd = -1}, .manifest = {.fd = -1 }                                                \
    }

void rp_stage_fini(struct rp_stage *stage);

/* Do the prepared files stay in the page cache? Pure. */
bool rp_stage_keeps_cache(enum wio_replay_cache asked, const struct rp_space *space);

/* Make the tree below the target; takes the lock of its list. */
WIO_MUST_CHECK enum wio_status rp_stage_prepare(struct rp_stage *stage, struct wio_error *err);

/* Control block, sync table, data and limits: after this the processes may be forked. Under a
 * launcher the machine is open. */
WIO_MUST_CHECK enum wio_status rp_stage_set_up(struct rp_stage *stage, struct wio_error *err);

/* A dry run: what would be done. */
WIO_MUST_CHECK enum wio_status rp_stage_count(const struct rp_stage *stage,
                                              struct wio_replay_result *result,
                                              struct wio_error *err);

/* In linked.c: all of a replay under a launcher; called by each of its ranks. Only rank 0 has a
 * result worth showing. */
WIO_MUST_CHECK enum wio_status
rp_linked_replay(struct rp_stage *stage, struct wio_replay_result *result, struct wio_error *err);

#endif
