/* SPDX-License-Identifier: Apache-2.0 */
/* A request comes: is it accepted, and what is it told if not? */
#include "admit/limits.h"
#include "admit/negotiate.h"
#include "admit/shard.h"
#include "base/cleanup.h"

#define NS_PER_US 1000

static void tenant_key(const struct wio_admit *shard, const struct wio_admit_request *request,
                       uint64_t key[2])
{
    key[1] = 0;
    switch (shard->settings->tenant_by) {
    case WIO_ADMIT_BY_POOL:
        key[0] = request->pool[0];
        key[1] = request->pool[1];
        return;
    case WIO_ADMIT_BY_UID:
        key[0] = request->uid;
        return;
    case WIO_ADMIT_BY_CLIENT:
        key[0] = request->client;
        return;
    case WIO_ADMIT_BY_JOB:
    case WIO_ADMIT_BY_COUNT:
        break;
    }
    key[0] = request->job;
    key[1] = request->job == 0 ? (uint64_t)request->uid + 1 : 0;
}

/* The tenant of a client's last request is the likely one. */
static uint32_t known_tenant(const struct wio_admit *shard, const struct wio_admit_client *client,
                             const uint64_t key[2])
{
    if (client != NULL && client->tenant != WIO_TENANT_SHARED) {
        const struct wio_tenant *last = wio_tenants_at(&shard->tenants, client->tenant);
        if (last->key[0] == key[0] && last->key[1] == key[1]) {
            return client->tenant;
        }
    }
    return WIO_TENANT_SHARED;
}

static struct wio_arrival look_at(const struct wio_admit *shard,
                                  const struct wio_admit_request *request, uint64_t now_ns)
{
    struct wio_arrival arrival = {
        .request = request,
        .client = wio_clients_at(&shard->clients, request->client),
        .now_ns = now_ns,
        .remaining_ns =
            request->remaining_ns != 0 ? request->remaining_ns : shard->settings->timeout_ns,
        .wait_ns = wio_shard_wait_ns(shard),
        .operation = request->operation < WIO_ADMIT_OPS ? request->operation : WIO_ADMIT_OPS - 1,
        .size_class = wio_speed_size_class(request->bytes),
        .is_must = (request->flags & WIO_ADMIT_MUST) != 0,
    };
    arrival.cost_ns =
        wio_speed_cost_ns(&shard->speed, shard->speed.space, arrival.operation, arrival.size_class);
    if (__builtin_add_overflow(request->held_bytes, shard->settings->waiting_bytes,
                               &arrival.held_bytes)) {
        arrival.held_bytes = UINT64_MAX;
    }
    return arrival;
}

static uint64_t saturated(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* What waits leaves room for one context, so that something can always run. */
static bool has_memory(const struct wio_admit *shard, const struct wio_arrival *arrival)
{
    uint64_t limit = shard->settings->memory_bytes - shard->settings->reserve_bytes -
                     shard->settings->context_bytes;
    return saturated(shard->memory_bytes, arrival->held_bytes) <= limit;
}

/* The reserve, and what is left of the rest. The context is its own from the start. */
static uint64_t must_bytes(const struct wio_admit *shard, const struct wio_arrival *arrival)
{
    return saturated(arrival->held_bytes, shard->settings->context_bytes);
}

static bool has_memory_for_must(const struct wio_admit *shard, const struct wio_arrival *arrival)
{
    return saturated(shard->memory_must_bytes, must_bytes(shard, arrival)) <=
           shard->settings->reserve_bytes;
}

static enum wio_admit_reason judge(const struct wio_admit *shard, const struct wio_arrival *arrival)
{
    if (arrival->is_must) {
        return has_memory_for_must(shard, arrival) ? WIO_ADMIT_REASON_NONE
                                                   : WIO_ADMIT_REASON_MEMORY;
    }
    if (!has_memory(shard, arrival)) {
        return WIO_ADMIT_REASON_MEMORY;
    }
    if ((arrival->request->flags & WIO_ADMIT_HOLDS) != 0) {
        enum wio_admit_reason reason = wio_limit_total(shard);
        return reason != WIO_ADMIT_REASON_NONE ? reason : wio_limit_half(shard, arrival);
    }
    return shard->policy->judge(shard, arrival);
}

enum wio_admit_reason wio_admit_judge(const struct wio_admit *shard,
                                      const struct wio_admit_request *request, uint64_t now_ns)
{
    struct wio_arrival arrival = look_at(shard, request, now_ns);
    uint64_t key[2];
    tenant_key(shard, request, key);
    arrival.tenant = known_tenant(shard, arrival.client, key);
    if (arrival.tenant == WIO_TENANT_SHARED) {
        arrival.tenant = wio_tenants_find(&shard->tenants, key);
    }
    return judge(shard, &arrival);
}

static void find_tenant(struct wio_admit *shard, struct wio_arrival *arrival)
{
    uint64_t key[2];
    tenant_key(shard, arrival->request, key);
    arrival->tenant = known_tenant(shard, arrival->client, key);
    if (arrival->tenant == WIO_TENANT_SHARED) {
        arrival->tenant = wio_tenants_have(&shard->tenants, key);
    }
    if (arrival->client != NULL && !arrival->client->is_waiting) {
        arrival->client->tenant = arrival->tenant;
    }
}

static struct wio_ticket_owner owner_of(const struct wio_arrival *arrival)
{
    return (struct wio_ticket_owner){
        .address = arrival->client != NULL ? arrival->client->address : 0,
        .number = arrival->request->number,
    };
}

static void count_both(struct wio_admit *shard, const struct wio_arrival *arrival,
                       void (*count)(struct wio_admit_counts *, const struct wio_arrival *))
{
    count(&shard->counts, arrival);
    count(&shard->tenants.counts[arrival->tenant], arrival);
}

static void count_retry(struct wio_admit_counts *counts, const struct wio_arrival *arrival)
{
    counts->retries += arrival->has_ticket;
    counts->tickets_refused += !arrival->has_ticket;
}

/* A retry keeps its first id; all others get the next one. */
static void find_id(struct wio_admit *shard, struct wio_arrival *arrival)
{
    const struct wio_ticket *ticket = &arrival->request->ticket;
    if (ticket->sequence != 0 || ticket->mac != 0) {
        struct wio_ticket_owner owner = owner_of(arrival);
        arrival->has_ticket = wio_tickets_check(&shard->tickets, ticket, &owner);
        count_both(shard, arrival, count_retry);
    }
    if (arrival->has_ticket) {
        arrival->id = ticket->sequence;
        arrival->retries = ticket->retries;
    } else {
        arrival->id = wio_tickets_take_id(&shard->tickets);
    }
}

static void fill(const struct wio_admit *shard, const struct wio_arrival *arrival,
                 struct wio_admit_entry *entry)
{
    const struct wio_admit_request *request = arrival->request;
    uint64_t predicted_us = arrival->wait_ns / NS_PER_US;
    entry->cookie = request->cookie;
    entry->id = arrival->id;
    entry->arrived_ns = arrival->now_ns;
    entry->deadline_ns = saturated(arrival->now_ns, arrival->remaining_ns);
    entry->bytes = request->bytes;
    entry->held_bytes = arrival->is_must ? must_bytes(shard, arrival) : arrival->held_bytes;
    entry->pool[0] = request->pool[0];
    entry->pool[1] = request->pool[1];
    entry->cost_ns = arrival->cost_ns;
    entry->predicted_us = predicted_us < UINT32_MAX ? (uint32_t)predicted_us : UINT32_MAX;
    entry->tenant = arrival->tenant;
    entry->client = arrival->client != NULL ? request->client : WIO_ADMIT_NONE;
    entry->rule_job = request->job;
    entry->rule_uid = request->uid;
    entry->operation = arrival->operation;
    entry->retries = arrival->retries;
    entry->size_class = arrival->size_class;
    entry->space = shard->speed.space;
    entry->is_must = arrival->is_must;
}

static void enter_must(struct wio_admit *shard, uint32_t entry)
{
    shard->memory_must_bytes += wio_entries_at(&shard->entries, entry)->held_bytes;
    shard->must_queued++;
    wio_entry_append(&shard->entries, &shard->must, entry);
}

static enum wio_admit_reason enter_queue(struct wio_admit *shard, uint32_t entry)
{
    if (!wio_total_enter(shard->total)) {
        return WIO_ADMIT_REASON_QUEUE_TOTAL;
    }
    const struct wio_admit_entry *item = wio_entries_at(&shard->entries, entry);
    if (shard->policy->push(shard, entry) != WIO_OK) {
        wio_total_leave(shard->total);
        return WIO_ADMIT_REASON_MEMORY;
    }
    struct wio_tenant *tenant = wio_tenants_at(&shard->tenants, item->tenant);
    tenant->queued++;
    tenant->queued_cost_ns += item->cost_ns;
    shard->queued++;
    shard->queued_cost_ns += item->cost_ns;
    shard->memory_bytes += item->held_bytes;
    return WIO_ADMIT_REASON_NONE;
}

static enum wio_admit_reason enter(struct wio_admit *shard, struct wio_arrival *arrival)
{
    uint32_t entry = wio_entries_take(&shard->entries);
    if (entry == WIO_NO_INDEX) {
        return WIO_ADMIT_REASON_MEMORY;
    }
    fill(shard, arrival, wio_entries_at(&shard->entries, entry));
    if (arrival->is_must) {
        enter_must(shard, entry);
    } else {
        enum wio_admit_reason reason = enter_queue(shard, entry);
        if (reason != WIO_ADMIT_REASON_NONE) {
            wio_entries_give(&shard->entries, entry);
            return reason;
        }
    }
    if (arrival->client != NULL) {
        arrival->client->in_shard++;
    }
    if (arrival->has_ticket) {
        wio_tickets_use(&shard->tickets, arrival->id);
    }
    return WIO_ADMIT_REASON_NONE;
}

static void count_outcome(struct wio_admit_counts *counts, const struct wio_arrival *arrival,
                          enum wio_admit_reason reason)
{
    counts->arrived++;
    counts->must += arrival->is_must;
    if (reason == WIO_ADMIT_REASON_NONE) {
        counts->accepted++;
    } else {
        counts->refused[reason]++;
        counts->must_refused += arrival->is_must;
    }
}

/* A peer without the REJECT flag knows no busy reply: to it the request has timed out. */
static void refuse(struct wio_admit *shard, const struct wio_arrival *arrival,
                   enum wio_admit_reason reason, struct wio_admit_reply *reply)
{
    if ((arrival->request->flags & WIO_ADMIT_REJECT) == 0) {
        reply->answer = WIO_ADMIT_TIMED_OUT;
        return;
    }
    reply->answer = WIO_ADMIT_BUSY;
    reply->hint = wio_hint_encode(shard->policy->hint_ns(shard, arrival, reason));
    uint32_t features = arrival->client != NULL ? arrival->client->features : 0;
    if ((features & WIO_ADMIT_FEATURE_TICKET) != 0) {
        struct wio_ticket_owner owner = owner_of(arrival);
        reply->ticket = wio_tickets_issue(&shard->tickets, arrival->id, arrival->retries, &owner);
    }
}

bool wio_admit_arrive(struct wio_admit *shard, const struct wio_admit_request *request,
                      uint64_t now_ns, struct wio_admit_reply *reply_out)
{
    struct wio_arrival arrival = look_at(shard, request, now_ns);
    find_tenant(shard, &arrival);
    find_id(shard, &arrival);
    enum wio_admit_reason reason = judge(shard, &arrival);
    if (reason == WIO_ADMIT_REASON_NONE) {
        reason = enter(shard, &arrival);
    }
    count_outcome(&shard->counts, &arrival, reason);
    count_outcome(&shard->tenants.counts[arrival.tenant], &arrival, reason);
    *reply_out = (struct wio_admit_reply){
        .answer = WIO_ADMIT_ACCEPTED,
        .reason = reason,
        .queued = shard->queued,
        .wait_ns = arrival.wait_ns,
    };
    if (reason != WIO_ADMIT_REASON_NONE) {
        refuse(shard, &arrival, reason, reply_out);
    }
    if (shard->policy->arrived != NULL) {
        shard->policy->arrived(shard, &arrival, reason, reply_out);
    }
    return reason == WIO_ADMIT_REASON_NONE;
}
