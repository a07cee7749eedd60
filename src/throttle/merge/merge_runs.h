/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Throttled runs of one program become one trace. Each thread's events are those of the run in
 * which it was throttled, where it was the slowest and never waited, so that all its time between
 * two I/Os is computing; of the first run where it was not. The edges are those of all runs.
 *
 *     whyio merge -o DIR RUN...        record --causal=throttle --method=trace
 *
 * Time is made anew: each thread computes and works as long as it did, less the time it was held,
 * and begins an I/O no earlier than those have ended that it waits for. Ids of processes and tokens
 * of threads are those of the first run.
 */
#ifndef WIO_THROTTLE_MERGE_MERGE_RUNS_H
#define WIO_THROTTLE_MERGE_MERGE_RUNS_H

#include <whyio/status.h>

#include "throttle/rules/differ.h"

struct wio_merge_params {
    size_t struct_size;
    const char *dir;         /* to be made; refused where it exists */
    const char *const *runs; /* directories of traces */
    uint32_t count;          /* at least 1 */
    /* Leave recorded synchronisation out: all time between two I/Os is computing (//TRACE's
     * Approach 1, right where each of them was held). Else what waited then, waits (Approach 2). */
    bool without_sync;
    void (*progress)(void *arg, uint64_t done, uint64_t total, const char *unit);
    void *progress_arg;
};

struct wio_merge_result {
    /* False: `difference` tells where two runs part. DIR was not made, unless a lock or queue
     * decided (difference.turns): then it is the first run, with what was observed in it. */
    bool is_same;
    struct wio_difference difference;
    uint64_t events;
    uint64_t edges;   /* in the merged trace */
    uint64_t dropped; /* pairs of SIGNAL and WAIT that were redundant, as //TRACE sees it */
    bool has_cleaned; /* DIR.merging, left by a merge that was killed, was removed */
};

/*
 * WIO_ERR_FORMAT for traces that cannot be runs of one program - another command, another version
 * of whyio, other numbers of ranks, processes or threads, a thread that is not in all - and for
 * those that are no evidence: not throttled, or with dropped events. The message names what
 * differs. WIO_ERR_USAGE where DIR exists. DIR is made
 * as a whole or not at all, also where the process is killed: throttle/merge/merge_place.h.
 */
WIO_MUST_CHECK enum wio_status wio_merge(const struct wio_merge_params *params,
                                         struct wio_merge_result *result_out,
                                         struct wio_error *err);

#endif
