/* SPDX-License-Identifier: Apache-2.0 */
/* What each tenant has had of the shard, beside a fair share. */
#include <math.h>

#include "admit/policy/grants.h"

#define DEBT_QUANTA 8 /* no tenant owes more */

/* In line it has a quantum per round (lines.c); else its share of what was served meanwhile. */
int64_t wio_grants_deficit_ns(const struct wio_admit *shard, const struct wio_tenant *tenant)
{
    const struct wio_grants *grants = shard->state;
    if (tenant->is_granted) {
        return tenant->grant_deficit_ns;
    }
    int64_t most_ns = wio_fair_quantum_ns(&grants->fair) * tenant->weight;
    double share_ns = (grants->share_ns - (double)tenant->share_seen_ns) * tenant->weight;
    double deficit_ns = (double)tenant->grant_deficit_ns + share_ns;
    return (int64_t)fmin(deficit_ns, (double)most_ns);
}

void wio_grants_charge(struct wio_admit *shard, struct wio_tenant *tenant, int64_t took_ns)
{
    struct wio_grants *grants = shard->state;
    int64_t least_ns = -DEBT_QUANTA * wio_fair_quantum_ns(&grants->fair) * tenant->weight;
    int64_t deficit_ns = wio_grants_deficit_ns(shard, tenant) - took_ns;
    grants->share_ns += (double)took_ns / (grants->tenants + !tenant->is_granted);
    tenant->grant_deficit_ns = deficit_ns > least_ns ? deficit_ns : least_ns;
    tenant->share_seen_ns = (int64_t)grants->share_ns;
}
