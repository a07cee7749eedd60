/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ticks of a ring to nanoseconds of CLOCK_MONOTONIC (FORMAT.md R-RING-2). Pure.
 *
 * Pairs (ticks, ns) are collected, then wio_ticks_ready picks the ones that can be trusted: the
 * two clocks of a pair are read one after the other and the thread may lose the CPU in between.
 */
#ifndef WIO_SEAL_TICKS_H
#define WIO_SEAL_TICKS_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

struct wio_tick_pair {
    uint64_t ticks;
    uint64_t ns;
};

/* Zero-initialise; is_ns for a clock that counts nanoseconds itself. */
struct wio_ticks {
    int is_ns;
    double ns_per_tick; /* over the whole, or as given */
    struct wio_tick_pair *pairs;
    uint32_t count;
    uint32_t capacity;
    size_t last; /* pair that served last */
};

void wio_ticks_fini(struct wio_ticks *ticks);
WIO_MUST_CHECK enum wio_status wio_ticks_add(struct wio_ticks *ticks, uint64_t at, uint64_t ns);
/* Sort and choose. `ns_per_tick` is what other rings of the machine say, 0 = unknown: it serves
 * where the pairs are too close to each other to tell. */
void wio_ticks_ready(struct wio_ticks *ticks, double ns_per_tick);
/* Slope of the pairs and over how long it was measured; 0 where they tell nothing. */
double wio_ticks_slope(const struct wio_ticks *ticks, uint64_t *span_ns_out);
uint64_t wio_ticks_to_ns(struct wio_ticks *ticks, uint64_t at);
/* A number of ticks, not a moment. */
uint64_t wio_ticks_length(const struct wio_ticks *ticks, uint64_t length);

#endif
