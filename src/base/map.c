/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mix.h"

enum { EMPTY = 0, LIVE = 1, DELETED = 2 };

/* The live entry of the key, else NULL. There is always an empty entry, so the loop ends. */
static struct wio_map_entry *find(const struct wio_map *map, uint64_t key)
{
    if (map->capacity == 0) {
        return NULL;
    }
    size_t mask = map->capacity - 1;
    for (size_t i = wio_mix(key) & mask;; i = (i + 1) & mask) {
        struct wio_map_entry *entry = &map->entries[i];
        if (entry->state == EMPTY) {
            return NULL;
        }
        if (entry->state == LIVE && entry->key == key) {
            return entry;
        }
    }
}

static void insert_new(struct wio_map *map, uint64_t key, uint64_t value)
{
    size_t mask = map->capacity - 1;
    size_t i = wio_mix(key) & mask;
    while (map->entries[i].state == LIVE) {
        i = (i + 1) & mask;
    }
    map->used += map->entries[i].state == EMPTY ? 1 : 0;
    map->count++;
    map->entries[i] = (struct wio_map_entry){key, value, LIVE};
}

static enum wio_status rehash(struct wio_map *map, size_t capacity)
{
    struct wio_map fresh = {calloc(capacity, sizeof(*fresh.entries)), capacity, 0, 0};
    if (fresh.entries == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->entries[i].state == LIVE) {
            insert_new(&fresh, map->entries[i].key, map->entries[i].value);
        }
    }
    free(map->entries);
    *map = fresh;
    return WIO_OK;
}

/* Keep a quarter of the entries empty; deleted ones go when the table is made anew. */
static enum wio_status make_room(struct wio_map *map)
{
    if (map->capacity != 0 && map->used + 1 <= map->capacity - map->capacity / 4) {
        return WIO_OK;
    }
    size_t capacity = map->capacity == 0 ? 16 : map->capacity;
    if (map->count >= capacity / 2 && __builtin_mul_overflow(capacity, (size_t)2, &capacity)) {
        return WIO_ERR_NOMEM;
    }
    return rehash(map, capacity);
}

void wio_map_fini(struct wio_map *map)
{
    free(map->entries);
    *map = (struct wio_map){0};
}

uint64_t *wio_map_get(const struct wio_map *map, uint64_t key)
{
    struct wio_map_entry *entry = find(map, key);
    return entry == NULL ? NULL : &entry->value;
}

enum wio_status wio_map_put(struct wio_map *map, uint64_t key, uint64_t value)
{
    struct wio_map_entry *entry = find(map, key);
    if (entry != NULL) {
        entry->value = value;
        return WIO_OK;
    }
    WIO_TRY(make_room(map));
    insert_new(map, key, value);
    return WIO_OK;
}

bool wio_map_remove(struct wio_map *map, uint64_t key)
{
    struct wio_map_entry *entry = find(map, key);
    if (entry == NULL) {
        return false;
    }
    entry->state = DELETED;
    map->count--;
    return true;
}

struct wio_map_entry *wio_map_each(const struct wio_map *map, size_t *i)
{
    while (*i < map->capacity) {
        struct wio_map_entry *entry = &map->entries[(*i)++];
        if (entry->state == LIVE) {
            return entry;
        }
    }
    return NULL;
}
