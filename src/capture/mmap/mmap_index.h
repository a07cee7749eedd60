/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which places of the table of maps (mmap_table.c) may hold a map near an address. A map is filed
 * by its begin and its size, both in powers of two, so that a lookup visits two buckets for each
 * size in use, however many maps there are. An entry is a hint: the place itself says what it
 * holds. Lock-free, signal safe; a fork leaves it as usable as it was.
 */
#ifndef WIO_CAPTURE_MMAP_MMAP_INDEX_H
#define WIO_CAPTURE_MMAP_MMAP_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/core/attributes.h"

/* File the place under the range. Before the map in it can be seen. False: the index is full. */
bool cap_index_put(uint32_t place, uintptr_t address, size_t size) CAP_HIDDEN;
/* Take it out again. After the map in it can be seen no more. */
void cap_index_drop(uint32_t place, uintptr_t address, size_t size) CAP_HIDDEN;

/* A walk over all places that may hold a map that touches a range. */
struct cap_index_walk {
    uintptr_t lo;
    uintptr_t last; /* the range's last byte */
    uint64_t levels;
    uintptr_t granule;
    uint32_t places; /* of a walk over all of them: how many there are; 0 = by buckets */
    uint32_t at;     /* the next place; or in which bucket .. */
    uint32_t bucket;
    uint32_t slot; /* .. and where in it */
};

/* Begin a walk over places near [address, address + size); `places` were ever used. */
struct cap_index_walk cap_index_begin(uintptr_t address, size_t size, uint32_t places) CAP_HIDDEN;
/* One place after the other, perhaps one of them twice; false = that was all. */
bool cap_index_next(struct cap_index_walk *walk, uint32_t *place_out) CAP_HIDDEN;

#endif
