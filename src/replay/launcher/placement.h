/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rank of a replay under a launcher plays which recorded process: a process with a rank is
 * played by that one, with all that it started. The others (the launcher's, a job script's) are
 * played by rank 0. Pure.
 */
#ifndef WIO_REPLAY_LAUNCHER_PLACEMENT_H
#define WIO_REPLAY_LAUNCHER_PLACEMENT_H

#include <stdint.h>

#include <whyio/status.h>

#include "replay/initial/process_tree.h"

/* The ranks that were recorded: one more than the highest, 0 = none. */
uint32_t rp_home_ranks(const struct rp_family *family);

/* Fill `homes` (group_count entries). Groups that have another home than the one that started them
 * become roots. WIO_ERR_USAGE where the trace has another number of ranks than `ranks`. */
WIO_MUST_CHECK enum wio_status rp_home_assign(struct rp_family *family, uint32_t ranks,
                                              uint32_t *homes, struct wio_error *err);

#endif
