/* SPDX-License-Identifier: Apache-2.0 */
/* What the shards of one process share. */
#ifndef WIO_ADMIT_TOTAL_H
#define WIO_ADMIT_TOTAL_H

#include <stdatomic.h>

#include "admit/admit.h"

struct wio_admit_total {
    struct wio_alloc alloc;
    struct wio_admit_settings settings; /* limits of 0 replaced */
    _Atomic uint32_t queued;            /* in all shards */
    _Atomic uint32_t shards;            /* created so far: numbers them */
    struct wio_rules rules;
};

/* Room for one more in the queue of all shards, taken; false: it is full. */
bool wio_total_enter(struct wio_admit_total *total);
void wio_total_leave(struct wio_admit_total *total);

static inline uint32_t wio_total_queued(const struct wio_admit_total *total)
{
    return atomic_load_explicit(&total->queued, memory_order_relaxed);
}

#endif
