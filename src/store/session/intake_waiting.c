/* SPDX-License-Identifier: Apache-2.0 */
#include "store/session/intake_waiting.h"

#include <stdlib.h>
#include <string.h>

static size_t list_bytes(const struct wio_store_request *request)
{
    return request->participant_count * sizeof(*request->participants);
}

size_t wio_intake_copy_bytes(const struct wio_store_request *request)
{
    return sizeof(struct wio_intake_waiting) + list_bytes(request) + request->data_size +
           request->path_size + request->path2_size;
}

/* The next bytes of the copy; NULL where there are none. */
static void *put(uint8_t **room, const void *bytes, size_t size)
{
    uint8_t *at = *room;
    if (size == 0) {
        return NULL;
    }
    memcpy(at, bytes, size);
    *room += size;
    return at;
}

struct wio_intake_waiting *wio_intake_copy(const struct wio_store_request *request)
{
    size_t bytes = wio_intake_copy_bytes(request);
    struct wio_intake_waiting *item = malloc(bytes);
    if (item == NULL) {
        return NULL;
    }
    *item = (struct wio_intake_waiting){.request = *request, .bytes = bytes};
    uint8_t *room = (uint8_t *)(item + 1);
    item->request.participants = put(&room, request->participants, list_bytes(request));
    item->request.data = put(&room, request->data, request->data_size);
    item->request.path = put(&room, request->path, request->path_size);
    item->request.path2 = put(&room, request->path2, request->path2_size);
    return item;
}

static bool is_same_attempt(const struct wio_store_request *a, const struct wio_store_request *b)
{
    return a->txn.number == b->txn.number && a->txn.attempt == b->txn.attempt;
}

struct wio_intake_waiting *wio_intake_ahead(const struct wio_intake_client *client,
                                            const struct wio_store_request *request)
{
    struct wio_intake_waiting *item;
    TAILQ_FOREACH(item, &client->waiting, by_client)
    {
        if (is_same_attempt(&item->request, request)) {
            return item;
        }
    }
    return NULL;
}

struct wio_intake_waiting *wio_intake_lock_ahead(const struct wio_intake_client *client)
{
    struct wio_intake_waiting *last = NULL;
    struct wio_intake_waiting *item;
    TAILQ_FOREACH(item, &client->waiting, by_client)
    {
        last = item->request.op == WIO_STORE_LOCK ? item : last;
    }
    return last;
}

static uint32_t find(const struct wio_intake_client *client,
                     const struct wio_store_request *request)
{
    uint32_t i = 0;
    while (i < client->refused_count && (client->refused[i].number != request->txn.number ||
                                         client->refused[i].attempt != request->txn.attempt)) {
        i++;
    }
    return i;
}

bool wio_intake_was_refused(const struct wio_intake_client *client,
                            const struct wio_store_request *request)
{
    return find(client, request) < client->refused_count;
}

void wio_intake_note_refused(struct wio_intake_client *client,
                             const struct wio_store_request *request)
{
    uint32_t at = find(client, request);
    if (at < client->refused_count) {
        return;
    }
    if (at == WIO_INTAKE_REFUSED) { /* the oldest goes: what follows it is aborted, no more */
        memmove(client->refused, client->refused + 1,
                (WIO_INTAKE_REFUSED - 1) * sizeof(client->refused[0]));
        at--;
        client->refused_count--;
    }
    client->refused[at] = (struct wio_intake_refused){request->txn.number, request->txn.attempt};
    client->refused_count++;
}

void wio_intake_note_accepted(struct wio_intake_client *client,
                              const struct wio_store_request *request)
{
    uint32_t at = find(client, request);
    if (at < client->refused_count) {
        client->refused[at] = client->refused[--client->refused_count];
    }
}
