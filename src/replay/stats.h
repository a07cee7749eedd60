/* SPDX-License-Identifier: Apache-2.0 */
/* What one thread of a replay has done: counted by itself, added to the whole when it ends. */
#ifndef WIO_REPLAY_STATS_H
#define WIO_REPLAY_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/edges.h>
#include <whyio/event.h>

#include "base/histogram.h"
#include "replay/initial/classify.h"
#include "replay/replay.h"

struct rp_tally {
    struct wio_replay_account total;
    struct wio_replay_account phases[WIO_REPLAY_PHASES];
    uint64_t skipped[WIO_REPLAY_SKIP_COUNT];
    uint64_t covered;
    uint64_t control;
    uint64_t waits[WIO_EDGE_CLASS_COUNT]; /* of mode causal, by class */
    struct wio_histogram late;            /* ns */
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
