/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/admit.h"

#include "admit/negotiate.h"
#include "admit/shard.h"
#include "base/cleanup.h"

#define MUST_ENTRIES_LEAST 16

const struct wio_admit_policy *wio_admit_policy_of(enum wio_admit_kind kind)
{
    static const struct wio_admit_policy *const policies[WIO_ADMIT_KIND_COUNT] = {
        [WIO_ADMIT_FIFO] = &wio_policy_fifo,
        [WIO_ADMIT_HINT] = &wio_policy_hint,
        [WIO_ADMIT_HINT_HEAP] = &wio_policy_hint_heap,
        [WIO_ADMIT_CREDIT] = &wio_policy_credit,
        [WIO_ADMIT_DRR] = &wio_policy_drr,
        [WIO_ADMIT_TBF] = &wio_policy_tbf,
        [WIO_ADMIT_MCLOCK] = &wio_policy_mclock,
    };
    return policies[kind];
}

/* As many as fit in the reserve, by the context that each needs when it runs. */
static uint32_t must_entries(const struct wio_admit_settings *settings)
{
    return (uint32_t)(settings->reserve_bytes / settings->context_bytes) + MUST_ENTRIES_LEAST;
}

static enum wio_status open_parts(struct wio_admit *shard)
{
    const struct wio_admit_settings *settings = shard->settings;
    uint32_t number = atomic_fetch_add(&shard->total->shards, 1);
    uint32_t room = settings->queue_total + settings->in_flight_max + settings->workers;
    WIO_TRY(wio_entries_init(&shard->entries, &shard->alloc, room + must_entries(settings)));
    WIO_TRY(wio_tenants_init(&shard->tenants, &shard->alloc, settings->tenants_max));
    WIO_TRY(wio_tickets_init(&shard->tickets, &shard->alloc, settings->key, settings->incarnation,
                             number));
    const struct wio_admit_policy *policy = wio_admit_policy_of(settings->kind);
    WIO_TRY(policy->open(shard));
    shard->policy = policy;
    shard->kind = settings->kind;
    return WIO_OK;
}

enum wio_status wio_admit_create(struct wio_admit_total *total, const struct wio_alloc *alloc,
                                 struct wio_admit **shard_out, struct wio_error *err)
{
    struct wio_admit *shard = wio_alloc_array(alloc, 1, sizeof(*shard));
    enum wio_status status = WIO_ERR_NOMEM;
    if (shard != NULL) {
        shard->alloc = *alloc;
        shard->total = total;
        shard->settings = &total->settings;
        shard->must = WIO_ENTRY_LIST;
        wio_speed_init(&shard->speed, (double)total->settings.cost_first_ns,
                       (double)total->settings.constant_cost_ns, total->settings.workers);
        wio_clients_init(&shard->clients, alloc, total->settings.clients_max);
        status = open_parts(shard);
    }
    if (status != WIO_OK) {
        wio_admit_destroy(shard);
        return wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for the queue of a shard (%u requests)",
                             total->settings.queue_total);
    }
    *shard_out = shard;
    return WIO_OK;
}

void wio_admit_destroy(struct wio_admit *shard)
{
    if (shard == NULL) {
        return;
    }
    while (shard->queued > 0) {
        wio_total_leave(shard->total);
        shard->queued--;
    }
    if (shard->policy != NULL) {
        shard->policy->close(shard);
    }
    wio_tickets_fini(&shard->tickets);
    wio_clients_fini(&shard->clients);
    if (shard->tenants.items != NULL) {
        wio_tenants_fini(&shard->tenants);
    }
    wio_entries_fini(&shard->entries);
    shard->alloc.put(shard->alloc.context, shard);
}

/* Both policies are open for a moment: the state of the old one is kept aside. */
enum wio_status wio_admit_set_kind(struct wio_admit *shard, enum wio_admit_kind kind,
                                   uint64_t now_ns)
{
    if ((unsigned)kind >= WIO_ADMIT_KIND_COUNT) {
        return WIO_ERR_USAGE;
    }
    const struct wio_admit_policy *old = shard->policy;
    const struct wio_admit_policy *policy = wio_admit_policy_of(kind);
    struct wio_entry_list moved = WIO_ENTRY_LIST;
    void *old_state = shard->state;
    WIO_TRY(policy->open(shard));
    void *state = shard->state;
    shard->state = old_state;
    for (uint32_t entry = old->pop(shard, now_ns, true); entry != WIO_NO_INDEX;
         entry = old->pop(shard, now_ns, true)) {
        wio_entry_append(&shard->entries, &moved, entry);
    }
    old->close(shard);
    shard->state = state;
    shard->policy = policy;
    shard->kind = kind;
    for (uint32_t entry = wio_entry_shift(&shard->entries, &moved); entry != WIO_NO_INDEX;
         entry = wio_entry_shift(&shard->entries, &moved)) {
        if (policy->push(shard, entry) != WIO_OK) {
            wio_entry_append(&shard->entries, &shard->must, entry); /* accepted is accepted */
            shard->must_queued++;
        }
    }
    return WIO_OK;
}

bool wio_admit_holds_back(const struct wio_admit *shard)
{
    return shard->policy->holds_back;
}

enum wio_admit_kind wio_admit_get_kind(const struct wio_admit *shard)
{
    return shard->kind;
}

enum wio_status wio_admit_set_weight(struct wio_admit *shard, const uint64_t key[2],
                                     uint32_t weight)
{
    if (weight < 1 || weight > 1000) {
        return WIO_ERR_USAGE;
    }
    uint32_t tenant = wio_tenants_have(&shard->tenants, key);
    if (tenant == WIO_TENANT_SHARED) {
        return WIO_ERR_NOMEM;
    }
    wio_tenants_at(&shard->tenants, tenant)->weight = weight;
    return WIO_OK;
}

enum wio_status wio_admit_join(struct wio_admit *shard, const struct wio_admit_identity *identity,
                               uint64_t now_ns, uint32_t *client_out)
{
    (void)now_ns;
    return wio_clients_join(&shard->clients, identity->address, identity->features, client_out);
}

void wio_admit_leave(struct wio_admit *shard, uint32_t client)
{
    struct wio_admit_client *item = wio_clients_at(&shard->clients, client);
    if (item == NULL || item->has_left) {
        return;
    }
    item->has_left = true;
    if (shard->policy->left != NULL) {
        shard->policy->left(shard, client);
    }
    wio_clients_release(&shard->clients, client);
}

/* A booking is a context and a place in the queue. */
static uint64_t booking_bytes(const struct wio_admit *shard)
{
    return (uint64_t)shard->settings->context_bytes + shard->settings->waiting_bytes;
}

bool wio_admit_book(struct wio_admit *shard)
{
    if ((shard->booked + 1) * booking_bytes(shard) > shard->settings->reserve_bytes) {
        return false;
    }
    shard->booked++;
    return true;
}

void wio_admit_unbook(struct wio_admit *shard)
{
    shard->booked -= shard->booked > 0;
}

bool wio_admit_window(const struct wio_admit *shard, uint32_t client, uint16_t *window_out)
{
    const struct wio_admit_client *item = wio_clients_at(&shard->clients, client);
    bool has_window = shard->kind == WIO_ADMIT_CREDIT && item != NULL &&
                      (item->features & WIO_ADMIT_FEATURE_CREDIT) != 0;
    *window_out = has_window ? (uint16_t)item->window : 0;
    return has_window;
}

bool wio_admit_push(struct wio_admit *shard, uint64_t now_ns, struct wio_admit_grant *grant_out)
{
    if (shard->policy->grant == NULL || !shard->policy->grant(shard, now_ns, grant_out)) {
        return false;
    }
    shard->counts.pushes++;
    return true;
}

uint64_t wio_admit_wake_ns(const struct wio_admit *shard)
{
    return shard->policy->wake_ns != NULL ? shard->policy->wake_ns(shard) : WIO_ADMIT_NEVER;
}
