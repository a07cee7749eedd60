/* SPDX-License-Identifier: Apache-2.0 */
/* Which objects an operation of a load reads or writes. Pure. */
#ifndef WIO_STORE_LOAD_PATTERN_H
#define WIO_STORE_LOAD_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

enum wio_load_order {
    WIO_LOAD_DISJOINT, /* each client has objects of its own, used in turn */
    WIO_LOAD_RANDOM,   /* any of all objects, those of a transaction different ones */
    WIO_LOAD_SAME,     /* the first ones, all clients in the same order */
    WIO_LOAD_OPPOSITE, /* .. every other client from the last to the first */
    WIO_LOAD_ORDERS
};

struct wio_load_pattern {
    enum wio_load_order order;
    uint32_t objects; /* of all clients, or of each where they are disjoint */
    uint32_t each;    /* objects of one transaction; at most WIO_LOAD_EACH_MAX and `objects` */
    uint32_t reads;   /* percent of accesses that read */
};

enum { WIO_LOAD_EACH_MAX = 64 };

struct wio_load_access {
    uint64_t object;
    bool is_read;
};

/* The accesses of operation `number` of a client; `random` is its own state. */
void wio_load_choose(const struct wio_load_pattern *pattern, uint32_t client, uint64_t number,
                     uint64_t *random, struct wio_load_access accesses_out[WIO_LOAD_EACH_MAX]);

/* How many objects there are in all. */
uint64_t wio_load_objects(const struct wio_load_pattern *pattern, uint32_t clients);

#endif
