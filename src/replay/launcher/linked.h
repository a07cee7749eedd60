/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of a replay under a launcher that all its ranks take together. */
#ifndef WIO_REPLAY_LAUNCHER_LINKED_H
#define WIO_REPLAY_LAUNCHER_LINKED_H

#include "replay/launcher/link.h"
#include "replay/session.h"

/* Add what the other ranks have on their boards to that of rank 0. */
WIO_MUST_CHECK enum wio_status rp_linked_gather(struct rp_stage *stage, struct wio_error *err);

#endif
