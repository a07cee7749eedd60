/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/tenants.h"

#include <string.h>

#include "base/cleanup.h"

#define LOOK_FOR_IDLE 64 /* tenants that are looked at before the shared one has to do */

static void set_up(struct wio_tenants *tenants, uint32_t tenant, const uint64_t key[2])
{
    tenants->items[tenant] = (struct wio_tenant){
        .key = {key[0], key[1]},
        .queue = WIO_ENTRY_LIST,
        .weight = 1,
        .next = WIO_NO_INDEX,
        .first_waiter = WIO_NO_INDEX,
        .last_waiter = WIO_NO_INDEX,
        .next_granted = WIO_NO_INDEX,
    };
    memset(&tenants->counts[tenant], 0, sizeof(tenants->counts[tenant]));
}

static enum wio_status make_room(struct wio_tenants *tenants)
{
    size_t need = (size_t)tenants->count + 1;
    void *items = tenants->items;
    enum wio_status status =
        wio_alloc_room(&tenants->alloc, &items, &tenants->room, need, sizeof(*tenants->items));
    tenants->items = items;
    WIO_TRY(status);
    void *counts = tenants->counts;
    status = wio_alloc_room(&tenants->alloc, &counts, &tenants->counts_room, need,
                            sizeof(*tenants->counts));
    tenants->counts = counts;
    return status;
}

enum wio_status wio_tenants_init(struct wio_tenants *tenants, const struct wio_alloc *alloc,
                                 uint32_t max)
{
    *tenants = (struct wio_tenants){.alloc = *alloc, .max = max};
    wio_pair_map_init(&tenants->index, alloc);
    WIO_TRY(make_room(tenants));
    set_up(tenants, tenants->count++, (const uint64_t[2]){0, 0});
    return WIO_OK;
}

void wio_tenants_fini(struct wio_tenants *tenants)
{
    wio_pair_map_fini(&tenants->index);
    tenants->alloc.put(tenants->alloc.context, tenants->items);
    tenants->alloc.put(tenants->alloc.context, tenants->counts);
    tenants->items = NULL;
    tenants->counts = NULL;
}

uint32_t wio_tenants_find(const struct wio_tenants *tenants, const uint64_t key[2])
{
    uint32_t tenant = wio_pair_map_get(&tenants->index, key[0], key[1]);
    return tenant != WIO_NO_INDEX ? tenant : WIO_TENANT_SHARED;
}

static bool is_idle(const struct wio_tenant *tenant)
{
    return tenant->queued == 0 && tenant->running == 0 && tenant->place == WIO_TENANT_NOWHERE &&
           !tenant->is_granted && tenant->weight == 1;
}

static uint32_t evict(struct wio_tenants *tenants)
{
    for (unsigned i = 0; i < LOOK_FOR_IDLE; i++) {
        tenants->hand = tenants->hand % tenants->max + 1; /* 1 .. max */
        struct wio_tenant *tenant = &tenants->items[tenants->hand];
        if (is_idle(tenant)) {
            wio_pair_map_remove(&tenants->index, tenant->key[0], tenant->key[1]);
            return tenants->hand;
        }
    }
    return WIO_TENANT_SHARED;
}

uint32_t wio_tenants_have(struct wio_tenants *tenants, const uint64_t key[2])
{
    uint32_t tenant = wio_pair_map_get(&tenants->index, key[0], key[1]);
    if (tenant != WIO_NO_INDEX) {
        return tenant;
    }
    if (tenants->count <= tenants->max) {
        if (make_room(tenants) != WIO_OK) {
            return WIO_TENANT_SHARED;
        }
        tenant = tenants->count;
    } else {
        tenant = evict(tenants);
    }
    if (tenant == WIO_TENANT_SHARED) {
        return tenant;
    }
    if (wio_pair_map_put(&tenants->index, key[0], key[1], tenant) != WIO_OK) {
        /* An evicted one stays without a key: nothing finds it, the hand comes by again. */
        return WIO_TENANT_SHARED;
    }
    tenants->count += tenant == tenants->count;
    set_up(tenants, tenant, key);
    return tenant;
}
