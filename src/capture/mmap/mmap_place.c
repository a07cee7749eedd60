/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/mmap/mmap_place.h"

#include <sys/mman.h>

#include "capture/core/capture.h"
#include "capture/core/raw.h"
#include "capture/mmap/mmap_index.h"

#define BLOCK 1024u
#define BLOCKS 80u /* more than CAP_MAPS_MAX: room for what a cut leaves when the table is full */

enum place_state { FREE, FILLING, LIVE, PART, DEAD };
#define STATE_BITS 3u

struct map_place {
    uint64_t word; /* atomic: enum place_state, and above it a number that no other operation has */
    struct cap_map map; /* written while FILLING */
    uint32_t whole;     /* of a PART: the place of what it is cut from */
    uint32_t next_free; /* place + 1 */
};

static struct map_place *blocks[BLOCKS]; /* atomic */
static uint32_t place_count;             /* atomic: ever used */
static uint64_t free_places;             /* atomic: count of changes in the high half, place + 1 */
static uint32_t lives;                   /* atomic: places that are not free */
static uint32_t cuts;                    /* atomic */
static uint64_t operations;              /* atomic */
static bool has_lost_shared;             /* atomic */

static struct map_place *place_at(uint32_t place)
{
    return &__atomic_load_n(&blocks[place / BLOCK], __ATOMIC_ACQUIRE)[place % BLOCK];
}

static uint64_t load(const struct map_place *place)
{
    return __atomic_load_n(&place->word, __ATOMIC_ACQUIRE);
}

static bool change(struct map_place *place, uint64_t from, uint64_t to)
{
    return __atomic_compare_exchange_n(&place->word, &from, to, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_RELAXED);
}

static enum place_state state_of(uint64_t word)
{
    return (enum place_state)(word & ((1u << STATE_BITS) - 1));
}

static uint64_t with_state(uint64_t word, enum place_state state)
{
    return (word >> STATE_BITS << STATE_BITS) | state;
}

static uint64_t new_operation(void)
{
    return (__atomic_fetch_add(&operations, 1, __ATOMIC_RELAXED) + 1) << STATE_BITS;
}

uint32_t cap_places_used(void)
{
    return __atomic_load_n(&place_count, __ATOMIC_ACQUIRE);
}

uint32_t cap_place_cuts(void)
{
    return __atomic_load_n(&cuts, __ATOMIC_SEQ_CST);
}

/* ---- taking and giving back ------------------------------------------------------------------ */

static bool make_block(uint32_t block)
{
    struct map_place *expected = NULL;
    if (__atomic_load_n(&blocks[block], __ATOMIC_ACQUIRE) != NULL) {
        return true;
    }
    struct map_place *fresh = raw_mmap(BLOCK * sizeof(struct map_place), PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == NULL) {
        return false;
    }
    if (!__atomic_compare_exchange_n(&blocks[block], &expected, fresh, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        (void)raw_munmap(fresh, BLOCK * sizeof(struct map_place));
    }
    return true;
}

static bool take_used(uint32_t *place_out)
{
    uint64_t head = __atomic_load_n(&free_places, __ATOMIC_ACQUIRE);
    while ((uint32_t)head != 0) {
        const struct map_place *place = place_at((uint32_t)head - 1);
        uint32_t next = __atomic_load_n(&place->next_free, __ATOMIC_RELAXED);
        if (__atomic_compare_exchange_n(&free_places, &head, ((head >> 32) + 1) << 32 | next, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            *place_out = (uint32_t)head - 1;
            return true;
        }
    }
    return false;
}

static bool take_new(uint32_t *place_out)
{
    uint32_t count = cap_places_used();
    do {
        if (count == BLOCK * BLOCKS || !make_block(count / BLOCK)) {
            return false;
        }
    } while (!__atomic_compare_exchange_n(&place_count, &count, count + 1, false, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE));
    *place_out = count;
    return true;
}

static void give_back(uint32_t at)
{
    struct map_place *place = place_at(at);
    cap_index_drop(at, place->map.address, place->map.size);
    __atomic_store_n(&place->word, FREE, __ATOMIC_RELEASE);
    (void)__atomic_fetch_sub(&lives, 1, __ATOMIC_RELAXED);
    uint64_t head = __atomic_load_n(&free_places, __ATOMIC_RELAXED);
    do {
        __atomic_store_n(&place->next_free, (uint32_t)head, __ATOMIC_RELAXED);
    } while (!__atomic_compare_exchange_n(&free_places, &head, ((head >> 32) + 1) << 32 | (at + 1),
                                          false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
}

static void lose(const struct cap_map *map)
{
    if ((map->kinds & CAP_MAP_FILE) != 0) {
        cap_unseen(WIO_UNSEEN_MANY_MAPS);
    }
    if ((map->kinds & CAP_MAP_SHARED) != 0) {
        __atomic_store_n(&has_lost_shared, true, __ATOMIC_RELAXED);
    }
}

/* A place that is FILLING, with the map in it. */
static bool take(const struct cap_map *map, bool is_needed, uint32_t *place_out)
{
    uint32_t before = __atomic_fetch_add(&lives, 1, __ATOMIC_RELAXED);
    bool has_room = before < CAP_MAPS_MAX || is_needed;
    if (!has_room || (!take_used(place_out) && !take_new(place_out))) {
        (void)__atomic_fetch_sub(&lives, 1, __ATOMIC_RELAXED);
        lose(map);
        return false;
    }
    struct map_place *place = place_at(*place_out);
    __atomic_store_n(&place->word, FILLING, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE); /* before the map's parts: see look_once */
    place->map = *map;
    if (!cap_index_put(*place_out, map->address, map->size)) {
        give_back(*place_out);
        lose(map);
        return false;
    }
    return true;
}

void cap_place_add(const struct cap_map *map)
{
    uint32_t at;
    if (take(map, false, &at)) {
        __atomic_store_n(&place_at(at)->word, new_operation() | LIVE, __ATOMIC_RELEASE);
    }
}

bool cap_places_have_lost_shared(void)
{
    return __atomic_load_n(&has_lost_shared, __ATOMIC_RELAXED);
}

/* ---- looking --------------------------------------------------------------------------------- */

static bool does_touch(const struct cap_map *map, uintptr_t address, size_t size)
{
    return address >= map->address ? address - map->address < map->size
                                   : map->address - address < size;
}

enum place_look { NOTHING, FOUND, NOT_YET, AGAIN };

/* NOT_YET: out->place is the whole of which this is to be a part. */
static enum place_look look_once(uint32_t at, uintptr_t address, size_t size,
                                 struct cap_place_view *out)
{
    const struct map_place *place = place_at(at);
    const uint64_t word = load(place);
    const enum place_state state = state_of(word);
    if (state != LIVE && state != PART) {
        return NOTHING;
    }
    const bool is_near = does_touch(&place->map, address, size);
    const uint32_t whole = state == PART ? __atomic_load_n(&place->whole, __ATOMIC_RELAXED) : 0;
    const bool is_there = state == LIVE || load(place_at(whole)) == with_state(word, DEAD);
    if (is_near) {
        out->map = place->map;
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (load(place) != word) {
        return AGAIN;
    }
    out->place = is_there ? at : whole;
    out->word = word;
    return !is_there ? NOT_YET : is_near ? FOUND : NOTHING;
}

bool cap_place_look(uint32_t place, uintptr_t address, size_t size, struct cap_place_view *out)
{
    for (;;) {
        enum place_look look = look_once(place, address, size, out);
        if (look == NOT_YET) {
            const uint64_t part = out->word;
            const uint32_t whole = out->place;
            do {
                look = look_once(whole, address, size, out);
            } while (look == AGAIN);
            if (look == FOUND) {
                return true;
            }
            const bool has_come = load(place_at(whole)) == with_state(part, DEAD);
            look = has_come || load(place_at(place)) != part ? AGAIN : NOTHING;
        }
        if (look != AGAIN) {
            return look == FOUND;
        }
    }
}

/* ---- replacing ------------------------------------------------------------------------------- */

/* The parts that found room. */
struct parts {
    uint32_t places[2];
    unsigned count;
};

static void prepare(struct parts *parts, const struct cap_map *map, uint32_t whole,
                    uint64_t operation)
{
    uint32_t at;
    if (take(map, parts->count == 0, &at)) {
        __atomic_store_n(&place_at(at)->whole, whole, __ATOMIC_RELAXED);
        __atomic_store_n(&place_at(at)->word, operation | PART, __ATOMIC_RELEASE);
        parts->places[parts->count++] = at;
    }
}

/* They stand for themselves now, or have been cut since. */
static void settle(const struct parts *parts, uint64_t operation)
{
    for (unsigned i = 0; i < parts->count; i++) {
        (void)change(place_at(parts->places[i]), operation | PART, operation | LIVE);
    }
}

bool cap_place_replace(const struct cap_place_view *seen, const struct cap_map *maps,
                       unsigned count)
{
    struct map_place *place = place_at(seen->place);
    struct parts parts = {.count = 0};
    const uint64_t operation = new_operation();
    for (unsigned i = 0; i < count; i++) {
        prepare(&parts, &maps[i], seen->place, operation);
    }
    if (count > 0) {
        (void)__atomic_fetch_add(&cuts, 1, __ATOMIC_SEQ_CST);
    }
    if (!change(place, seen->word, operation | DEAD)) {
        for (unsigned i = 0; i < parts.count; i++) {
            give_back(parts.places[i]);
        }
        return false;
    }
    settle(&parts, operation);
    give_back(seen->place);
    return true;
}
