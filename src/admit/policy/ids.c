/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/policy/ids.h"

#include "admit/limits.h"
#include "base/cleanup.h"

enum wio_status wio_ids_open(struct wio_admit *shard)
{
    struct wio_admit_ids *ids = wio_alloc_array(&shard->alloc, 1, sizeof(*ids));
    if (ids == NULL) {
        return WIO_ERR_NOMEM;
    }
    enum wio_status status =
        wio_admit_heap_init(&ids->order, &shard->alloc, shard->settings->queue_total);
    if (status != WIO_OK) {
        shard->alloc.put(shard->alloc.context, ids);
        return status;
    }
    wio_pair_map_init(&ids->pools, &shard->alloc);
    shard->state = ids;
    return WIO_OK;
}

void wio_ids_close(struct wio_admit *shard)
{
    struct wio_admit_ids *ids = shard->state;
    wio_pair_map_fini(&ids->pools);
    wio_admit_heap_fini(&ids->order);
    shard->alloc.put(shard->alloc.context, ids);
}

static uint32_t waiting_of(const struct wio_admit_ids *ids, const uint64_t pool[2])
{
    uint32_t waiting = wio_pair_map_get(&ids->pools, pool[0], pool[1]);
    return waiting != WIO_NO_INDEX ? waiting : 0;
}

enum wio_admit_reason wio_ids_judge(const struct wio_admit *shard,
                                    const struct wio_arrival *arrival)
{
    const struct wio_admit_ids *ids = shard->state;
    enum wio_admit_reason reason = wio_limit_total(shard);
    if (reason == WIO_ADMIT_REASON_NONE &&
        waiting_of(ids, arrival->request->pool) >= shard->settings->queue_pool) {
        reason = WIO_ADMIT_REASON_QUEUE_POOL;
    }
    if (reason == WIO_ADMIT_REASON_NONE) {
        reason = wio_limit_half(shard, arrival);
    }
    return reason != WIO_ADMIT_REASON_NONE ? reason : wio_limit_time(arrival, arrival->wait_ns);
}

enum wio_status wio_ids_push(struct wio_admit *shard, uint32_t entry, uint64_t major)
{
    struct wio_admit_ids *ids = shard->state;
    const struct wio_admit_entry *item = wio_entries_at(&shard->entries, entry);
    if (ids->order.count == ids->order.room) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(wio_pair_map_put(&ids->pools, item->pool[0], item->pool[1],
                             waiting_of(ids, item->pool) + 1));
    wio_admit_heap_add(&ids->order, major, item->id, entry);
    return WIO_OK;
}

static void leave_pool(struct wio_admit_ids *ids, const uint64_t pool[2])
{
    uint32_t waiting = waiting_of(ids, pool);
    if (waiting <= 1) {
        wio_pair_map_remove(&ids->pools, pool[0], pool[1]);
        return;
    }
    /* Overwrites what is there: takes no memory. */
    enum wio_status status = wio_pair_map_put(&ids->pools, pool[0], pool[1], waiting - 1);
    WIO_PRE(status == WIO_OK);
    (void)status;
}

uint32_t wio_ids_pop(struct wio_admit *shard, uint64_t now_ns, bool is_forced)
{
    (void)now_ns;
    (void)is_forced;
    struct wio_admit_ids *ids = shard->state;
    uint32_t entry = wio_admit_heap_take(&ids->order);
    if (entry != WIO_NO_INDEX) {
        leave_pool(ids, wio_entries_at(&shard->entries, entry)->pool);
    }
    return entry;
}
