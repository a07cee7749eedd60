/* SPDX-License-Identifier: Apache-2.0 */
/* hint: the scheme of the source document. A request that was refused keeps its first id, and the
 * smallest id runs first, so that none is retried for ever. */
#include "admit/limits.h"
#include "admit/policy/ids.h"

static enum wio_status push(struct wio_admit *shard, uint32_t entry)
{
    return wio_ids_push(shard, entry, 0);
}

const struct wio_admit_policy wio_policy_hint = {
    .open = wio_ids_open,
    .close = wio_ids_close,
    .judge = wio_ids_judge,
    .push = push,
    .pop = wio_ids_pop,
    .hint_ns = wio_hint_of_queue,
};
