/* SPDX-License-Identifier: Apache-2.0 */
/* What a replay would do, counted without doing it. */
#ifndef WIO_REPLAY_DRY_H
#define WIO_REPLAY_DRY_H

#include "replay/initial/plan.h"
#include "replay/replay.h"
#include "replay/stats.h"

/* Operations, bytes and what is skipped, from the trace alone. Whether a descriptor will be there
 * is only known when a replay runs: its counts may differ in "unknown_file". */
WIO_MUST_CHECK enum wio_status rp_dry_count(const struct rp_plan *plan, struct rp_tally *tally_out,
                                            struct wio_error *err);

#endif
