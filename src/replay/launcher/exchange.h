/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work of a rank's coordinator for the others in a replay under a launcher: it carries messages
 * between machines, and all ranks reduce, again and again, their progress, whether one has failed,
 * and whether all wait. They end together.
 */
#ifndef WIO_REPLAY_LAUNCHER_EXCHANGE_H
#define WIO_REPLAY_LAUNCHER_EXCHANGE_H

#include "replay/run/worker.h"

/* The error of a rank that was told of a failure elsewhere. */
#define RP_OTHER_FAILED "another rank of the replay has failed"

/* Indices into what the ranks reduce: the sums, and the least of .. */
enum rp_sum {
    RP_SUM_OVER,
    RP_SUM_ABORTED,
    RP_SUM_STILL, /* this rank is over, or all its threads wait */
    RP_SUM_CHANGES,
    RP_SUM_SENT,
    RP_SUM_GOT
};
enum rp_least {
    RP_LEAST_AT,   /* .. where its streams are in the trace .. */
    RP_LEAST_FIRST /* .. and its first wait for a lock or queue */
};

struct rp_exchange {
    struct rp_run *run;
    bool is_telling;
    bool is_finished;
    uint64_t told_ns;   /* begin or end of the last reduction */
    uint64_t looked_ns; /* last check whether the reduction is done .. */
    uint64_t silent_ns; /* .. and how long it has not been */
    uint64_t sent;      /* messages, in all */
    uint64_t got;
    uint64_t changes; /* of all, when they were last seen to change .. */
    uint64_t stuck_since_ns;
    uint64_t untied;   /* changes + 1 when a wait was given up */
    uint64_t first_ns; /* what this rank gave for RP_LEAST_FIRST */
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
