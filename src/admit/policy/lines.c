/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/policy/lines.h"

static struct wio_grants *grants_of(struct wio_admit *shard)
{
    return shard->state;
}

static struct wio_admit_client *client_at(const struct wio_admit *shard, uint32_t client)
{
    return &shard->clients.items[client];
}

static void append_tenant(struct wio_admit *shard, uint32_t tenant)
{
    struct wio_grants *grants = grants_of(shard);
    wio_tenants_at(&shard->tenants, tenant)->next_granted = WIO_NO_INDEX;
    if (grants->first_tenant == WIO_NO_INDEX) {
        grants->first_tenant = tenant;
    } else {
        wio_tenants_at(&shard->tenants, grants->last_tenant)->next_granted = tenant;
    }
    grants->last_tenant = tenant;
}

static uint32_t shift_tenant(struct wio_admit *shard)
{
    struct wio_grants *grants = grants_of(shard);
    uint32_t tenant = grants->first_tenant;
    grants->first_tenant = wio_tenants_at(&shard->tenants, tenant)->next_granted;
    if (grants->first_tenant == WIO_NO_INDEX) {
        grants->last_tenant = WIO_NO_INDEX;
    }
    return tenant;
}

void wio_line_join(struct wio_admit *shard, uint32_t client)
{
    struct wio_admit_client *item = client_at(shard, client);
    if (item->is_waiting || item->has_left) {
        return;
    }
    struct wio_tenant *tenant = wio_tenants_at(&shard->tenants, item->tenant);
    item->is_waiting = true;
    item->next_waiter = WIO_NO_INDEX;
    if (tenant->first_waiter == WIO_NO_INDEX) {
        tenant->first_waiter = client;
    } else {
        client_at(shard, tenant->last_waiter)->next_waiter = client;
    }
    tenant->last_waiter = client;
    grants_of(shard)->waiters++;
    if (!tenant->is_granted) {
        tenant->grant_deficit_ns = wio_grants_deficit_ns(shard, tenant);
        tenant->is_granted = true;
        grants_of(shard)->tenants++;
        append_tenant(shard, item->tenant);
    }
}

static uint32_t shift_waiter(struct wio_admit *shard, struct wio_tenant *tenant)
{
    uint32_t client = tenant->first_waiter;
    struct wio_admit_client *item = client_at(shard, client);
    tenant->first_waiter = item->next_waiter;
    if (tenant->first_waiter == WIO_NO_INDEX) {
        tenant->last_waiter = WIO_NO_INDEX;
    }
    item->is_waiting = false;
    item->next_waiter = WIO_NO_INDEX;
    grants_of(shard)->waiters--;
    return client;
}

/* A tenant has one grant per round, none while it owes cost. */
uint32_t wio_line_take(struct wio_admit *shard)
{
    struct wio_grants *grants = grants_of(shard);
    while (grants->first_tenant != WIO_NO_INDEX) {
        uint32_t tenant = shift_tenant(shard);
        struct wio_tenant *item = wio_tenants_at(&shard->tenants, tenant);
        if (item->first_waiter == WIO_NO_INDEX) {
            item->is_granted = false;
            item->share_seen_ns = (int64_t)grants->share_ns;
            grants->tenants--;
            continue;
        }
        append_tenant(shard, tenant);
        if (item->grant_deficit_ns <= 0) {
            item->grant_deficit_ns += wio_fair_quantum_ns(&grants->fair) * item->weight;
            continue;
        }
        return shift_waiter(shard, item);
    }
    return WIO_NO_INDEX;
}

static void unlink_lease(struct wio_admit *shard, uint32_t client)
{
    struct wio_grants *grants = grants_of(shard);
    struct wio_admit_client *item = client_at(shard, client);
    if (!item->is_leased) {
        return;
    }
    if (item->lease_before != WIO_NO_INDEX) {
        client_at(shard, item->lease_before)->lease_next = item->lease_next;
    } else {
        grants->first_lease = item->lease_next;
    }
    if (item->lease_next != WIO_NO_INDEX) {
        client_at(shard, item->lease_next)->lease_before = item->lease_before;
    } else {
        grants->last_lease = item->lease_before;
    }
    item->is_leased = false;
}

static void append_lease(struct wio_admit *shard, uint32_t client)
{
    struct wio_grants *grants = grants_of(shard);
    struct wio_admit_client *item = client_at(shard, client);
    item->lease_before = grants->last_lease;
    item->lease_next = WIO_NO_INDEX;
    if (grants->last_lease != WIO_NO_INDEX) {
        client_at(shard, grants->last_lease)->lease_next = client;
    } else {
        grants->first_lease = client;
    }
    grants->last_lease = client;
    item->is_leased = true;
}

void wio_lease_give(struct wio_admit *shard, uint32_t client, uint32_t credits, uint64_t now_ns)
{
    struct wio_admit_client *item = client_at(shard, client);
    item->credit += credits;
    grants_of(shard)->outstanding += credits;
    item->leased_ns = now_ns;
    unlink_lease(shard, client);
    append_lease(shard, client);
}

void wio_lease_spend(struct wio_admit *shard, uint32_t client)
{
    struct wio_admit_client *item = client_at(shard, client);
    item->credit--;
    grants_of(shard)->outstanding--;
    if (item->credit == 0) {
        unlink_lease(shard, client);
    }
}

void wio_lease_revoke(struct wio_admit *shard, uint32_t client)
{
    struct wio_admit_client *item = client_at(shard, client);
    grants_of(shard)->outstanding -= item->credit;
    item->credit = 0;
    unlink_lease(shard, client);
}

void wio_lease_expire(struct wio_admit *shard, uint64_t now_ns, uint64_t lease_ns)
{
    struct wio_grants *grants = grants_of(shard);
    while (grants->first_lease != WIO_NO_INDEX) {
        uint32_t client = grants->first_lease;
        struct wio_admit_client *item = client_at(shard, client);
        if (item->leased_ns + lease_ns > now_ns) {
            return;
        }
        item->is_soon = false;
        wio_lease_revoke(shard, client);
        wio_lease_note(shard, client);
    }
}

void wio_lease_note(struct wio_admit *shard, uint32_t client)
{
    struct wio_admit_client *item = client_at(shard, client);
    bool is_active = item->in_shard > 0 || item->credit > 0 || item->is_waiting;
    struct wio_grants *grants = grants_of(shard);
    grants->active += is_active;
    grants->active -= item->is_active;
    item->is_active = is_active;
}
