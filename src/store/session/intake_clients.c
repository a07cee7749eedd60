/* SPDX-License-Identifier: Apache-2.0 */
/* Connections of an admission: as whose requests theirs count. */
#include <stdlib.h>
#include <string.h>

#include "admit/negotiate.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "store/session/intake_internal.h"

enum { NAMES_MAX = 1 << 14 };

void wio_intake_offer(struct wio_wire_features *features)
{
    features->bits[WIO_INTAKE_CLASS] |= WIO_ADMIT_FEATURES << WIO_INTAKE_SHIFT;
    features->bits[WIO_INTAKE_PUSH_CLASS] |= WIO_INTAKE_PUSH_FEATURE;
}

uint32_t wio_intake_features(const struct wio_link *link)
{
    const struct wio_wire_features *both = wio_link_features(link);
    uint32_t features = both->bits[WIO_INTAKE_CLASS] >> WIO_INTAKE_SHIFT & WIO_ADMIT_FEATURES;
    bool has_push = (both->bits[WIO_INTAKE_PUSH_CLASS] & WIO_INTAKE_PUSH_FEATURE) != 0;
    return has_push ? features : features & ~WIO_ADMIT_FEATURE_CREDIT;
}

/* FNV-1a: two names with one number share their turn, no more. */
uint32_t wio_intake_job(const char *name)
{
    uint32_t hash = UINT32_C(2166136261);
    if (name[0] == '\0') {
        return 0;
    }
    for (const char *at = name; *at != '\0'; at++) {
        hash = (hash ^ (unsigned char)*at) * UINT32_C(16777619);
    }
    return hash == 0 || hash == WIO_RULE_ANY ? 1 : hash;
}

const char *wio_intake_job_name(const struct wio_intake *intake, uint32_t job)
{
    const uint64_t *id = wio_map_get(&intake->name_of, job);
    return id != NULL ? wio_strtab_get(&intake->names, (uint32_t)*id, NULL) : NULL;
}

/* For people: without memory it has none. */
static void note_name(struct wio_intake *intake, uint32_t job, const char *name)
{
    uint32_t id = 0;
    if (job != 0 && intake->names.count < NAMES_MAX && wio_map_get(&intake->name_of, job) == NULL &&
        wio_strtab_add(&intake->names, name, strlen(name), &id) == WIO_OK) {
        (void)!wio_map_put(&intake->name_of, job, id);
    }
}

void intake_names_fini(struct wio_intake *intake)
{
    wio_strtab_fini(&intake->names);
    wio_map_fini(&intake->name_of);
}

struct wio_intake_client *intake_client_at(const struct wio_intake *intake, uint32_t number)
{
    return number < intake->clients_room ? intake->clients[number] : NULL;
}

static bool place(struct wio_intake *intake, struct wio_intake_client *client)
{
    if (wio_grow((void **)&intake->clients, sizeof(struct wio_intake_client *),
                 &intake->clients_room, client->number + 1) != WIO_OK) {
        return false;
    }
    intake->clients[client->number] = client;
    return true;
}

/* Whose requests are a client's: of its job, or of its user. */
static void identify(struct wio_intake *intake, struct wio_intake_client *client,
                     const struct wio_wire_hello *hello)
{
    client->pool = hello->pool;
    client->container = hello->container;
    client->uid = hello->uid;
    client->gid = hello->gid;
    client->job = wio_intake_job(hello->job);
    client->project = wio_intake_job(hello->project);
    note_name(intake, client->job, hello->job);
}

void wio_intake_join(struct wio_intake *intake, struct wio_intake_client *client,
                     struct wio_link *link, void *user, uint64_t now_ns)
{
    const struct wio_wire_hello *hello = wio_link_hello(link);
    client->link = link;
    client->user = user;
    client->is_there = true;
    client->number = WIO_ADMIT_NONE;
    client->features = wio_intake_features(link);
    TAILQ_INIT(&client->waiting);
    identify(intake, client, hello);
    const struct wio_admit_identity identity = {.address = hello->client,
                                                .features = client->features};
    if (hello->role != WIO_WIRE_ROLE_CLIENT ||
        wio_admit_join(intake->shard, &identity, now_ns, &client->number) != WIO_OK) {
        client->number = WIO_ADMIT_NONE;
    } else if (!place(intake, client)) {
        wio_admit_leave(intake->shard, client->number);
        client->number = WIO_ADMIT_NONE;
    }
}

void wio_intake_leave(struct wio_intake *intake, struct wio_intake_client *client)
{
    struct wio_intake_waiting *item;
    if (!client->is_there) {
        return;
    }
    client->is_there = false;
    TAILQ_FOREACH(item, &client->waiting, by_client)
    {
        for (struct wio_intake_waiting *at = item; at != NULL; at = at->behind) {
            at->client = NULL;
        }
    }
    if (client->number != WIO_ADMIT_NONE) {
        intake->clients[client->number] = NULL;
        wio_admit_leave(intake->shard, client->number);
    }
    if (intake->running.client == client) {
        intake->running.client = NULL;
    }
}

void intake_free_all(struct wio_intake_waiting *item)
{
    while (item != NULL) {
        struct wio_intake_waiting *next = item->behind;
        free(item);
        item = next;
    }
}

struct wio_admit *wio_intake_shard(struct wio_intake *intake)
{
    return intake->shard;
}
