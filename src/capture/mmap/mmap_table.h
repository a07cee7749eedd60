/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is mapped where: files whose maps are recorded, and memory that processes share (its name
 * in events is made from it: sync_object.h). No lock and no waiting: a thread, a signal handler or
 * a forked child finds the table whole, wherever another one was stopped in it. A lookup looks at
 * few maps, however many there are. Where the room is full a further map is recorded but not
 * remembered, which is counted (WIO_UNSEEN_MANY_MAPS). Addresses below and above all maps are
 * turned away by two comparisons.
 */
#ifndef WIO_CAPTURE_MMAP_MMAP_TABLE_H
#define WIO_CAPTURE_MMAP_MMAP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/core/attributes.h"

#define CAP_MAPS_MAX 65536u /* at once; what a cut leaves of them may be a few more */

enum cap_map_kind {
    CAP_MAP_FILE = 1,   /* of a file, and recorded */
    CAP_MAP_SHARED = 2, /* with other processes */
};

struct cap_map {
    uintptr_t address;
    size_t size;
    int64_t offset;    /* in the file, of the first byte */
    uint32_t path;     /* string id */
    uint8_t kinds;     /* enum cap_map_kind */
    bool is_watched;   /* by pages.c, as are the next but two */
    int32_t fd;        /* of the mmap; it may be closed since */
    int64_t file_size; /* when it was mapped */
    uintptr_t origin;  /* where the map began when it was made, or was moved to */
    uint64_t device;   /* where it is watched or shared */
    uint64_t inode;
};

/* What the kernel makes of a number of bytes that is mapped or unmapped. */
uint64_t cap_whole_pages(uint64_t bytes) CAP_HIDDEN;

void cap_maps_add(const struct cap_map *map) CAP_HIDDEN;
/* The map of one of these kinds (enum cap_map_kind) that `address` lies in: a copy. */
bool cap_maps_find(uintptr_t address, unsigned kinds, struct cap_map *map_out) CAP_HIDDEN;
/* The first of them that this range touches: a copy. */
bool cap_maps_first(uintptr_t address, size_t size, unsigned kinds,
                    struct cap_map *map_out) CAP_HIDDEN;
/* One map of a file after the other, in no order, that this range touches, each as a copy. *at is
 * 0 at first; false = that was all. One that is cut meanwhile may be missed or come twice. */
bool cap_maps_next(uint32_t *at, uintptr_t address, size_t size,
                   struct cap_map *map_out) CAP_HIDDEN;
/* The map that `address` lies in is not watched any more. */
void cap_maps_unwatch(uintptr_t address) CAP_HIDDEN;
/* Nothing is mapped in this range any more; maps that reach beyond are cut. */
void cap_maps_remove(uintptr_t address, size_t size) CAP_HIDDEN;

#endif
