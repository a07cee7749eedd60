/* SPDX-License-Identifier: Apache-2.0 */
/* The clients of a shard, as the server knows them. A number is used again after its client has
 * left and the last of its requests is done. */
#ifndef WIO_ADMIT_CLIENTS_H
#define WIO_ADMIT_CLIENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

#include "base/memory.h"

struct wio_admit_client {
    uint64_t address;
    uint64_t demand_until_ns; /* until when a credit is of use for what it has told */
    uint64_t leased_ns;       /* when it got its last credit */
    uint64_t replied_ns;      /* when its last request was done */
    uint64_t probe_ns;        /* before then it is not to send beyond its window */
    uint32_t features;
    uint32_t in_shard;    /* requests waiting and running */
    uint32_t demand;      /* requests that wait in the client, less credits since it said so */
    uint32_t credit;      /* granted and not used */
    uint32_t window;      /* as it was told last */
    uint32_t strikes;     /* sent beyond its window, in a row */
    uint32_t turn;        /* requests until others that wait have their turn */
    uint32_t tenant;      /* of its last request */
    uint32_t next_waiter; /* clients of the tenant that wait for credits */
    uint32_t lease_next;  /* clients that hold credits, the oldest first */
    uint32_t lease_before;
    bool is_waiting;
    bool is_leased;
    bool is_soon;   /* its requests follow each other closely */
    bool is_active; /* counts for the increase of credits */
    bool is_used;
    bool has_left;
};

struct wio_clients {
    struct wio_alloc alloc;
    struct wio_admit_client *items;
    size_t room;
    uint32_t count; /* numbers that were ever used */
    uint32_t joined;
    uint32_t max;
    uint32_t free;
};

void wio_clients_init(struct wio_clients *clients, const struct wio_alloc *alloc, uint32_t max);
void wio_clients_fini(struct wio_clients *clients);
WIO_MUST_CHECK enum wio_status wio_clients_join(struct wio_clients *clients, uint64_t address,
                                                uint32_t features, uint32_t *client_out);
/* To be called when it has left or when a request of it is done: gives its number back. */
void wio_clients_release(struct wio_clients *clients, uint32_t client);
/* NULL where the number is none of a client. */
static inline struct wio_admit_client *wio_clients_at(const struct wio_clients *clients,
                                                      uint32_t client)
{
    return client < clients->count && clients->items[client].is_used ? &clients->items[client]
                                                                     : NULL;
}

#endif
