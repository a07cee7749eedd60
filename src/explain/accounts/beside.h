/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes on beside a transfer: how many are under way with it, in the mean, and for how long its
 * thread has computed since its transfer before, which the transfer could have gone on beside.
 *
 * Events come in the order of their begin. Memory: a row per stream. Thread safety: none.
 */
#ifndef WIO_EXPLAIN_BESIDE_H
#define WIO_EXPLAIN_BESIDE_H

#include <whyio/trace.h>

#include "explain/accounts/steps.h"

/* Zero-initialise; release with wio_beside_fini, also after an error. */
struct wio_beside {
    struct wio_beside_thread *threads;
    struct wio_beside_transfer *transfers; /* under way: a heap, the first to end first */
    uint32_t count;
    uint32_t streams; /* room for a transfer of each */
    uint64_t now_ns;  /* up to here .. */
    double passed;    /* .. the time of all transfers together */
};

WIO_MUST_CHECK enum wio_status wio_beside_init(struct wio_beside *beside, uint32_t streams);
void wio_beside_fini(struct wio_beside *beside);

/* Of each event: its thread computed up to its begin. */
void wio_beside_event(struct wio_beside *beside, const struct wio_event *event);
/* Of a transfer, behind wio_beside_event: into the counters of its step, which must live until
 * wio_beside_end. */
void wio_beside_add(struct wio_beside *beside, const struct wio_event *event, uint64_t bytes,
                    struct wio_step_pattern *pattern);
/* Behind the last event. */
void wio_beside_end(struct wio_beside *beside);

#endif
