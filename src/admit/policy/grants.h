/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credits: how many requests may be in the shard or on their way to it, and which clients may send
 * them.
 *
 * The total grows by `increase` x active clients per step while the predicted wait is below the
 * target and half of the total is in use, and shrinks by `decrease` x relative excess above it
 * (Breakwater, section 4.1). One step adds at most a quarter: with very many clients and few
 * credits the sum would overshoot. A client tells its demand in each request. With credits to
 * spare, its window is opened ahead of its demand. Else clients with unmet demand wait in line, by
 * tenant (deficit round robin in measured cost) and within a tenant in order; a turn is some
 * requests, in which each reply carries the next credit, so that only the first of a turn needs a
 * message of its own. A request without a credit is as welcome as its tenant has had less than its
 * share. A credit that is not used for a while goes back.
 */
#ifndef WIO_ADMIT_POLICY_GRANTS_H
#define WIO_ADMIT_POLICY_GRANTS_H

#include "admit/fair.h"
#include "admit/shard.h"

struct wio_grants {
    struct wio_fair fair; /* first: the queue itself is that of drr */
    double total;
    uint32_t outstanding; /* credits that clients have and have not used */
    uint32_t active;      /* clients with requests, credits or demand */
    uint32_t waiters;     /* clients in line */
    uint64_t stepped_ns;
    uint64_t target_ns;
    double share_ns;       /* that a tenant of weight 1 would have had since the start */
    uint32_t tenants;      /* that have clients in line */
    uint32_t first_tenant; /* of these */
    uint32_t last_tenant;
    uint32_t first_lease; /* clients by the time of their last credit */
    uint32_t last_lease;
};

void wio_grants_init(struct wio_grants *grants, const struct wio_admit_settings *settings);
/* Credits and lines are forgotten: the policy changes. */
void wio_grants_forget(struct wio_admit *shard);
/* Control of the total, and credits that were not used. */
void wio_grants_step(struct wio_admit *shard, uint64_t now_ns);
void wio_grants_arrived(struct wio_admit *shard, const struct wio_arrival *arrival,
                        enum wio_admit_reason reason, struct wio_admit_reply *reply);
void wio_grants_done(struct wio_admit *shard, uint32_t number, uint64_t now_ns,
                     struct wio_admit_reply *reply);
bool wio_grants_next(struct wio_admit *shard, uint64_t now_ns, struct wio_admit_grant *grant_out);
void wio_grants_left(struct wio_admit *shard, uint32_t number);
uint64_t wio_grants_wake_ns(const struct wio_admit *shard);
/* A request of the tenant has taken `took_ns`. */
void wio_grants_charge(struct wio_admit *shard, struct wio_tenant *tenant, int64_t took_ns);
/* What the tenant may take now, before others have had as much; negative: it has had more. */
int64_t wio_grants_deficit_ns(const struct wio_admit *shard, const struct wio_tenant *tenant);
uint32_t wio_grants_committed(const struct wio_admit *shard);

#endif
