/* SPDX-License-Identifier: Apache-2.0 */
/* credit: windows for the clients (grants.h), fair queues and deadlines. */
#include "admit/limits.h"
#include "admit/policy/grants.h"

#define ROOM_TARGETS 4    /* of waiting, at most */
#define GRACE_QUANTA 4    /* that a tenant may owe and still send without a credit */
#define UNASKED_TARGETS 2 /* for tenants that have something queued, while clients wait in line */

static enum wio_status open_credit(struct wio_admit *shard)
{
    struct wio_grants *grants = wio_alloc_array(&shard->alloc, 1, sizeof(*grants));
    if (grants == NULL) {
        return WIO_ERR_NOMEM;
    }
    wio_grants_init(grants, shard->settings);
    shard->state = grants;
    return WIO_OK;
}

static void close_credit(struct wio_admit *shard)
{
    wio_grants_forget(shard);
    shard->alloc.put(shard->alloc.context, shard->state);
}

/* More in flight than it was told, while others wait. */
static bool is_beyond_window(const struct wio_grants *grants, const struct wio_arrival *arrival)
{
    const struct wio_admit_client *client = arrival->client;
    bool is_loaded = grants->waiters > 0 || arrival->wait_ns > grants->target_ns;
    return client != NULL && client->in_shard > 0 && client->in_shard >= client->window &&
           is_loaded;
}

/* More than its share, while others wait. */
static bool has_had_more(const struct wio_admit *shard, const struct wio_tenant *tenant)
{
    const struct wio_grants *grants = shard->state;
    return grants->waiters > 0 && wio_grants_deficit_ns(shard, tenant) <
                                      -GRACE_QUANTA * wio_fair_quantum_ns(&grants->fair);
}

/* A credit was a promise; what comes without one finds room as its tenant has little queued. */
static enum wio_admit_reason judge_load(const struct wio_admit *shard,
                                        const struct wio_arrival *arrival)
{
    const struct wio_grants *grants = shard->state;
    const struct wio_tenant *tenant = wio_tenants_at(&shard->tenants, arrival->tenant);
    bool has_credit = arrival->client != NULL && arrival->client->credit > 0;
    uint64_t room_ns = ROOM_TARGETS * grants->target_ns;
    if (!has_credit && (is_beyond_window(grants, arrival) || has_had_more(shard, tenant))) {
        return WIO_ADMIT_REASON_CREDIT;
    }
    if (has_credit || tenant->queued == 0) {
        return arrival->wait_ns < room_ns ? WIO_ADMIT_REASON_NONE : WIO_ADMIT_REASON_TENANT;
    }
    return wio_limit_tenant(shard, arrival,
                            grants->waiters > 0 ? UNASKED_TARGETS * grants->target_ns : room_ns);
}

static enum wio_admit_reason judge(const struct wio_admit *shard, const struct wio_arrival *arrival)
{
    enum wio_admit_reason reason = wio_limit_total(shard);
    if (reason == WIO_ADMIT_REASON_NONE) {
        reason = wio_limit_half(shard, arrival);
    }
    if (reason == WIO_ADMIT_REASON_NONE) {
        reason = wio_limit_time(arrival, arrival->wait_ns);
    }
    return reason != WIO_ADMIT_REASON_NONE ? reason : judge_load(shard, arrival);
}

static enum wio_status push(struct wio_admit *shard, uint32_t entry)
{
    struct wio_grants *grants = shard->state;
    wio_fair_push(&grants->fair, &shard->tenants, &shard->entries, entry);
    return WIO_OK;
}

static uint32_t pop(struct wio_admit *shard, uint64_t now_ns, bool is_forced)
{
    (void)now_ns;
    (void)is_forced;
    struct wio_grants *grants = shard->state;
    return wio_fair_pop(&grants->fair, &shard->tenants, &shard->entries);
}

/* A client with credits comes when it is told; the hint is for the case that this is lost. */
static uint64_t hint_ns(const struct wio_admit *shard, const struct wio_arrival *arrival,
                        enum wio_admit_reason reason)
{
    (void)reason;
    const struct wio_grants *grants = shard->state;
    double line_ns = (double)shard->speed.mean.cost_ns * (grants->waiters + 1.0);
    return arrival->wait_ns + 2 * wio_speed_wait_ns(&shard->speed, (uint64_t)line_ns);
}

static void charge(struct wio_admit *shard, struct wio_tenant *tenant, int64_t estimated_ns,
                   int64_t took_ns)
{
    const struct wio_grants *grants = shard->state;
    wio_fair_charge(&grants->fair, tenant, took_ns - estimated_ns);
    wio_grants_charge(shard, tenant, took_ns);
}

static void gauges(const struct wio_admit *shard, struct wio_admit_gauges *gauges)
{
    const struct wio_grants *grants = shard->state;
    gauges->target_ns = grants->target_ns;
    gauges->credits = grants->total;
    gauges->committed = wio_grants_committed(shard);
}

const struct wio_admit_policy wio_policy_credit = {
    .drops_expired = true,
    .open = open_credit,
    .close = close_credit,
    .judge = judge,
    .push = push,
    .pop = pop,
    .hint_ns = hint_ns,
    .wake_ns = wio_grants_wake_ns,
    .arrived = wio_grants_arrived,
    .done = wio_grants_done,
    .grant = wio_grants_next,
    .gauges = gauges,
    .charge = charge,
    .left = wio_grants_left,
};
