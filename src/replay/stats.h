/* SPDX-License-Identifier: Apache-2.0 */
/* What one thread of a replay has done: counted by itself, added to the whole when it ends. */
#ifndef WIO_REPLAY_STATS_H
#define WIO_REPLAY_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/edges.h>
#include <whyio/event.h>

#include "replay/initial/classify.h"
#include "replay/replay.h"

/* A histogram of times: 8 steps for each power of two, so that a value is off by at most 1/16. */
#define RP_LATE_STEPS 8u
#define RP_LATE_BUCKETS (64u * RP_LATE_STEPS)

struct rp_late {
    uint64_t buckets[RP_LATE_BUCKETS];
    uint64_t count;
    uint64_t max_ns;
};

void rp_late_add(struct rp_late *late, uint64_t ns);
void rp_late_merge(struct rp_late *late, const struct rp_late *other);
/* The value that `share` (0 .. 1) of all do not exceed, ns; 0 where there are none. */
double rp_late_quantile(const struct rp_late *late, double share);

struct rp_tally {
    struct wio_replay_account total;
    struct wio_replay_account phases[WIO_REPLAY_PHASES];
    uint64_t skipped[WIO_REPLAY_SKIP_COUNT];
    uint64_t covered;
    uint64_t control;
    uint64_t waits[WIO_EDGE_CLASS_COUNT]; /* of mode causal, by class */
    struct rp_late late;
};

void rp_account_init(struct wio_replay_account *account);
void rp_account_merge(struct wio_replay_account *account, const struct wio_replay_account *other);
void rp_tally_init(struct rp_tally *tally);
void rp_tally_merge(struct rp_tally *tally, const struct rp_tally *other);

/* One operation that was performed, from begin_ns to end_ns of the replay, with `result`. */
struct rp_performed {
    const struct wio_event *event;
    uint64_t begin_ns;
    uint64_t end_ns;
    int64_t result;
    bool is_mismatch;
    enum rp_half half;
};
void rp_tally_add(struct rp_tally *tally, uint32_t phase, const struct rp_performed *performed);

#endif
