/* SPDX-License-Identifier: Apache-2.0 */
/* fifo: in order of arrival; refused only where the queue is full. */
#include "admit/limits.h"
#include "admit/shard.h"
#include "base/memory.h"

static enum wio_status open_fifo(struct wio_admit *shard)
{
    struct wio_entry_list *queue = wio_alloc_array(&shard->alloc, 1, sizeof(*queue));
    if (queue == NULL) {
        return WIO_ERR_NOMEM;
    }
    *queue = WIO_ENTRY_LIST;
    shard->state = queue;
    return WIO_OK;
}

static void close_fifo(struct wio_admit *shard)
{
    shard->alloc.put(shard->alloc.context, shard->state);
}

static enum wio_admit_reason judge(const struct wio_admit *shard, const struct wio_arrival *arrival)
{
    (void)arrival;
    return wio_limit_total(shard);
}

static enum wio_status push(struct wio_admit *shard, uint32_t entry)
{
    wio_entry_append(&shard->entries, shard->state, entry);
    return WIO_OK;
}

static uint32_t pop(struct wio_admit *shard, uint64_t now_ns, bool is_forced)
{
    (void)now_ns;
    (void)is_forced;
    return wio_entry_shift(&shard->entries, shard->state);
}

const struct wio_admit_policy wio_policy_fifo = {
    .open = open_fifo,
    .close = close_fifo,
    .judge = judge,
    .push = push,
    .pop = pop,
    .hint_ns = wio_hint_of_queue,
};
