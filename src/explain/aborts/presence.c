/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/aborts/presence.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"

void wio_presence_fini(struct wio_presence *presence)
{
    free(presence->clients);
    wio_map_fini(&presence->index);
}

static struct wio_present_client *find(const struct wio_presence *presence, uint64_t client)
{
    const uint64_t *known = wio_map_get(&presence->index, client);
    return known == NULL ? NULL : &presence->clients[*known];
}

static enum wio_status add(struct wio_presence *presence, uint64_t client, uint64_t now_ns,
                           struct wio_present_client **out)
{
    void *array = presence->clients;
    WIO_TRY(wio_grow(&array, sizeof(*presence->clients), &presence->capacity, presence->count + 1));
    presence->clients = array;
    WIO_TRY(wio_map_put(&presence->index, client, presence->count));
    *out = &presence->clients[presence->count++];
    **out = (struct wio_present_client){.first_ns = now_ns, .last_ns = now_ns};
    return WIO_OK;
}

enum wio_status wio_presence_begin(struct wio_presence *presence, uint64_t client, uint64_t now_ns)
{
    struct wio_present_client *known = find(presence, client);
    if (known == NULL && presence->count == WIO_PRESENCE_CLIENTS) {
        presence->left_out++;
        return WIO_OK;
    }
    if (known == NULL) {
        WIO_TRY(add(presence, client, now_ns, &known));
    }
    known->open++;
    known->most = known->open > known->most ? known->open : known->most;
    return WIO_OK;
}

void wio_presence_end(struct wio_presence *presence, uint64_t client, uint64_t now_ns)
{
    struct wio_present_client *known = find(presence, client);
    if (known != NULL) {
        known->open -= known->open > 0;
        known->last_ns = now_ns > known->last_ns ? now_ns : known->last_ns;
    }
}

double wio_presence_seconds(const struct wio_presence *presence)
{
    double sum = 0;
    for (uint32_t i = 0; i < presence->count; i++) {
        const struct wio_present_client *client = &presence->clients[i];
        sum += (double)(client->last_ns - client->first_ns) / 1e9 * client->most;
    }
    return sum;
}
