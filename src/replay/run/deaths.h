/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of the processes of a replay, in the process that forked them. */
#ifndef WIO_REPLAY_RUN_DEATHS_H
#define WIO_REPLAY_RUN_DEATHS_H

#include "replay/run/worker.h"

/* Reap the children that have ended; one that did not end well fails the replay. False when no
 * child is left. Does not wait. */
bool rp_reap(const struct rp_run *run);

#endif
