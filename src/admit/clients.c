/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/clients.h"

#include "base/cleanup.h"

void wio_clients_init(struct wio_clients *clients, const struct wio_alloc *alloc, uint32_t max)
{
    *clients = (struct wio_clients){.alloc = *alloc, .max = max, .free = WIO_NO_INDEX};
}

void wio_clients_fini(struct wio_clients *clients)
{
    clients->alloc.put(clients->alloc.context, clients->items);
    clients->items = NULL;
}

static enum wio_status take_number(struct wio_clients *clients, uint32_t *client_out)
{
    if (clients->free != WIO_NO_INDEX) {
        *client_out = clients->free;
        clients->free = clients->items[*client_out].next_waiter;
        return WIO_OK;
    }
    void *items = clients->items;
    WIO_TRY(wio_alloc_room(&clients->alloc, &items, &clients->room, (size_t)clients->count + 1,
                           sizeof(*clients->items)));
    clients->items = items;
    *client_out = clients->count++;
    return WIO_OK;
}

enum wio_status wio_clients_join(struct wio_clients *clients, uint64_t address, uint32_t features,
                                 uint32_t *client_out)
{
    if (clients->joined == clients->max) {
        return WIO_ERR_BUSY;
    }
    WIO_TRY(take_number(clients, client_out));
    clients->joined++;
    clients->items[*client_out] = (struct wio_admit_client){
        .address = address,
        .features = features,
        .is_used = true,
        .next_waiter = WIO_NO_INDEX,
        .lease_next = WIO_NO_INDEX,
        .lease_before = WIO_NO_INDEX,
    };
    return WIO_OK;
}

void wio_clients_release(struct wio_clients *clients, uint32_t client)
{
    struct wio_admit_client *item = &clients->items[client];
    if (item->has_left && item->in_shard == 0 && !item->is_waiting) {
        item->is_used = false;
        item->next_waiter = clients->free;
        clients->free = client;
        clients->joined--;
    }
}
