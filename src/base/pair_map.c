/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pair_map.h"

#include <stddef.h>

#include "base/cleanup.h"

static const struct wio_hash_shape shape = {sizeof(struct wio_pair_map_entry), 2,
                                            offsetof(struct wio_pair_map_entry, is_used)};

void wio_pair_map_init(struct wio_pair_map *map, const struct wio_alloc *alloc)
{
    *map = (struct wio_pair_map){.alloc = *alloc};
}

void wio_pair_map_fini(struct wio_pair_map *map)
{
    map->alloc.put(map->alloc.context, map->hash.entries);
    *map = (struct wio_pair_map){.alloc = map->alloc};
}

uint32_t wio_pair_map_get(const struct wio_pair_map *map, uint64_t a, uint64_t b)
{
    const struct wio_pair_map_entry *entry = wio_hash_get(&shape, &map->hash, (uint64_t[]){a, b});
    return entry != NULL ? entry->value : WIO_NO_INDEX;
}

enum wio_status wio_pair_map_put(struct wio_pair_map *map, uint64_t a, uint64_t b, uint32_t value)
{
    void *place;
    WIO_TRY(wio_hash_insert(&shape, &map->hash, &map->alloc, (uint64_t[]){a, b}, &place));
    struct wio_pair_map_entry *entry = place;
    entry->value = value;
    return WIO_OK;
}

void wio_pair_map_remove(struct wio_pair_map *map, uint64_t a, uint64_t b)
{
    (void)wio_hash_remove(&shape, &map->hash, (uint64_t[]){a, b});
}
