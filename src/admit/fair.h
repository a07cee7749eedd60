/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fair queues: deficit round robin over the tenants of a shard, in nanoseconds of cost that is
 * estimated when a request is taken and corrected by what was measured. A tenant that had nothing
 * queued and owes nothing comes before those that have (the "new" list of fq_codel, RFC 8290), but
 * no more than FAIR_NEW_RUN times in a row.
 */
#ifndef WIO_ADMIT_FAIR_H
#define WIO_ADMIT_FAIR_H

#include "admit/tenants.h"

struct wio_fair_list {
    uint32_t head;
    uint32_t tail;
};

struct wio_fair {
    struct wio_fair_list fresh;
    struct wio_fair_list old;
    uint64_t least_ns; /* of a round, for weight 1 */
    double largest_ns; /* cost of late: a round is no shorter, so that two pass before a turn */
    uint64_t round_ns; /* of the round that is under way: the same for all in it */
    uint32_t round_first;
    uint32_t fresh_run; /* taken in a row from `fresh` while `old` had some */
};

void wio_fair_init(struct wio_fair *fair, uint64_t quantum_ns);
void wio_fair_push(struct wio_fair *fair, struct wio_tenants *tenants, struct wio_entries *entries,
                   uint32_t entry);
/* WIO_NO_INDEX where nothing waits. */
uint32_t wio_fair_pop(struct wio_fair *fair, struct wio_tenants *tenants,
                      struct wio_entries *entries);
/* The length of a round for weight 1. */
int64_t wio_fair_quantum_ns(const struct wio_fair *fair);
/* What a tenant has taken was by `ns` more (or less) than it was charged. */
void wio_fair_charge(const struct wio_fair *fair, struct wio_tenant *tenant, int64_t ns);

#endif
