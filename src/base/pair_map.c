/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pair_map.h"

#include "base/cleanup.h"
#include "base/mix.h"

#define ROOM_FIRST 32

void wio_pair_map_init(struct wio_pair_map *map, const struct wio_alloc *alloc)
{
    *map = (struct wio_pair_map){.alloc = *alloc};
}

void wio_pair_map_fini(struct wio_pair_map *map)
{
    map->alloc.put(map->alloc.context, map->entries);
    *map = (struct wio_pair_map){.alloc = map->alloc};
}

static size_t home(const struct wio_pair_map *map, uint64_t a, uint64_t b)
{
    return wio_mix(wio_mix(a + WIO_MIX_STEP) + b) & (map->room - 1);
}

/* Where the key is, or the free place where it would be. */
static size_t place(const struct wio_pair_map *map, uint64_t a, uint64_t b)
{
    size_t i = home(map, a, b);
    while (map->entries[i].is_used &&
           (map->entries[i].key[0] != a || map->entries[i].key[1] != b)) {
        i = (i + 1) & (map->room - 1);
    }
    return i;
}

static enum wio_status grow(struct wio_pair_map *map)
{
    struct wio_pair_map old = *map;
    map->room = old.room > 0 ? old.room * 2 : ROOM_FIRST;
    map->entries = wio_alloc_array(&map->alloc, map->room, sizeof(*map->entries));
    if (map->entries == NULL) {
        *map = old;
        return WIO_ERR_NOMEM;
    }
    for (size_t i = 0; i < old.room; i++) {
        if (old.entries[i].is_used) {
            map->entries[place(map, old.entries[i].key[0], old.entries[i].key[1])] = old.entries[i];
        }
    }
    map->alloc.put(map->alloc.context, old.entries);
    return WIO_OK;
}

uint32_t wio_pair_map_get(const struct wio_pair_map *map, uint64_t a, uint64_t b)
{
    if (map->count == 0) {
        return WIO_NO_INDEX;
    }
    const struct wio_pair_map_entry *entry = &map->entries[place(map, a, b)];
    return entry->is_used ? entry->value : WIO_NO_INDEX;
}

enum wio_status wio_pair_map_put(struct wio_pair_map *map, uint64_t a, uint64_t b, uint32_t value)
{
    if ((map->count + 1) * 2 > map->room) {
        WIO_TRY(grow(map));
    }
    struct wio_pair_map_entry *entry = &map->entries[place(map, a, b)];
    map->count += entry->is_used ? 0 : 1;
    *entry = (struct wio_pair_map_entry){{a, b}, value, true};
    return WIO_OK;
}

/* What stands behind the gap moves up, unless that is before its home. */
void wio_pair_map_remove(struct wio_pair_map *map, uint64_t a, uint64_t b)
{
    if (map->count == 0) {
        return;
    }
    size_t mask = map->room - 1;
    size_t gap = place(map, a, b);
    if (!map->entries[gap].is_used) {
        return;
    }
    map->count--;
    map->entries[gap].is_used = false;
    for (size_t i = (gap + 1) & mask; map->entries[i].is_used; i = (i + 1) & mask) {
        size_t at = home(map, map->entries[i].key[0], map->entries[i].key[1]);
        if (((i - at) & mask) >= ((i - gap) & mask)) {
            map->entries[gap] = map->entries[i];
            map->entries[i].is_used = false;
            gap = i;
        }
    }
}
