/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hash table below map.h, pair_map.h and causal/core/table.h: open addressing with linear
 * probing; what is removed leaves no mark behind. They differ in their entries, which a shape
 * describes; where the shape is a constant the compiler makes of these functions what would be
 * written by hand for it. Not thread safe. Pure.
 *
 * Knuth, The Art of Computer Programming, volume 3, 6.4, algorithms L and R.
 */
#ifndef WIO_BASE_HASH_H
#define WIO_BASE_HASH_H

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/memory.h"
#include "base/mix.h"

#define WIO_HASH_ROOM_FIRST 16

/* An entry begins with its key, `words` of 64 bits. */
struct wio_hash_shape {
    size_t bytes;   /* of an entry */
    size_t words;   /* of its key */
    size_t used_at; /* offset of its bool: there is something in it */
};

/* Zero-initialise. */
struct wio_hash {
    unsigned char *entries;
    size_t room; /* a power of two, or 0 */
    size_t count;
};

#define WIO_HASH_INLINE __attribute__((always_inline)) static inline

WIO_HASH_INLINE void *wio_hash_at(const struct wio_hash_shape *shape, const struct wio_hash *hash,
                                  size_t place)
{
    return hash->entries + place * shape->bytes;
}

WIO_HASH_INLINE bool *wio_hash_used(const struct wio_hash_shape *shape, const struct wio_hash *hash,
                                    size_t place)
{
    return (bool *)(hash->entries + place * shape->bytes + shape->used_at);
}

/* Where the search for a key begins. */
WIO_HASH_INLINE size_t wio_hash_home(const struct wio_hash_shape *shape,
                                     const struct wio_hash *hash, const uint64_t *key)
{
    uint64_t mixed = wio_mix(key[0]);
    for (size_t i = 1; i < shape->words; i++) {
        mixed = wio_mix(mixed + key[i] + WIO_MIX_STEP);
    }
    return mixed & (hash->room - 1);
}

WIO_HASH_INLINE bool wio_hash_has(const struct wio_hash_shape *shape, const struct wio_hash *hash,
                                  size_t place, const uint64_t *key)
{
    const uint64_t *other = wio_hash_at(shape, hash, place);
    bool is_same = true;
    for (size_t i = 0; i < shape->words; i++) {
        is_same = is_same && other[i] == key[i];
    }
    return is_same;
}

/* Where the key is, or the free place where it would be. There must be room. */
WIO_HASH_INLINE size_t wio_hash_place(const struct wio_hash_shape *shape,
                                      const struct wio_hash *hash, const uint64_t *key)
{
    size_t place = wio_hash_home(shape, hash, key);
    while (*wio_hash_used(shape, hash, place) && !wio_hash_has(shape, hash, place, key)) {
        place = (place + 1) & (hash->room - 1);
    }
    return place;
}

/* The entry of the key, or NULL. Valid until the next insertion or removal. */
WIO_HASH_INLINE void *wio_hash_get(const struct wio_hash_shape *shape, const struct wio_hash *hash,
                                   const uint64_t *key)
{
    if (hash->count == 0) {
        return NULL;
    }
    size_t place = wio_hash_place(shape, hash, key);
    return *wio_hash_used(shape, hash, place) ? wio_hash_at(shape, hash, place) : NULL;
}

/* WIO_ERR_NOMEM: the table is as before. */
WIO_MUST_CHECK WIO_HASH_INLINE enum wio_status wio_hash_grow(const struct wio_hash_shape *shape,
                                                             struct wio_hash *hash,
                                                             const struct wio_alloc *alloc)
{
    struct wio_hash wider = {NULL, WIO_HASH_ROOM_FIRST, hash->count};
    if (hash->room > 0 && __builtin_mul_overflow(hash->room, (size_t)2, &wider.room)) {
        return WIO_ERR_NOMEM;
    }
    wider.entries = wio_alloc_array(alloc, wider.room, shape->bytes);
    if (wider.entries == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (size_t i = 0; i < hash->room; i++) {
        if (*wio_hash_used(shape, hash, i)) {
            const void *entry = wio_hash_at(shape, hash, i);
            size_t place = wio_hash_place(shape, &wider, entry);
            memcpy(wio_hash_at(shape, &wider, place), entry, shape->bytes);
        }
    }
    alloc->put(alloc->context, hash->entries);
    *hash = wider;
    return WIO_OK;
}

/*
 * The entry of the key; hash->count has grown where it is new: its members but the key are zero
 * then. A third of the places stays free. WIO_ERR_NOMEM: the table is as before.
 */
WIO_MUST_CHECK WIO_HASH_INLINE enum wio_status
wio_hash_insert(const struct wio_hash_shape *shape, struct wio_hash *hash,
                const struct wio_alloc *alloc, const uint64_t *key, void **entry_out)
{
    if (hash->count + 1 > hash->room / 3 * 2) {
        enum wio_status status = wio_hash_grow(shape, hash, alloc);
        if (status != WIO_OK) {
            return status;
        }
    }
    size_t place = wio_hash_place(shape, hash, key);
    void *entry = wio_hash_at(shape, hash, place);
    bool *is_used = wio_hash_used(shape, hash, place);
    if (!*is_used) {
        memset(entry, 0, shape->bytes);
        memcpy(entry, key, shape->words * sizeof(*key));
        *is_used = true;
        hash->count++;
    }
    *entry_out = entry;
    return WIO_OK;
}

/* What stands behind the gap moves up, unless that is before its home. False: it was not there. */
WIO_HASH_INLINE bool wio_hash_remove(const struct wio_hash_shape *shape, struct wio_hash *hash,
                                     const uint64_t *key)
{
    if (hash->count == 0) {
        return false;
    }
    size_t mask = hash->room - 1;
    size_t gap = wio_hash_place(shape, hash, key);
    if (!*wio_hash_used(shape, hash, gap)) {
        return false;
    }
    for (size_t i = (gap + 1) & mask; *wio_hash_used(shape, hash, i); i = (i + 1) & mask) {
        const void *entry = wio_hash_at(shape, hash, i);
        size_t home = wio_hash_home(shape, hash, entry);
        if (((i - home) & mask) >= ((i - gap) & mask)) {
            memcpy(wio_hash_at(shape, hash, gap), entry, shape->bytes);
            gap = i;
        }
    }
    *wio_hash_used(shape, hash, gap) = false;
    hash->count--;
    return true;
}

#endif
