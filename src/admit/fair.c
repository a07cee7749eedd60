/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/fair.h"

#include <math.h>

#define FAIR_NEW_RUN 8
#define DEBT_ROUNDS 8 /* a tenant owes no more: what it took beyond is forgotten */
#define LARGEST_FADES 0.999

void wio_fair_init(struct wio_fair *fair, uint64_t quantum_ns)
{
    struct wio_fair_list empty = {WIO_NO_INDEX, WIO_NO_INDEX};
    *fair = (struct wio_fair){.fresh = empty,
                              .old = empty,
                              .least_ns = quantum_ns,
                              .round_ns = quantum_ns,
                              .round_first = WIO_NO_INDEX};
}

int64_t wio_fair_quantum_ns(const struct wio_fair *fair)
{
    return (int64_t)fair->round_ns;
}

void wio_fair_charge(const struct wio_fair *fair, struct wio_tenant *tenant, int64_t ns)
{
    int64_t round_ns = wio_fair_quantum_ns(fair) * tenant->weight;
    int64_t left_ns = tenant->deficit_ns - ns;
    int64_t least_ns = -DEBT_ROUNDS * round_ns;
    tenant->deficit_ns = left_ns < least_ns ? least_ns : left_ns > round_ns ? round_ns : left_ns;
}

/* A tenant has its turn: the first one that has it again begins the next round. */
static void begin_round(struct wio_fair *fair, const struct wio_tenants *tenants, uint32_t tenant)
{
    bool is_gone = fair->round_first == WIO_NO_INDEX ||
                   tenants->items[fair->round_first].place != WIO_TENANT_OLD;
    if (is_gone || fair->round_first == tenant) {
        fair->round_first = tenant;
        fair->round_ns = (uint64_t)fmax((double)fair->least_ns, fair->largest_ns);
    }
}

static void append(struct wio_fair_list *list, struct wio_tenants *tenants, uint32_t tenant)
{
    tenants->items[tenant].next = WIO_NO_INDEX;
    if (list->head == WIO_NO_INDEX) {
        list->head = tenant;
    } else {
        tenants->items[list->tail].next = tenant;
    }
    list->tail = tenant;
}

static void shift(struct wio_fair_list *list, const struct wio_tenants *tenants)
{
    list->head = tenants->items[list->head].next;
    if (list->head == WIO_NO_INDEX) {
        list->tail = WIO_NO_INDEX;
    }
}

static void activate(struct wio_fair *fair, struct wio_tenants *tenants, uint32_t tenant)
{
    struct wio_tenant *item = &tenants->items[tenant];
    if (item->deficit_ns < 0) {
        item->place = WIO_TENANT_OLD;
        append(&fair->old, tenants, tenant);
        return;
    }
    item->deficit_ns = wio_fair_quantum_ns(fair) * item->weight;
    item->place = WIO_TENANT_NEW;
    append(&fair->fresh, tenants, tenant);
}

void wio_fair_push(struct wio_fair *fair, struct wio_tenants *tenants, struct wio_entries *entries,
                   uint32_t entry)
{
    const struct wio_admit_entry *item = wio_entries_at(entries, entry);
    struct wio_tenant *tenant = &tenants->items[item->tenant];
    wio_entry_append(entries, &tenant->queue, entry);
    if (tenant->place == WIO_TENANT_NOWHERE) {
        activate(fair, tenants, item->tenant);
    }
}

static struct wio_fair_list *choose(struct wio_fair *fair)
{
    bool has_fresh = fair->fresh.head != WIO_NO_INDEX;
    bool has_old = fair->old.head != WIO_NO_INDEX;
    if (has_fresh && (!has_old || fair->fresh_run < FAIR_NEW_RUN)) {
        return &fair->fresh;
    }
    return has_old ? &fair->old : NULL;
}

static void to_old(struct wio_fair *fair, struct wio_tenants *tenants, uint32_t tenant)
{
    tenants->items[tenant].place = WIO_TENANT_OLD;
    append(&fair->old, tenants, tenant);
}

/* Nothing is left of the tenant at the head: a new one goes through the other list once, so that it
 * cannot come back as new at once. */
static void retire(struct wio_fair *fair, struct wio_tenants *tenants, uint32_t tenant, bool is_old)
{
    if (!is_old && fair->old.head != WIO_NO_INDEX) {
        to_old(fair, tenants, tenant);
    } else {
        tenants->items[tenant].place = WIO_TENANT_NOWHERE;
    }
}

static void count_run(struct wio_fair *fair, bool is_old, uint32_t cost_ns)
{
    fair->fresh_run = is_old || fair->old.head == WIO_NO_INDEX ? 0 : fair->fresh_run + 1;
    fair->largest_ns = fmax(fair->largest_ns * LARGEST_FADES, cost_ns);
}

uint32_t wio_fair_pop(struct wio_fair *fair, struct wio_tenants *tenants,
                      struct wio_entries *entries)
{
    for (struct wio_fair_list *list = choose(fair); list != NULL; list = choose(fair)) {
        uint32_t tenant = list->head;
        struct wio_tenant *item = &tenants->items[tenant];
        bool is_old = list == &fair->old;
        if (item->queue.head == WIO_NO_INDEX) {
            shift(list, tenants);
            retire(fair, tenants, tenant, is_old);
            continue;
        }
        if (item->deficit_ns <= 0) {
            begin_round(fair, tenants, tenant);
            item->deficit_ns += wio_fair_quantum_ns(fair) * item->weight;
            shift(list, tenants);
            to_old(fair, tenants, tenant);
            continue;
        }
        uint32_t entry = wio_entry_shift(entries, &item->queue);
        uint32_t cost_ns = wio_entries_at(entries, entry)->cost_ns;
        count_run(fair, is_old, cost_ns);
        item->deficit_ns -= cost_ns;
        return entry;
    }
    return WIO_NO_INDEX;
}
