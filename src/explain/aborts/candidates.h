/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes that are tried on the recorded transactions (explain/whatif/whatif.h), each for one of
 * the two cures or as another policy of the lock manager: what would have been aborted, and what
 * would have waited.
 */
#ifndef WIO_EXPLAIN_ABORTS_CANDIDATES_H
#define WIO_EXPLAIN_ABORTS_CANDIDATES_H

#include "explain/aborts/aborts.h"
#include "explain/whatif/whatif.h"

/* In this order; WIO_CANDIDATE_AS_IT_WAS is what the others compare with. */
enum wio_candidate_id {
    WIO_CANDIDATE_AS_IT_WAS,
    WIO_CANDIDATE_TOUCHED,
    WIO_CANDIDATE_APART,
    WIO_CANDIDATE_THINK_BEHIND,
    WIO_CANDIDATE_SORTED,
    WIO_CANDIDATE_UNIT_4K,
    WIO_CANDIDATE_UNIT_1M,
    WIO_CANDIDATE_SPREAD,
    WIO_CANDIDATE_STORAGE_FREE,
    WIO_CANDIDATE_TIMEOUT,
    WIO_CANDIDATE_NO_WAIT,
    WIO_CANDIDATE_WAIT_DIE,
    WIO_CANDIDATES_MAX
};

struct wio_candidate {
    const char *name; /* "locks of touched bytes alone"; static */
    const char *cure; /* "granularity", "layout", "order", "storage", "policy", "-"; static */
    struct wio_whatif_change change;
    struct wio_whatif_result result;
};

struct wio_candidates {
    struct wio_candidate rows[WIO_CANDIDATES_MAX];
    uint32_t count; /* 0: nothing to run again */
};

WIO_MUST_CHECK enum wio_status wio_candidates_run(const struct wio_aborts *aborts,
                                                  struct wio_candidates *candidates_out);

#endif
