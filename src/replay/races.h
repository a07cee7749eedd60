/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why an operation of a replay may have found another file than in the trace: another thread
 * changes it at about the same time, and the two have changed places.
 *
 * A mismatch is a race where nothing in the trace says which of the two comes first: they overlap
 * in the trace, or they came in the other order in a replay that keeps all waits of the trace (mode
 * causal). What such a mismatch leaves, a file that is there or not, another length, is found by
 * later operations: their mismatches are races too.
 */
#ifndef WIO_REPLAY_RACES_H
#define WIO_REPLAY_RACES_H

#include <stdbool.h>

#include <whyio/status.h>
#include <whyio/trace.h>

#include "replay/replay.h"

/* Where each stream of the trace was when a mismatch was found: row `i` is that of mismatch `i`,
 * one time of the trace for each stream (rp_progress.at_ns). */
struct rp_places {
    const uint64_t *at_ns;
    const bool *is_absent; /* of each stream: no thread plays it, it came nowhere; NULL = none */
    uint32_t rows;         /* 0 = not known */
    uint32_t streams;
};

/*
 * Set `race` of each of the `count` mismatches: the change of its file by another thread that is
 * the nearest to it in the trace, if there is one; and is_race. Where a name was there or was not,
 * changes of names count, of the entries of a directory those, of a permission modes, else sizes.
 * The mismatches are in the order in which they were found. Reads what the trace has of these
 * files. `places`: NULL where the waits of the trace were not kept.
 */
WIO_MUST_CHECK enum wio_status rp_races_find(const struct wio_trace *trace,
                                             struct wio_replay_mismatch *mismatches, uint32_t count,
                                             const struct rp_places *places, struct wio_error *err);

#endif
