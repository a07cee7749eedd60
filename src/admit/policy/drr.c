/* SPDX-License-Identifier: Apache-2.0 */
/* drr: fair queues and deadlines. A tenant's share of the queue is dynamic; what expires is not
 * run. */
#include "admit/fair.h"
#include "admit/limits.h"

static enum wio_status open_drr(struct wio_admit *shard)
{
    struct wio_fair *fair = wio_alloc_array(&shard->alloc, 1, sizeof(*fair));
    if (fair == NULL) {
        return WIO_ERR_NOMEM;
    }
    wio_fair_init(fair, shard->settings->quantum_ns);
    shard->state = fair;
    return WIO_OK;
}

static void close_drr(struct wio_admit *shard)
{
    shard->alloc.put(shard->alloc.context, shard->state);
}

/* What would wait longer than half of the time that requests have does not enter: the rest is for
 * tenants that have less in the queue. */
static enum wio_admit_reason judge(const struct wio_admit *shard, const struct wio_arrival *arrival)
{
    enum wio_admit_reason reason = wio_limit_total(shard);
    if (reason == WIO_ADMIT_REASON_NONE) {
        reason = wio_limit_half(shard, arrival);
    }
    if (reason == WIO_ADMIT_REASON_NONE) {
        reason = wio_limit_tenant(shard, arrival, arrival->remaining_ns / 2);
    }
    return reason != WIO_ADMIT_REASON_NONE ? reason : wio_limit_time(arrival, arrival->wait_ns);
}

static enum wio_status push(struct wio_admit *shard, uint32_t entry)
{
    wio_fair_push(shard->state, &shard->tenants, &shard->entries, entry);
    return WIO_OK;
}

static uint32_t pop(struct wio_admit *shard, uint64_t now_ns, bool is_forced)
{
    (void)now_ns;
    (void)is_forced;
    return wio_fair_pop(shard->state, &shard->tenants, &shard->entries);
}

static void charge(struct wio_admit *shard, struct wio_tenant *tenant, int64_t estimated_ns,
                   int64_t took_ns)
{
    wio_fair_charge(shard->state, tenant, took_ns - estimated_ns);
}

const struct wio_admit_policy wio_policy_drr = {
    .drops_expired = true,
    .open = open_drr,
    .close = close_drr,
    .judge = judge,
    .push = push,
    .pop = pop,
    .hint_ns = wio_hint_of_queue,
    .charge = charge,
};
