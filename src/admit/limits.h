/* SPDX-License-Identifier: Apache-2.0 */
/* Limits that policies have in common. Each gives WIO_ADMIT_REASON_NONE where the arrival is within
 * it. */
#ifndef WIO_ADMIT_LIMITS_H
#define WIO_ADMIT_LIMITS_H

#include "admit/shard.h"

/* The queue of all shards. */
static inline enum wio_admit_reason wio_limit_total(const struct wio_admit *shard)
{
    return wio_total_queued(shard->total) >= shard->settings->queue_total
               ? WIO_ADMIT_REASON_QUEUE_TOTAL
               : WIO_ADMIT_REASON_NONE;
}

/* No shard fills more than half of that queue; with one shard, no tenant does. */
static inline enum wio_admit_reason wio_limit_half(const struct wio_admit *shard,
                                                   const struct wio_arrival *arrival)
{
    uint32_t filled = shard->settings->shards > 1
                          ? shard->queued
                          : wio_tenants_at(&shard->tenants, arrival->tenant)->queued;
    return filled >= shard->settings->queue_total / 2 ? WIO_ADMIT_REASON_QUEUE_HALF
                                                      : WIO_ADMIT_REASON_NONE;
}

/* By the measured speed and what is queued before it, it would be done within its own time. */
static inline enum wio_admit_reason wio_limit_time(const struct wio_arrival *arrival,
                                                   uint64_t wait_ns)
{
    return wait_ns + arrival->cost_ns > arrival->remaining_ns ? WIO_ADMIT_REASON_TIMEOUT
                                                              : WIO_ADMIT_REASON_NONE;
}

/* Dynamic threshold of a tenant: no more than what is free of `room_ns` of waiting. A tenant with
 * nothing in the queue is within it while anything is free. */
static inline enum wio_admit_reason
wio_limit_tenant(const struct wio_admit *shard, const struct wio_arrival *arrival, uint64_t room_ns)
{
    const struct wio_tenant *tenant = wio_tenants_at(&shard->tenants, arrival->tenant);
    uint64_t own_ns = wio_speed_wait_ns(&shard->speed, tenant->queued_cost_ns);
    bool is_free = arrival->wait_ns < room_ns;
    return is_free && own_ns <= room_ns - arrival->wait_ns ? WIO_ADMIT_REASON_NONE
                                                           : WIO_ADMIT_REASON_TENANT;
}

/* A hint by the number of those that wait and the measured speed. */
uint64_t wio_hint_of_queue(const struct wio_admit *shard, const struct wio_arrival *arrival,
                           enum wio_admit_reason reason);

#endif
