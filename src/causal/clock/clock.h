/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks of several hosts: how each is to be corrected so that no message is received before it was
 * sent.
 *
 * A message from host a to host b says: corrected begin of the send <= corrected end of the
 * receive. Between two hosts, with d(t) the correction of b less that of a, each message one way
 * bounds d from below, each the other way from above:
 *
 *     d |        o    o                  o  bounds from messages b -> a
 *       |  o           __________-------
 *       |   ___--------                     any line between them does: offset and drift
 *       |---    x    x
 *       |   x             x    x            x  bounds from messages a -> b
 *       +------------------------------ t
 *
 * Of each set only the convex hull that faces the other one counts. The line taken is the one in
 * the middle of the widest parallel gap between the hulls, which is what offset and drift are most
 * surely; half the gap is the uncertainty. Where there are only few messages, or they are close
 * together, drift is taken to be 0 if that fits.
 *
 * Hosts are joined to host 0 along the pairs with the smallest uncertainty (a spanning tree). What
 * the tree says of the other pairs is checked, and told if it does not fit (clocks that were
 * stepped, or that do not run straight).
 *
 * Pure. Times are ns since the start of the trace, as they were recorded.
 */
#ifndef WIO_CAUSAL_CLOCK_CLOCK_H
#define WIO_CAUSAL_CLOCK_CLOCK_H

#include "base/memory.h"

struct wio_clock_sync;

/* One message: at `sent_ns` by the clock of `from` its sending began, at `received_ns` by that of
 * `to` its receiving ended. */
struct wio_clock_message {
    uint64_t sent_ns;
    uint64_t received_ns;
    uint32_t from;
    uint32_t to;
};

/* corrected(t) = t + offset + t * rate. */
struct wio_clock_correction {
    double offset_ns;
    double rate;
    double uncertainty_ns; /* against host 0; 0 for host 0 itself */
    bool is_known;         /* messages both ways tie it to host 0 */
    bool is_consistent;    /* no message contradicts it */
};

WIO_MUST_CHECK enum wio_status wio_clock_sync_create(const struct wio_alloc *alloc, uint32_t hosts,
                                                     struct wio_clock_sync **sync_out);
/* Accepts NULL. */
void wio_clock_sync_destroy(struct wio_clock_sync *sync);
/* Messages in any order; memory: the hulls of each pair of hosts that exchange any. */
WIO_MUST_CHECK enum wio_status wio_clock_sync_add(struct wio_clock_sync *sync,
                                                  const struct wio_clock_message *message);
/* `corrections` has an entry per host. */
WIO_MUST_CHECK enum wio_status wio_clock_sync_solve(struct wio_clock_sync *sync,
                                                    struct wio_clock_correction *corrections);

#endif
