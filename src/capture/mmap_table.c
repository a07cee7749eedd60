/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/mmap_table.h"

#include "capture/capture.h"
#include "capture/raw.h"

#define MAPS_MAX 4096u
#define ATTEMPTS_MAX 1000u /* to get at a map that another thread is cutting */

enum state { FREE, BUSY, LIVE };

/* The map is only written by who made the place BUSY. Who looks for a map takes no place that he
 * does not change: a place that is BUSY is not there for others, and they need their own maps. */
static struct place {
    struct cap_map map;
    uint32_t state; /* enum state */
    uint32_t moves; /* of the map's begin, twice: odd = its parts do not belong together now */
} places[MAPS_MAX];

static uint32_t place_count; /* places ever used */
static uint32_t splits;      /* how often a map was cut in two */
static uintptr_t lowest = UINTPTR_MAX;
static uintptr_t highest;

static bool change(struct place *place, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(&place->state, &from, to, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

static void set_state(struct place *place, uint32_t state)
{
    __atomic_store_n(&place->state, state, __ATOMIC_RELEASE);
}

static uint32_t used(void)
{
    return __atomic_load_n(&place_count, __ATOMIC_ACQUIRE);
}

/* Raise or lower a bound; they never shrink back, they only keep strangers out. */
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

void cap_maps_add(const struct cap_map *map)
{
    if (map->size == 0) {
        return;
    }
    widen(map);
    for (uint32_t i = 0; i < MAPS_MAX; i++) {
        bool is_free = __atomic_load_n(&places[i].state, __ATOMIC_RELAXED) == FREE;
        if (!is_free || !change(&places[i], FREE, BUSY)) {
            continue;
        }
        places[i].map = *map;
        set_state(&places[i], LIVE);
        uint32_t count = used();
        while (count < i + 1 && !__atomic_compare_exchange_n(&place_count, &count, i + 1, false,
                                                             __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        }
        return;
    }
    cap_unseen(WIO_UNSEEN_MANY_MAPS);
}

static bool is_outside(uintptr_t address, size_t size)
{
    return address >= __atomic_load_n(&highest, __ATOMIC_RELAXED) ||
           address + size <= __atomic_load_n(&lowest, __ATOMIC_RELAXED);
}

static bool does_touch(const struct cap_map *map, uintptr_t address, size_t size)
{
    return address >= map->address ? address - map->address < map->size
                                   : map->address - address < size;
}

/* The map's begin has not moved since, nor does it now. */
static bool has_kept(const struct place *place, uint32_t moves)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return moves % 2 == 0 && __atomic_load_n(&place->moves, __ATOMIC_RELAXED) == moves;
}

/* The map of a place, a copy, where the range touches it. Another thread that has the place is done
 * in a moment; a signal handler that interrupted this one waits in vain. */
static bool look(const struct place *place, uintptr_t address, size_t size, struct cap_map *map_out)
{
    for (unsigned i = 0; i < ATTEMPTS_MAX; i++) {
        uint32_t state = __atomic_load_n(&place->state, __ATOMIC_ACQUIRE);
        uint32_t moves = __atomic_load_n(&place->moves, __ATOMIC_ACQUIRE);
        if (state == FREE) {
            return false;
        }
        bool is_near = does_touch(&place->map, address, size);
        if (is_near) {
            *map_out = place->map;
        }
        bool is_whole = has_kept(place, moves);
        if (is_whole && !is_near) {
            return false;
        }
        if (is_whole && state == LIVE && __atomic_load_n(&place->state, __ATOMIC_RELAXED) == LIVE &&
            does_touch(map_out, address, size)) {
            return true;
        }
        raw_yield();
    }
    return false;
}

/* The place is ours to write, and the range touches its map. */
static bool take(struct place *place, uintptr_t address, size_t size)
{
    struct cap_map map;
    while (look(place, address, size, &map)) {
        if (!change(place, LIVE, BUSY)) {
            continue;
        }
        if (does_touch(&place->map, address, size)) {
            return true;
        }
        set_state(place, LIVE);
    }
    return false;
}

bool cap_maps_next(uint32_t *at, uintptr_t address, size_t size, struct cap_map *map_out)
{
    uint32_t count = used();
    while (*at < count) {
        if (look(&places[(*at)++], address, size, map_out)) {
            return true;
        }
    }
    return false;
}

bool cap_maps_find(uintptr_t address, struct cap_map *map_out)
{
    uint32_t at = 0;
    return !is_outside(address, 1) && cap_maps_next(&at, address, 1, map_out);
}

bool cap_maps_first(uintptr_t address, size_t size, struct cap_map *map_out)
{
    struct cap_map map;
    bool is_found = false;
    uint32_t at = 0;
    while (!is_outside(address, size) && cap_maps_next(&at, address, size, &map)) {
        if (!is_found || map.address < map_out->address) {
            *map_out = map;
        }
        is_found = true;
    }
    return is_found;
}

void cap_maps_unwatch(uintptr_t address)
{
    uint32_t count = used();
    for (uint32_t i = 0; i < count; i++) {
        if (take(&places[i], address, 1)) {
            places[i].map.is_watched = false;
            set_state(&places[i], LIVE);
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

static void move_begin(struct place *place, uintptr_t to)
{
    __atomic_store_n(&place->moves, place->moves + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    place->map = behind(&place->map, to);
    __atomic_store_n(&place->moves, place->moves + 1, __ATOMIC_RELEASE);
}

/* Cut [lo, hi) out of a map that is ours to write: what is left of it before or behind stays in its
 * place. True if there is both, and so the map is split: then what is behind stands in the table,
 * and `splits` says so, before the place is given back: who waits for the place to cut there, too,
 * looks again then. */
static bool cut(struct place *place, uintptr_t lo, uintptr_t hi)
{
    struct cap_map *map = &place->map;
    bool is_left_behind = hi < map->address + map->size;
    bool is_left_before = lo > map->address;
    if (is_left_behind && is_left_before) {
        const struct cap_map rest = behind(map, hi);
        cap_maps_add(&rest);
        (void)__atomic_fetch_add(&splits, 1, __ATOMIC_RELEASE);
    } else if (is_left_behind) {
        move_begin(place, hi);
    }
    if (is_left_before) {
        map->size = lo - map->address;
    }
    set_state(place, is_left_behind || is_left_before ? LIVE : FREE);
    return is_left_behind && is_left_before;
}

/* How many maps were split by it. */
static uint32_t cut_all(uintptr_t lo, uintptr_t hi)
{
    uint32_t own = 0;
    uint32_t count = used();
    for (uint32_t i = 0; i < count; i++) {
        if (take(&places[i], lo, hi - lo)) {
            own += cut(&places[i], lo, hi) ? 1 : 0;
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
    do { /* again where others have split a map meanwhile: a part of it may lie behind us */
        before = __atomic_load_n(&splits, __ATOMIC_ACQUIRE);
        own = cut_all(address, end);
    } while (__atomic_load_n(&splits, __ATOMIC_ACQUIRE) != before + own);
}

void cap_maps_move(uintptr_t address, size_t size, uintptr_t to, size_t new_size)
{
    struct cap_map map;
    if (!cap_maps_find(address, &map)) {
        return;
    }
    cap_maps_remove(address, size);
    map.offset += (int64_t)(address - map.address);
    map.address = to;
    map.origin = to;
    map.size = new_size;
    cap_maps_add(&map);
}
