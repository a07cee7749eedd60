/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a shard serves: the service time of each (class of free space, operation, log2 of its
 * size) as a moving average, and how much of such estimated cost is served in a nanosecond while
 * the shard has more to do than it can (drain: about the number of workers; less as soon as the
 * estimates are too low, so that a jump of service times shows before each average has followed).
 */
#ifndef WIO_ADMIT_SPEED_H
#define WIO_ADMIT_SPEED_H

#include <stdbool.h>
#include <stdint.h>

#define WIO_SPEED_SIZES 32
#define WIO_SPEED_OPS 32
#define WIO_SPEED_SPACES 4
/* Longest service time that is believed. */
#define WIO_SPEED_COST_MAX_NS ((uint64_t)1 << 32)

struct wio_speed_cell {
    float cost_ns;
    uint32_t samples; /* stops at the length of the average */
};

struct wio_speed {
    struct wio_speed_cell cells[WIO_SPEED_SPACES][WIO_SPEED_OPS][WIO_SPEED_SIZES];
    struct wio_speed_cell ops[WIO_SPEED_SPACES][WIO_SPEED_OPS]; /* all sizes of an operation */
    struct wio_speed_cell mean;                                 /* of all */
    double first_ns;                                            /* of what was never measured */
    double constant_ns; /* not 0: stands for all of the above */
    double served_ns;   /* averages over completions while others waited: estimated cost, ... */
    double elapsed_ns;  /* ... and time from the completion before */
    double per_cost;    /* nanoseconds until a nanosecond of estimated cost is served */
    uint64_t last_ns;   /* of the last completion */
    bool was_backlogged;
    uint8_t space; /* class of free space now */
};

void wio_speed_init(struct wio_speed *speed, double first_ns, double constant_ns, uint32_t workers);

static inline uint8_t wio_speed_size_class(uint64_t bytes)
{
    unsigned bits = bytes == 0 ? 0 : 64 - (unsigned)__builtin_clzll(bytes);
    return (uint8_t)(bits < WIO_SPEED_SIZES ? bits : WIO_SPEED_SIZES - 1);
}

static inline double wio_speed_estimate_ns(const struct wio_speed *speed, uint8_t space,
                                           uint16_t operation, uint8_t size_class)
{
    const struct wio_speed_cell *cell = &speed->cells[space][operation][size_class];
    if (cell->samples > 0) {
        return cell->cost_ns;
    }
    const struct wio_speed_cell *op = &speed->ops[space][operation];
    return op->samples > 0 ? op->cost_ns : speed->mean.cost_ns;
}

/* Estimated service time in the class of free space `space`, at least 1. */
static inline uint32_t wio_speed_cost_ns(const struct wio_speed *speed, uint8_t space,
                                         uint16_t operation, uint8_t size_class)
{
    double cost = speed->constant_ns > 0
                      ? speed->constant_ns
                      : wio_speed_estimate_ns(speed, space, operation, size_class);
    return cost < 1 ? 1 : cost < UINT32_MAX ? (uint32_t)cost : UINT32_MAX;
}

struct wio_speed_sample {
    uint64_t now_ns;
    uint64_t service_ns;
    uint32_t estimate_ns; /* as it was when the request was accepted */
    uint16_t operation;
    uint8_t size_class;
    uint8_t space;
    bool is_backlogged; /* requests still wait */
};

/* A request was served. */
void wio_speed_learn(struct wio_speed *speed, const struct wio_speed_sample *sample);

/* Until estimated cost of `cost_ns` is served. */
static inline uint64_t wio_speed_wait_ns(const struct wio_speed *speed, uint64_t cost_ns)
{
    return (uint64_t)((double)cost_ns * speed->per_cost);
}

#endif
