/* SPDX-License-Identifier: Apache-2.0 */
#include "store/storage/recents.h"

#include <stdlib.h>

#include "base/cleanup.h"

void recents_init(struct recents *recents)
{
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    *recents = (struct recents){0};
    wio_pair_map_init(&recents->index, &heap);
}

void recents_fini(struct recents *recents)
{
    wio_pair_map_fini(&recents->index);
    free(recents->clients);
}

static uint32_t least_recent(const struct recents *recents)
{
    uint32_t found = 0;
    for (uint32_t i = 1; i < recents->count; i++) {
        found = recents->clients[i].stamp < recents->clients[found].stamp ? i : found;
    }
    return found;
}

/* A place for one more client, of one that has not committed for the longest time where all are
 * taken. */
static enum wio_status take_place(struct recents *recents, uint64_t client, uint32_t *place_out)
{
    if (recents->clients == NULL &&
        (recents->clients = calloc(RECENTS_CLIENTS, sizeof(*recents->clients))) == NULL) {
        return WIO_ERR_NOMEM;
    }
    bool is_full = recents->count == RECENTS_CLIENTS;
    uint32_t place = is_full ? least_recent(recents) : recents->count;
    WIO_TRY(wio_pair_map_put(&recents->index, client, 0, place));
    if (is_full) {
        wio_pair_map_remove(&recents->index, recents->clients[place].txns[0].client, 0);
    } else {
        recents->count++;
    }
    recents->clients[place] = (struct recent_client){.count = 0};
    *place_out = place;
    return WIO_OK;
}

static bool has(const struct recent_client *client, uint64_t number)
{
    for (unsigned i = 0; i < RECENTS_OF_CLIENT && i < client->count; i++) {
        if (client->txns[i].number == number) {
            return true;
        }
    }
    return false;
}

enum wio_status recents_add(struct recents *recents, const struct wio_txn *txn)
{
    uint32_t place = wio_pair_map_get(&recents->index, txn->client, 0);
    if (place == WIO_NO_INDEX) {
        WIO_TRY(take_place(recents, txn->client, &place));
    }
    struct recent_client *client = &recents->clients[place];
    client->stamp = ++recents->stamp;
    if (!has(client, txn->number)) {
        client->txns[client->count++ % RECENTS_OF_CLIENT] = *txn;
    }
    return WIO_OK;
}

bool recents_next(const struct recents *recents, uint32_t *place, struct wio_txn *txn_out)
{
    while (*place / RECENTS_OF_CLIENT < recents->count) {
        const struct recent_client *client = &recents->clients[*place / RECENTS_OF_CLIENT];
        uint64_t nth = *place % RECENTS_OF_CLIENT;
        uint64_t kept = client->count < RECENTS_OF_CLIENT ? client->count : RECENTS_OF_CLIENT;
        if (nth < kept) {
            *txn_out = client->txns[(client->count - kept + nth) % RECENTS_OF_CLIENT];
            (*place)++;
            return true;
        }
        *place = (*place / RECENTS_OF_CLIENT + 1) * RECENTS_OF_CLIENT;
    }
    return false;
}
