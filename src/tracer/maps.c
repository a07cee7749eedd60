/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/maps.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define MAPS_MAX 65536u

void tracer_maps_fini(struct tracer_maps *maps)
{
    free(maps->items);
    *maps = (struct tracer_maps){0};
}

static bool overlaps(const struct tracer_map *map, uint64_t address, uint64_t size)
{
    return map->address < address + size && address < map->address + map->size;
}

static void append(struct tracer_maps *maps, const struct tracer_map *map)
{
    void *array = maps->items;
    if (map->size == 0 || maps->count >= MAPS_MAX ||
        wio_grow(&array, sizeof(*maps->items), &maps->capacity, maps->count + 1) != WIO_OK) {
        return;
    }
    maps->items = array;
    maps->items[maps->count++] = *map;
}

/* The part of `map` in [from, to). */
static struct tracer_map part_of(const struct tracer_map *map, uint64_t from, uint64_t to)
{
    struct tracer_map part = *map;
    part.address = from;
    part.size = to > from ? to - from : 0;
    part.offset += (int64_t)(from - map->address);
    return part;
}

void tracer_maps_remove(struct tracer_maps *maps, uint64_t address, uint64_t size)
{
    if (size == 0 || size > UINT64_MAX - address) {
        return;
    }
    const uint64_t end = address + size;
    const uint32_t count = maps->count;
    for (uint32_t i = count; i > 0; i--) {
        const struct tracer_map map = maps->items[i - 1];
        if (!overlaps(&map, address, size)) {
            continue;
        }
        maps->items[i - 1] = maps->items[--maps->count];
        if (map.address < address) {
            const struct tracer_map before = part_of(&map, map.address, address);
            append(maps, &before);
        }
        if (end < map.address + map.size) {
            const struct tracer_map behind = part_of(&map, end, map.address + map.size);
            append(maps, &behind);
        }
    }
}

void tracer_maps_add(struct tracer_maps *maps, const struct tracer_map *map)
{
    tracer_maps_remove(maps, map->address, map->size);
    append(maps, map);
}

const struct tracer_map *tracer_maps_first(const struct tracer_maps *maps, uint64_t address,
                                           uint64_t size)
{
    const struct tracer_map *first = NULL;
    for (uint32_t i = 0; i < maps->count && size <= UINT64_MAX - address; i++) {
        const struct tracer_map *map = &maps->items[i];
        if (overlaps(map, address, size) && (first == NULL || map->address < first->address)) {
            first = map;
        }
    }
    return first;
}

void tracer_maps_copy(struct tracer_maps *out, const struct tracer_maps *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        append(out, &from->items[i]);
    }
}
