/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a rank's coordinator does for the others while all replay under a launcher: it carries the
 * mail between machines, and all ranks bring together, again and again, how far they are, whether
 * one has failed, and whether anybody can still go on. They end together.
 */
#ifndef WIO_REPLAY_LAUNCHER_EXCHANGE_H
#define WIO_REPLAY_LAUNCHER_EXCHANGE_H

#include "replay/run/worker.h"

/* What a rank says that has only heard of a failure. */
#define RP_OTHER_FAILED "another rank of the replay has failed"

/* Places in what the ranks tell each other: the sums, and the least of .. */
enum rp_sum {
    RP_SUM_OVER,
    RP_SUM_ABORTED,
    RP_SUM_STILL, /* nobody of this rank performs */
    RP_SUM_CHANGES,
    RP_SUM_SENT,
    RP_SUM_GOT
};
enum rp_least {
    RP_LEAST_AT,   /* .. where its streams are in the trace .. */
    RP_LEAST_FIRST /* .. and who of them waits for a lock or queue (rp_gate_first_ns) */
};

struct rp_exchange {
    struct rp_run *run;
    bool is_telling;
    bool is_finished;
    uint64_t told_ns;   /* begin or end of the last exchange of news */
    uint64_t looked_ns; /* when this rank looked for news last .. */
    uint64_t silent_ns; /* .. and how long it has looked in vain */
    uint64_t sent;      /* mails, ever */
    uint64_t got;
    uint64_t changes; /* of all, when they were last seen to change .. */
    uint64_t stuck_since_ns;
    uint64_t untied;   /* changes + 1 when somebody was let go */
    uint64_t first_ns; /* what this rank has told of RP_LEAST_FIRST */
    struct wio_error error;
};

/* All ranks are ready: agree on when the clock starts, and set it. */
WIO_MUST_CHECK enum wio_status rp_exchange_start(struct rp_exchange *exchange, struct rp_run *run,
                                                 struct wio_error *err);

/* One round; is_over: this rank has no process left. False when all ranks are over, or one is lost
 * (link->is_lost; the replay is aborted then). */
bool rp_exchange_turn(struct rp_exchange *exchange, bool is_over);

/* Sleep until there may be something to do. */
void rp_exchange_nap(struct rp_exchange *exchange);

#endif
