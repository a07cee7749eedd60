/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the trace of a run without holds tells of each node: its I/Os by which it can be held, the
 * gaps between them, and how much of its time no recorded wait explains.
 *
 * A computing thread and one that spins on shared memory cannot be told apart. So all time between
 * recorded calls counts as unexplained, and all sleep, where another node could be waited for.
 */
#ifndef WIO_THROTTLE_RULES_PROFILE_H
#define WIO_THROTTLE_RULES_PROFILE_H

#include <whyio/trace.h>

#include "throttle/control/participants.h"

struct wio_profile_node {
    uint32_t count; /* of its I/Os that count for holding */
    uint32_t room;
    uint64_t *gaps_ns;        /* count + 1: before each of them and after the last, from begin to
                                 begin, the thread's begin and end included */
    uint64_t longest_ns;      /* of these */
    uint64_t longest_call_ns; /* of other calls, those that start and end libraries left out */
    uint64_t unexplained_ns;  /* in gaps between recorded calls that are long enough to matter */
    uint64_t life_ns;
};

/* Zero-initialise. */
struct wio_profile {
    struct wio_profile_node *nodes; /* of the roster */
    uint32_t count;
    uint64_t duration_ns; /* from the first I/O's begin to the last one's end */
    uint64_t dropped;
};

/* WIO_ERR_FORMAT where the trace does not hold the I/Os that the roster counts. */
WIO_MUST_CHECK enum wio_status wio_profile_read(const struct wio_trace *trace,
                                                const struct wio_roster *roster,
                                                struct wio_profile *profile_out,
                                                struct wio_error *err);
void wio_profile_fini(struct wio_profile *profile);

/* The node's gap from its `asked`-th I/O (from 1; 0: its begin) to the next one. */
uint64_t wio_profile_gap(const struct wio_profile *profile, uint32_t node, uint32_t asked);

/* The longest of all such gaps between two I/Os; before the first and behind the last, where
 * libraries start and end, that gap itself. Linear in the node's I/Os. */
uint64_t wio_profile_phase(const struct wio_profile *profile, uint32_t node, uint32_t asked);

/* Is there anything that holding could find out? */
bool wio_profile_is_open(const struct wio_profile *profile);

/* Which node of the roster each stream of the trace belongs to; WIO_NO_PARTICIPANT for others. The
 * caller frees it. NULL: out of memory. */
uint32_t *wio_profile_nodes_of_streams(const struct wio_trace *trace,
                                       const struct wio_roster *roster);

#endif
