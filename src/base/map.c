/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/cleanup.h"

static const struct wio_hash_shape shape = {sizeof(struct wio_map_entry), 1,
                                            offsetof(struct wio_map_entry, is_used)};
static const struct wio_alloc heap = {wio_alloc_heap_get, wio_alloc_heap_put, NULL};

void wio_map_fini(struct wio_map *map)
{
    free(map->hash.entries);
    *map = (struct wio_map){0};
}

uint64_t *wio_map_get(const struct wio_map *map, uint64_t key)
{
    struct wio_map_entry *entry = wio_hash_get(&shape, &map->hash, &key);
    return entry == NULL ? NULL : &entry->value;
}

enum wio_status wio_map_put(struct wio_map *map, uint64_t key, uint64_t value)
{
    void *place;
    WIO_TRY(wio_hash_insert(&shape, &map->hash, &heap, &key, &place));
    struct wio_map_entry *entry = place;
    entry->value = value;
    return WIO_OK;
}

bool wio_map_remove(struct wio_map *map, uint64_t key)
{
    return wio_hash_remove(&shape, &map->hash, &key);
}

struct wio_map_entry *wio_map_each(const struct wio_map *map, size_t *i)
{
    while (*i < map->hash.room) {
        struct wio_map_entry *entry = wio_hash_at(&shape, &map->hash, (*i)++);
        if (entry->is_used) {
            return entry;
        }
    }
    return NULL;
}
