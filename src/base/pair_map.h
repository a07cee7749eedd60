/* SPDX-License-Identifier: Apache-2.0 */
/* From a key of two numbers to a value, for what comes and goes: entries can be removed, so that
 * memory follows what is under way, not what ever was. Pure, unlike base/map.h. */
#ifndef WIO_BASE_PAIR_MAP_H
#define WIO_BASE_PAIR_MAP_H

#include "base/hash.h"

struct wio_pair_map_entry {
    uint64_t key[2];
    uint32_t value;
    bool is_used;
};

struct wio_pair_map {
    struct wio_alloc alloc;
    struct wio_hash hash;
};

void wio_pair_map_init(struct wio_pair_map *map, const struct wio_alloc *alloc);
void wio_pair_map_fini(struct wio_pair_map *map);
/* WIO_NO_INDEX where it is not there. */
uint32_t wio_pair_map_get(const struct wio_pair_map *map, uint64_t a, uint64_t b);
/* Add or overwrite. */
WIO_MUST_CHECK enum wio_status wio_pair_map_put(struct wio_pair_map *map, uint64_t a, uint64_t b,
                                                uint32_t value);
/* Nothing happens where it is not there. */
void wio_pair_map_remove(struct wio_pair_map *map, uint64_t a, uint64_t b);

#endif
