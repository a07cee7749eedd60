/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of other machines (struct rp_far of sync_table.h). */
#ifndef WIO_REPLAY_LAUNCHER_REMOTE_H
#define WIO_REPLAY_LAUNCHER_REMOTE_H

#include "replay/initial/plan.h"
#include "replay/wait/sync_table.h"

/* `homes`: rank that plays each group. Zero-initialise; release with rp_far_fini. Only where there
 * are several machines. */
WIO_MUST_CHECK enum wio_status rp_far_init(struct rp_far *far, const struct rp_plan *plan,
                                           const struct wio_replay_link *link,
                                           const uint32_t *homes, struct wio_error *err);
void rp_far_fini(struct rp_far *far);

/* Send a message to the machine that plays `stream`; false if it is this one. */
bool rp_far_mail(const struct rp_gate *gate, uint32_t stream, const struct wio_replay_mail *mail,
                 uint64_t v_ns);
/* Tell all machines with takers of a collective that the givers of this one have come. */
void rp_far_announce(const struct rp_gate *gate, uint32_t meeting, uint32_t count, uint64_t v_ns);

#endif
