/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file is mapped where. Fixed room, no lock: entries are claimed and given back one by one.
 * Who looks for a map that another thread is cutting waits a moment, a signal handler no longer
 * than that. Where the room is full a further map is recorded but not remembered, which is counted
 * (WIO_UNSEEN_MANY_MAPS). Addresses below and above all maps of files are turned away by two
 * comparisons.
 */
#ifndef WIO_CAPTURE_MMAP_TABLE_H
#define WIO_CAPTURE_MMAP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cap_map {
    uintptr_t address;
    size_t size;
    int64_t offset;   /* in the file, of the first byte */
    uint32_t path;    /* string id */
    uintptr_t origin; /* where the map began when it was made, or was moved to */
    /* For pages.c, where the map is watched: */
    bool is_watched;
    int32_t fd; /* of the mmap; it may be closed since */
    uint64_t device;
    uint64_t inode;
    int64_t file_size; /* when it was mapped */
};

void cap_maps_add(const struct cap_map *map) __attribute__((visibility("hidden")));
/* The map that `address` lies in: a copy. */
bool cap_maps_find(uintptr_t address, struct cap_map *map_out)
    __attribute__((visibility("hidden")));
/* The first map that this range touches: a copy. */
bool cap_maps_first(uintptr_t address, size_t size, struct cap_map *map_out)
    __attribute__((visibility("hidden")));
/* One map after the other, in no order, that this range touches, each as a copy. *at is 0 at first;
 * false = that was all. */
bool cap_maps_next(uint32_t *at, uintptr_t address, size_t size, struct cap_map *map_out)
    __attribute__((visibility("hidden")));
/* The map that `address` lies in is not watched any more. */
void cap_maps_unwatch(uintptr_t address) __attribute__((visibility("hidden")));
/* Nothing is mapped in this range any more; maps that reach beyond are cut. */
void cap_maps_remove(uintptr_t address, size_t size) __attribute__((visibility("hidden")));
/* mremap: the map at `address` is now at `to`. */
void cap_maps_move(uintptr_t address, size_t size, uintptr_t to, size_t new_size)
    __attribute__((visibility("hidden")));

#endif
