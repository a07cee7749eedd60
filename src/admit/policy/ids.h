/* SPDX-License-Identifier: Apache-2.0 */
/* What hint and hint-heap have in common: waiting requests in an order, counted by pool, and the
 * limits of the source document. */
#ifndef WIO_ADMIT_POLICY_IDS_H
#define WIO_ADMIT_POLICY_IDS_H

#include "admit/heap.h"
#include "admit/shard.h"
#include "base/pair_map.h"

struct wio_admit_ids {
    struct wio_admit_heap order;
    struct wio_pair_map pools; /* pool -> its requests that wait */
};

enum wio_status wio_ids_open(struct wio_admit *shard);
void wio_ids_close(struct wio_admit *shard);
/* Queues of all, of the pool and of half; then whether it would be done in its own time. */
enum wio_admit_reason wio_ids_judge(const struct wio_admit *shard,
                                    const struct wio_arrival *arrival);
/* The entry waits; the smallest (major, its id) comes first. */
enum wio_status wio_ids_push(struct wio_admit *shard, uint32_t entry, uint64_t major);
uint32_t wio_ids_pop(struct wio_admit *shard, uint64_t now_ns, bool is_forced);

#endif
