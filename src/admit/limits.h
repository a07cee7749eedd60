/* SPDX-License-Identifier: Apache-2.0 */
/* Limits that policies have in common. Each gives WIO_ADMIT_REASON_NONE where the arrival is within
 * it. */
#ifndef WIO_ADMIT_LIMITS_H
#define WIO_ADMIT_LIMITS_H

#include "admit/shard.h"

/* The queue of all shards. */
enum wio_admit_reason wio_limit_total(const struct wio_admit *shard);
/* No shard fills more than half of that queue; with one shard, no tenant does. */
enum wio_admit_reason wio_limit_half(const struct wio_admit *shard,
                                     const struct wio_arrival *arrival);
/* By the measured speed and what is queued before it, it would be done within its own time. */
enum wio_admit_reason wio_limit_time(const struct wio_arrival *arrival, uint64_t wait_ns);
/* Dynamic threshold of a tenant: no more than what is free of `room_ns` of waiting. A tenant with
 * nothing in the queue is within it while anything is free. */
enum wio_admit_reason wio_limit_tenant(const struct wio_admit *shard,
                                       const struct wio_arrival *arrival, uint64_t room_ns);

/* A hint by the number of those that wait and the measured speed. */
uint64_t wio_hint_of_queue(const struct wio_admit *shard, const struct wio_arrival *arrival,
                           enum wio_admit_reason reason);

#endif
