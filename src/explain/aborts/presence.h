/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long clients were there: the time that what transactions lost is a part of. A client is there
 * from its first attempt to its last, as many times as it has transactions at once at most (threads
 * of one process share a client).
 *
 * Memory: WIO_PRESENCE_CLIENTS clients; those behind are not counted (`left_out`).
 */
#ifndef WIO_EXPLAIN_ABORTS_PRESENCE_H
#define WIO_EXPLAIN_ABORTS_PRESENCE_H

#include <stdint.h>

#include <whyio/status.h>

#include "base/map.h"

#define WIO_PRESENCE_CLIENTS 65536u

struct wio_present_client {
    uint64_t first_ns;
    uint64_t last_ns;
    uint32_t open; /* attempts */
    uint32_t most; /* .. at once */
};

/* Zero-initialise. */
struct wio_presence {
    struct wio_present_client *clients;
    uint32_t count;
    uint32_t capacity;
    struct wio_map index;
    uint64_t left_out; /* attempts */
};

void wio_presence_fini(struct wio_presence *presence);
/* An attempt of the client begins. WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_presence_begin(struct wio_presence *presence, uint64_t client,
                                                  uint64_t now_ns);
/* It is over. */
void wio_presence_end(struct wio_presence *presence, uint64_t client, uint64_t now_ns);
/* Sum over clients: (last - first) x the most at once. */
double wio_presence_seconds(const struct wio_presence *presence);

#endif
