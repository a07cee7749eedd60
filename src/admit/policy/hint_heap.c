/* SPDX-License-Identifier: Apache-2.0 */
/* hint-heap: the alternative of the source document. Each retry adds a weight to the priority of a
 * request, which is 0 at first; the highest priority runs first, and of equal ones the smallest
 * id. */
#include "admit/limits.h"
#include "admit/policy/ids.h"

static enum wio_status push(struct wio_admit *shard, uint32_t entry)
{
    uint64_t retries = wio_entries_at(&shard->entries, entry)->retries;
    return wio_ids_push(shard, entry, UINT64_MAX - retries * shard->settings->retry_weight);
}

const struct wio_admit_policy wio_policy_hint_heap = {
    .open = wio_ids_open,
    .close = wio_ids_close,
    .judge = wio_ids_judge,
    .push = push,
    .pop = wio_ids_pop,
    .hint_ns = wio_hint_of_queue,
};
