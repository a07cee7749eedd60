/* SPDX-License-Identifier: Apache-2.0 */
/* What a shard tells of itself. */
#include "admit/shard.h"

void wio_admit_gauges(const struct wio_admit *shard, struct wio_admit_gauges *gauges_out)
{
    const struct wio_admit_settings *settings = shard->settings;
    *gauges_out = (struct wio_admit_gauges){
        .queued = shard->queued + shard->must_queued,
        .in_flight = shard->in_flight,
        .in_flight_limit = settings->in_flight_max,
        .queue_limit = settings->queue_total,
        .clients = shard->clients.joined,
        .tenants = shard->tenants.count,
        .booked = shard->booked,
        .memory_bytes = shard->memory_bytes + shard->memory_must_bytes,
        .memory_limit = settings->memory_bytes,
        .reserve_bytes = settings->reserve_bytes,
        .wait_ns = wio_shard_wait_ns(shard),
        .drain = 1 / shard->speed.per_cost,
    };
    if (shard->policy->gauges != NULL) {
        shard->policy->gauges(shard, gauges_out);
    }
}

const struct wio_admit_counts *wio_admit_counts(const struct wio_admit *shard)
{
    return &shard->counts;
}

bool wio_admit_each_tenant(const struct wio_admit *shard, uint32_t *i,
                           struct wio_admit_tenant_counts *tenant_out)
{
    if (*i >= shard->tenants.count) {
        return false;
    }
    const struct wio_tenant *tenant = wio_tenants_at(&shard->tenants, *i);
    *tenant_out = (struct wio_admit_tenant_counts){
        .key = {tenant->key[0], tenant->key[1]},
        .weight = tenant->weight,
        .queued = tenant->queued,
        .counts = &shard->tenants.counts[*i],
    };
    ++*i;
    return true;
}

uint64_t wio_admit_cost_ns(const struct wio_admit *shard, uint16_t operation, uint64_t bytes,
                           uint8_t space)
{
    uint16_t known = operation < WIO_ADMIT_OPS ? operation : WIO_ADMIT_OPS - 1;
    uint8_t class = space < WIO_ADMIT_SPACES ? space : WIO_ADMIT_SPACES - 1;
    return wio_speed_cost_ns(&shard->speed, class, known, wio_speed_size_class(bytes));
}
