/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tenants of a shard. Tenant 0 is for all that are not told apart: more than settings allow at
 * the same time, or more than there is memory for. A tenant with nothing in the shard may have to
 * make room for a new one.
 */
#ifndef WIO_ADMIT_TENANTS_H
#define WIO_ADMIT_TENANTS_H

#include "admit/counts.h"
#include "admit/entries.h"
#include "base/pair_map.h"

#define WIO_TENANT_SHARED 0

/* Which list of fair.h a tenant is in. */
enum wio_tenant_place { WIO_TENANT_NOWHERE, WIO_TENANT_NEW, WIO_TENANT_OLD };

struct wio_tenant {
    uint64_t key[2];
    struct wio_entry_list queue; /* of a fair queue */
    uint64_t queued_cost_ns;
    int64_t deficit_ns; /* that may be served before other tenants have their turn */
    uint32_t queued;
    uint32_t running;
    uint32_t weight;
    uint32_t next; /* in its list of fair.h */
    enum wio_tenant_place place;
    int64_t grant_deficit_ns; /* the same for credits */
    int64_t share_seen_ns;    /* of a fair share, as far as it is in the deficit */
    uint32_t first_waiter;    /* clients that wait for credits */
    uint32_t last_waiter;
    uint32_t next_granted; /* tenants that have such */
    bool is_granted;
};

struct wio_tenants {
    struct wio_alloc alloc;
    struct wio_tenant *items;
    struct wio_admit_counts *counts; /* beside: touched less often */
    size_t room;
    size_t counts_room;
    uint32_t count;
    uint32_t max;
    uint32_t hand; /* where the search for an idle one goes on */
    struct wio_pair_map index;
};

WIO_MUST_CHECK enum wio_status wio_tenants_init(struct wio_tenants *tenants,
                                                const struct wio_alloc *alloc, uint32_t max);
void wio_tenants_fini(struct wio_tenants *tenants);

/* The tenant of this key; WIO_TENANT_SHARED where it is not known. */
uint32_t wio_tenants_find(const struct wio_tenants *tenants, const uint64_t key[2]);
/* The same, made where it is not known. */
uint32_t wio_tenants_have(struct wio_tenants *tenants, const uint64_t key[2]);

static inline struct wio_tenant *wio_tenants_at(const struct wio_tenants *tenants, uint32_t tenant)
{
    return &tenants->items[tenant];
}

#endif
