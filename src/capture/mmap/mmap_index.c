/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/mmap/mmap_index.h"

#include "capture/core/hash.h"

#define BUCKETS 8192u /* a power of two */
#define SLOTS 15u     /* a bucket is a cache line */
#define LEVEL_MIN 12u /* the smallest page */

struct bucket {
    uint16_t spilled;      /* an entry of this bucket lies in the next one, or did */
    uint16_t used;         /* slots from here on were never used */
    uint32_t slots[SLOTS]; /* place + 1; 0 = free */
};

static struct bucket buckets[BUCKETS] __attribute__((aligned(64)));
static uint64_t levels; /* bit L: a map between 2^(L-1) and 2^L bytes was filed */

static unsigned level_of(size_t size)
{
    unsigned bits = size > 1 ? 64u - (unsigned)__builtin_clzll(size - 1) : 0;
    bits = bits < 63 ? bits : 63;
    return bits > LEVEL_MIN ? bits : LEVEL_MIN;
}

static uint32_t bucket_of(unsigned level, uintptr_t granule)
{
    return (uint32_t)cap_mix(level, granule) % BUCKETS;
}

/* Before a slot is filled: a walk that is to see what is in it must come so far. */
static void use(struct bucket *bucket, uint32_t slot)
{
    uint16_t used = __atomic_load_n(&bucket->used, __ATOMIC_RELAXED);
    while (used <= slot &&
           !__atomic_compare_exchange_n(&bucket->used, &used, (uint16_t)(slot + 1), false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
}

bool cap_index_put(uint32_t place, uintptr_t address, size_t size)
{
    unsigned level = level_of(size);
    uint32_t at = bucket_of(level, address >> level);
    (void)__atomic_fetch_or(&levels, 1ull << level, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < BUCKETS; i++, at = (at + 1) % BUCKETS) {
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            uint32_t expected = 0;
            uint32_t *entry = &buckets[at].slots[slot];
            if (__atomic_load_n(entry, __ATOMIC_RELAXED) != 0) {
                continue;
            }
            use(&buckets[at], slot);
            if (__atomic_compare_exchange_n(entry, &expected, place + 1, false, __ATOMIC_RELEASE,
                                            __ATOMIC_RELAXED)) {
                return true;
            }
        }
        __atomic_store_n(&buckets[at].spilled, 1, __ATOMIC_RELEASE);
    }
    return false;
}

static bool drop_from(struct bucket *bucket, uint32_t place)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        uint32_t expected = place + 1;
        if (__atomic_load_n(&bucket->slots[slot], __ATOMIC_RELAXED) == place + 1 &&
            __atomic_compare_exchange_n(&bucket->slots[slot], &expected, 0, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
            return true;
        }
    }
    return false;
}

void cap_index_drop(uint32_t place, uintptr_t address, size_t size)
{
    unsigned level = level_of(size);
    uint32_t at = bucket_of(level, address >> level);
    for (uint32_t i = 0; i < BUCKETS && !drop_from(&buckets[at], place); i++) {
        at = (at + 1) % BUCKETS;
    }
}

/* The granules of a level in which a map may begin that touches the range: one before it, too. */
static uintptr_t first_granule(const struct cap_index_walk *walk, unsigned level)
{
    uintptr_t granule = walk->lo >> level;
    return granule > 0 ? granule - 1 : 0;
}

static void enter_granule(struct cap_index_walk *walk)
{
    walk->bucket = bucket_of((unsigned)__builtin_ctzll(walk->levels), walk->granule);
    walk->slot = 0;
}

/* Is it less work to look at all places? */
static bool is_wide(const struct cap_index_walk *walk, uint32_t places)
{
    uint64_t granules = 0;
    for (uint64_t left = walk->levels; left != 0; left &= left - 1) {
        unsigned level = (unsigned)__builtin_ctzll(left);
        granules += (walk->last >> level) - first_granule(walk, level) + 1;
        if (granules >= places) {
            return true;
        }
    }
    return false;
}

struct cap_index_walk cap_index_begin(uintptr_t address, size_t size, uint32_t places)
{
    uintptr_t last = address + (size - 1);
    struct cap_index_walk walk = {.lo = address,
                                  .last = last >= address ? last : UINTPTR_MAX,
                                  .levels = __atomic_load_n(&levels, __ATOMIC_ACQUIRE)};
    if (places == 0) {
        walk.levels = 0;
    } else if (is_wide(&walk, places)) {
        walk.places = places;
    } else if (walk.levels != 0) {
        walk.granule = first_granule(&walk, (unsigned)__builtin_ctzll(walk.levels));
        enter_granule(&walk);
    }
    return walk;
}

/* To the next bucket; false = there is none. */
static bool step(struct cap_index_walk *walk)
{
    unsigned level = (unsigned)__builtin_ctzll(walk->levels);
    if (__atomic_load_n(&buckets[walk->bucket].spilled, __ATOMIC_ACQUIRE) != 0 &&
        walk->at++ < BUCKETS) {
        walk->bucket = (walk->bucket + 1) % BUCKETS;
        walk->slot = 0;
        return true;
    }
    walk->at = 0;
    if (walk->granule == walk->last >> level) {
        walk->levels &= walk->levels - 1;
        if (walk->levels == 0) {
            return false;
        }
        walk->granule = first_granule(walk, (unsigned)__builtin_ctzll(walk->levels));
    } else {
        walk->granule++;
    }
    enter_granule(walk);
    return true;
}

bool cap_index_next(struct cap_index_walk *walk, uint32_t *place_out)
{
    if (walk->places > 0) {
        *place_out = walk->at;
        return walk->at++ < walk->places;
    }
    if (walk->levels == 0) {
        return false;
    }
    do {
        const struct bucket *bucket = &buckets[walk->bucket];
        const uint32_t used = __atomic_load_n(&bucket->used, __ATOMIC_ACQUIRE);
        while (walk->slot < used) {
            uint32_t entry = __atomic_load_n(&bucket->slots[walk->slot++], __ATOMIC_ACQUIRE);
            if (entry != 0) {
                *place_out = entry - 1;
                return true;
            }
        }
    } while (step(walk));
    return false;
}
