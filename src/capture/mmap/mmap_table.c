/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/mmap/mmap_table.h"

#include <sys/auxv.h>

#include "capture/mmap/mmap_index.h"
#include "capture/mmap/mmap_place.h"

uint64_t cap_whole_pages(uint64_t bytes)
{
    const uint64_t page = getauxval(AT_PAGESZ);
    return (bytes + page - 1) & ~(page - 1);
}

static uintptr_t lowest = UINTPTR_MAX;
static uintptr_t highest;

/* Raise or lower a bound; they never shrink back, they only turn far addresses away. */
static void widen(const struct cap_map *map)
{
    uintptr_t low = __atomic_load_n(&lowest, __ATOMIC_RELAXED);
    while (map->address < low && !__atomic_compare_exchange_n(&lowest, &low, map->address, false,
                                                              __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    uintptr_t high = __atomic_load_n(&highest, __ATOMIC_RELAXED);
    uintptr_t end = map->address + map->size;
    while (end > high && !__atomic_compare_exchange_n(&highest, &high, end, false, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED)) {
    }
}

static bool is_outside(uintptr_t address, size_t size)
{
    return address >= __atomic_load_n(&highest, __ATOMIC_RELAXED) ||
           address + size <= __atomic_load_n(&lowest, __ATOMIC_RELAXED);
}

void cap_maps_add(const struct cap_map *map)
{
    if (map->size > 0) {
        widen(map);
        cap_place_add(map);
    }
}

/* ---- looking --------------------------------------------------------------------------------- */

/* All maps that touch a range, each as it was at some moment of the walk. */
struct map_scan {
    struct cap_index_walk walk;
    uintptr_t address;
    size_t size;
};

static struct map_scan scan_begin(uintptr_t address, size_t size)
{
    return (struct map_scan){cap_index_begin(address, size, cap_places_used()), address, size};
}

static bool scan_next(struct map_scan *scan, struct cap_place_view *out)
{
    uint32_t place;
    while (cap_index_next(&scan->walk, &place)) {
        if (cap_place_look(place, scan->address, scan->size, out)) {
            return true;
        }
    }
    return false;
}

bool cap_maps_next(uint32_t *at, uintptr_t address, size_t size, struct cap_map *map_out)
{
    struct cap_place_view view;
    uint32_t count = cap_places_used();
    while (*at < count) {
        if (cap_place_look((*at)++, address, size, &view) && (view.map.kinds & CAP_MAP_FILE) != 0) {
            *map_out = view.map;
            return true;
        }
    }
    return false;
}

static bool find_once(uintptr_t address, unsigned kinds, struct cap_map *map_out)
{
    struct map_scan scan = scan_begin(address, 1);
    struct cap_place_view view;
    while (scan_next(&scan, &view)) {
        if ((view.map.kinds & kinds) != 0) {
            *map_out = view.map;
            return true;
        }
    }
    return false;
}

bool cap_maps_find(uintptr_t address, unsigned kinds, struct cap_map *map_out)
{
    uint32_t before;
    bool is_found;
    do { /* a map that was cut meanwhile may lie in a place that was passed */
        before = cap_place_cuts();
        is_found = !is_outside(address, 1) && find_once(address, kinds, map_out);
    } while (!is_found && cap_place_cuts() != before);
    return is_found;
}

static bool first_once(uintptr_t address, size_t size, unsigned kinds, struct cap_map *map_out)
{
    struct map_scan scan = scan_begin(address, size);
    struct cap_place_view view;
    bool is_found = false;
    while (scan_next(&scan, &view)) {
        bool is_one = (view.map.kinds & kinds) != 0;
        if (is_one && (!is_found || view.map.address < map_out->address)) {
            *map_out = view.map;
            is_found = true;
        }
    }
    return is_found;
}

bool cap_maps_first(uintptr_t address, size_t size, unsigned kinds, struct cap_map *map_out)
{
    uint32_t before;
    bool is_found;
    do {
        before = cap_place_cuts();
        is_found = !is_outside(address, size) && first_once(address, size, kinds, map_out);
    } while (!is_found && cap_place_cuts() != before);
    return is_found;
}

/* ---- changing -------------------------------------------------------------------------------- */

void cap_maps_unwatch(uintptr_t address)
{
    struct map_scan scan = scan_begin(address, 1);
    struct cap_place_view view;
    while (scan_next(&scan, &view)) {
        while (view.map.is_watched) {
            struct cap_map map = view.map;
            map.is_watched = false;
            if (cap_place_replace(&view, &map, 1) ||
                !cap_place_look(view.place, address, 1, &view)) {
                break;
            }
        }
    }
}

/* What a map has behind `hi`, which lies in it. */
static struct cap_map behind(const struct cap_map *map, uintptr_t hi)
{
    struct cap_map rest = *map;
    rest.offset += (int64_t)(hi - map->address);
    rest.address = hi;
    rest.size = map->size - (hi - map->address);
    return rest;
}

/* Cut [lo, hi) out of a map that was seen. How many cuts it counts as. */
static uint32_t cut(const struct cap_place_view *seen, uintptr_t lo, uintptr_t hi)
{
    const struct cap_map *map = &seen->map;
    struct cap_map parts[2];
    unsigned count = 0;
    if (lo > map->address) {
        parts[count] = *map;
        parts[count++].size = lo - map->address;
    }
    if (hi < map->address + map->size) {
        parts[count++] = behind(map, hi);
    }
    (void)cap_place_replace(seen, parts, count);
    return count > 0 ? 1 : 0;
}

/* How many cuts it took. */
static uint32_t cut_all(uintptr_t lo, uintptr_t hi)
{
    struct map_scan scan = scan_begin(lo, hi - lo);
    struct cap_place_view view;
    uint32_t place;
    uint32_t own = 0;
    while (cap_index_next(&scan.walk, &place)) {
        while (cap_place_look(place, lo, hi - lo, &view)) {
            own += cut(&view, lo, hi);
        }
    }
    return own;
}

void cap_maps_remove(uintptr_t address, size_t size)
{
    uintptr_t end = address + size;
    if (end <= address || is_outside(address, size)) { /* the kernel refuses what goes round */
        return;
    }
    uint32_t before;
    uint32_t own;
    do { /* again where others have cut a map meanwhile: a part of it may lie behind the scan */
        before = cap_place_cuts();
        own = cut_all(address, end);
    } while (cap_place_cuts() != before + own);
}
