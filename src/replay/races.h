/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why an operation of a replay may have found another file than in the trace: another thread
 * changes it at about the same time, and the two have changed places.
 */
#ifndef WIO_REPLAY_RACES_H
#define WIO_REPLAY_RACES_H

#include <whyio/status.h>
#include <whyio/trace.h>

#include "replay/replay.h"

/*
 * Set `race` of each of the `count` mismatches: the change of its file by another thread that is
 * the nearest to it in the trace, if there is one. Where a name was there or was not, changes of
 * names count, else those of size. Reads what the trace has of these files.
 */
WIO_MUST_CHECK enum wio_status rp_races_find(const struct wio_trace *trace,
                                             struct wio_replay_mismatch *mismatches, uint32_t count,
                                             struct wio_error *err);

#endif
