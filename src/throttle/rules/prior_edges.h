/* SPDX-License-Identifier: Apache-2.0 */
/* What the first run of a throttled program shows by itself: its observed edges, from events to
 * (node, how many-th I/O), for holding to leave that out. */
#ifndef WIO_THROTTLE_RULES_PRIOR_EDGES_H
#define WIO_THROTTLE_RULES_PRIOR_EDGES_H

#include "causal/hold/hold.h"
#include "throttle/control/participants.h"

/* Tell the rules, which have had no run yet, of all nodes' I/Os and of the edges between them; of
 * messages and collectives, not of locks and queues, whose order may be another one next time.
 * *more_out: holding can find something. */
WIO_MUST_CHECK enum wio_status wio_known_tell(const char *dir, const struct wio_roster *roster,
                                              struct wio_hold *hold, bool *more_out,
                                              struct wio_error *err);

#endif
