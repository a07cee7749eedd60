/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of grants.h: clients that wait for credits, by tenant, and clients that hold some. */
#ifndef WIO_ADMIT_POLICY_LINES_H
#define WIO_ADMIT_POLICY_LINES_H

#include "admit/policy/grants.h"

/* The client goes to the end of its tenant's line, where it is not in it. */
void wio_line_join(struct wio_admit *shard, uint32_t client);
/* The client whose turn it is, out of the line; WIO_NO_INDEX where none waits. */
uint32_t wio_line_take(struct wio_admit *shard);

/* Credits for a client: counted, and its lease begins. */
void wio_lease_give(struct wio_admit *shard, uint32_t client, uint32_t credits, uint64_t now_ns);
/* One is used. */
void wio_lease_spend(struct wio_admit *shard, uint32_t client);
/* All go back. */
void wio_lease_revoke(struct wio_admit *shard, uint32_t client);
/* Those that were not used for `lease_ns`. */
void wio_lease_expire(struct wio_admit *shard, uint64_t now_ns, uint64_t lease_ns);
/* Count the client as active, or not. To be called after each change of it. */
void wio_lease_note(struct wio_admit *shard, uint32_t client);

#endif
