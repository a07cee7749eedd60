/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts a run where no I/O is under way: a phase of a replay's result is a stretch between two
 * pauses of the whole program. (`whyio compare` has a finer cut, by kind of work and file.) Pure.
 */
#ifndef WIO_REPLAY_INITIAL_PAUSES_H
#define WIO_REPLAY_INITIAL_PAUSES_H

#include <stdint.h>

#include <whyio/event.h>

#include "replay/replay.h"

/* Shorter pauses than this, and than 1/50 of the run, do not cut. */
#define RP_PAUSE_MIN_NS 10000000u

struct rp_pause {
    uint64_t start_ns; /* nothing is under way from here ... */
    uint64_t end_ns;   /* ... to here */
};

/* Zero-initialise. Keeps the longest WIO_REPLAY_PHASES - 1 pauses; after _finish in order of time.
 */
struct rp_pauses {
    struct rp_pause items[WIO_REPLAY_PHASES - 1];
    uint32_t count;
    uint64_t first_ns;
    uint64_t last_ns; /* end of what was under way so far */
};

/* The next operation in order of begin. */
void rp_pauses_add(struct rp_pauses *pauses, const struct wio_event *event);
void rp_pauses_finish(struct rp_pauses *pauses);

/* Phase of an operation that begins at t_ns: 0 .. count. */
static inline uint32_t rp_pauses_phase(const struct rp_pauses *pauses, uint64_t t_ns)
{
    uint32_t phase = 0;
    while (phase < pauses->count && t_ns >= pauses->items[phase].end_ns) {
        phase++;
    }
    return phase;
}

#endif
