/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes that are tried on the recorded transactions (whatif.h), each for one of the two cures or
 * as another policy of the lock manager: what would have been aborted, and what would have waited.
 */
#ifndef WIO_EXPLAIN_ABORTS_CANDIDATES_H
#define WIO_EXPLAIN_ABORTS_CANDIDATES_H

#include "explain/aborts/aborts.h"
#include "explain/aborts/whatif.h"

#define WIO_CANDIDATES_MAX 12u

struct wio_candidate {
    const char *name; /* "locks of touched bytes alone"; static */
    const char *cure; /* "granularity", "layout", "order", "policy", "-"; static */
    struct wio_whatif_change change;
    struct wio_whatif_result result;
};

/* The first is the run as it was, by the same simulation: what the others compare with. */
struct wio_candidates {
    struct wio_candidate rows[WIO_CANDIDATES_MAX];
    uint32_t count; /* 0: nothing to run again */
};

WIO_MUST_CHECK enum wio_status wio_candidates_run(const struct wio_aborts *aborts,
                                                  struct wio_candidates *candidates_out);

#endif
