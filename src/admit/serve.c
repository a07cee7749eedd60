/* SPDX-License-Identifier: Apache-2.0 */
/* A worker takes a request, and brings it back done. */
#include "admit/shard.h"
#include "base/cleanup.h"

#define NS_PER_US 1000

static bool drops_expired(const struct wio_admit *shard)
{
    switch (shard->settings->expired) {
    case WIO_ADMIT_EXPIRED_RUN:
        return false;
    case WIO_ADMIT_EXPIRED_DROP:
        return true;
    case WIO_ADMIT_EXPIRED_AS_POLICY:
        break;
    }
    return shard->policy->drops_expired;
}

/* What a request holds more when it runs: its place in the queue becomes part of the context. */
static uint64_t context_more(const struct wio_admit_settings *settings)
{
    return settings->context_bytes > settings->waiting_bytes
               ? settings->context_bytes - settings->waiting_bytes
               : 0;
}

static bool may_run(const struct wio_admit *shard)
{
    const struct wio_admit_settings *settings = shard->settings;
    return shard->in_flight < settings->in_flight_max &&
           shard->memory_bytes + context_more(settings) <=
               settings->memory_bytes - settings->reserve_bytes;
}

static uint64_t since(uint64_t then_ns, uint64_t now_ns)
{
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

static void leave_queue(struct wio_admit *shard, struct wio_admit_entry *entry)
{
    struct wio_tenant *tenant = wio_tenants_at(&shard->tenants, entry->tenant);
    tenant->queued--;
    tenant->queued_cost_ns -= entry->cost_ns;
    shard->queued--;
    shard->queued_cost_ns -= entry->cost_ns;
    wio_total_leave(shard->total);
}

static void count_wait(struct wio_admit_counts *counts, uint64_t waited_ns, uint64_t predicted_ns)
{
    wio_admit_histogram_add(&counts->wait, waited_ns);
    wio_admit_histogram_add(&counts->wait_error, waited_ns > predicted_ns
                                                     ? waited_ns - predicted_ns
                                                     : predicted_ns - waited_ns);
}

static void start(struct wio_admit *shard, struct wio_admit_entry *entry, uint64_t now_ns,
                  struct wio_admit_work *work)
{
    bool is_late = now_ns >= entry->deadline_ns && drops_expired(shard) && !entry->is_must;
    entry->state = is_late ? WIO_ENTRY_EXPIRED : WIO_ENTRY_RUNNING;
    entry->started_ns = now_ns;
    wio_tenants_at(&shard->tenants, entry->tenant)->running++;
    if (entry->state == WIO_ENTRY_RUNNING && !entry->is_must) {
        shard->in_flight++;
        uint64_t more = context_more(shard->settings);
        shard->memory_bytes += more;
        entry->held_bytes += more;
    }
    work->cookie = entry->cookie;
    work->is_expired = is_late;
    work->waited_ns = since(entry->arrived_ns, now_ns);
    uint64_t predicted_ns = (uint64_t)entry->predicted_us * NS_PER_US;
    count_wait(&shard->counts, work->waited_ns, predicted_ns);
    count_wait(&shard->tenants.counts[entry->tenant], work->waited_ns, predicted_ns);
}

bool wio_admit_next(struct wio_admit *shard, uint64_t now_ns, struct wio_admit_work *work_out)
{
    uint32_t entry = wio_entry_shift(&shard->entries, &shard->must);
    if (entry != WIO_NO_INDEX) {
        shard->must_queued--;
    } else if (may_run(shard)) {
        entry = shard->policy->pop(shard, now_ns, false);
    }
    if (entry == WIO_NO_INDEX) {
        return false;
    }
    struct wio_admit_entry *item = wio_entries_at(&shard->entries, entry);
    if (!item->is_must) {
        leave_queue(shard, item);
    }
    start(shard, item, now_ns, work_out);
    work_out->handle = wio_entries_handle(&shard->entries, entry);
    return true;
}

/* What a tenant was charged by the estimate is put right. */
static void settle(struct wio_admit *shard, const struct wio_admit_entry *entry,
                   const struct wio_admit_served *served, bool is_served)
{
    struct wio_tenant *tenant = wio_tenants_at(&shard->tenants, entry->tenant);
    tenant->running--;
    uint64_t took_ns = is_served ? served->service_ns : 0;
    if (!entry->is_must && shard->policy->charge != NULL) {
        uint64_t most_ns = WIO_SPEED_COST_MAX_NS;
        shard->policy->charge(shard, tenant, entry->cost_ns,
                              (int64_t)(took_ns < most_ns ? took_ns : most_ns));
    }
}

static void learn(struct wio_admit *shard, const struct wio_admit_entry *entry,
                  const struct wio_admit_served *served)
{
    const struct wio_speed_sample sample = {
        .now_ns = served->now_ns,
        .service_ns = served->service_ns,
        .estimate_ns = entry->cost_ns,
        .operation = entry->operation,
        .size_class = entry->size_class,
        .space = served->space < WIO_ADMIT_SPACES ? served->space : WIO_ADMIT_SPACES - 1,
        .is_backlogged = shard->queued > 0,
    };
    wio_speed_learn(&shard->speed, &sample);
}

static void count_end(struct wio_admit_counts *counts, const struct wio_admit_entry *entry,
                      const struct wio_admit_served *served)
{
    if (entry->state == WIO_ENTRY_EXPIRED) {
        counts->expired++;
        return;
    }
    if (served->is_cancelled) {
        counts->cancelled++;
        return;
    }
    uint64_t ns = served->service_ns;
    counts->done++;
    counts->bytes += entry->bytes;
    wio_admit_histogram_add(&counts->service, ns);
    wio_admit_histogram_add(&counts->service_error,
                            ns > entry->cost_ns ? ns - entry->cost_ns : entry->cost_ns - ns);
}

static void release(struct wio_admit *shard, uint32_t entry)
{
    const struct wio_admit_entry *item = wio_entries_at(&shard->entries, entry);
    if (item->is_must) {
        shard->memory_must_bytes -= item->held_bytes;
    } else {
        shard->memory_bytes -= item->held_bytes;
        shard->in_flight -= item->state == WIO_ENTRY_RUNNING;
    }
    struct wio_admit_client *client = wio_clients_at(&shard->clients, item->client);
    if (client != NULL) {
        client->in_shard--;
    }
    wio_entries_give(&shard->entries, entry);
}

static void answer(struct wio_admit *shard, const struct wio_admit_entry *entry, uint64_t now_ns,
                   struct wio_admit_reply *reply)
{
    bool is_late = entry->state == WIO_ENTRY_EXPIRED;
    *reply = (struct wio_admit_reply){
        .answer = is_late ? WIO_ADMIT_TIMED_OUT : WIO_ADMIT_ACCEPTED,
        .reason = is_late ? WIO_ADMIT_REASON_EXPIRED : WIO_ADMIT_REASON_NONE,
        .queued = shard->queued,
        .wait_ns = since(entry->arrived_ns, entry->started_ns),
    };
    struct wio_admit_client *client = wio_clients_at(&shard->clients, entry->client);
    if (client == NULL) {
        return;
    }
    if (!client->has_left && shard->policy->done != NULL) {
        shard->policy->done(shard, entry->client, now_ns, reply);
    }
    wio_clients_release(&shard->clients, entry->client);
}

enum wio_status wio_admit_done(struct wio_admit *shard, uint64_t handle,
                               const struct wio_admit_served *served,
                               struct wio_admit_reply *reply_out)
{
    uint32_t entry = wio_entries_find(&shard->entries, handle);
    if (entry == WIO_NO_INDEX ||
        wio_entries_at(&shard->entries, entry)->state == WIO_ENTRY_WAITING) {
        return WIO_ERR_USAGE;
    }
    const struct wio_admit_entry item = *wio_entries_at(&shard->entries, entry);
    bool is_served = item.state == WIO_ENTRY_RUNNING && !served->is_cancelled;
    settle(shard, &item, served, is_served);
    if (is_served) {
        learn(shard, &item, served);
    }
    count_end(&shard->counts, &item, served);
    count_end(&shard->tenants.counts[item.tenant], &item, served);
    release(shard, entry);
    answer(shard, &item, served->now_ns, reply_out);
    return WIO_OK;
}

/* ---- an idle shard ---- */

static bool is_idle(const struct wio_admit *shard)
{
    return shard->queued == 0 && shard->in_flight == 0 && shard->must_queued == 0 &&
           !shard->policy->holds_back && wio_admit_wake_ns(shard) == WIO_ADMIT_NEVER;
}

static void count_passed(struct wio_admit_counts *counts, uint64_t bytes, bool is_must)
{
    counts->arrived++;
    counts->accepted++;
    counts->done++;
    counts->must += is_must;
    counts->bytes += bytes;
    wio_admit_histogram_add(&counts->wait, 0);
}

bool wio_admit_pass(struct wio_admit *shard, uint32_t client, uint64_t bytes, bool is_must)
{
    const struct wio_admit_client *item = wio_clients_at(&shard->clients, client);
    if (item == NULL || item->tenant == WIO_TENANT_SHARED || !is_idle(shard)) {
        return false;
    }
    count_passed(&shard->counts, bytes, is_must);
    count_passed(&shard->tenants.counts[item->tenant], bytes, is_must);
    return true;
}
