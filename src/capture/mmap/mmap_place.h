/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The places of the table of maps. A map in a place never changes: what is cut is replaced, by its
 * parts in places of their own. The parts can be seen from the moment in which the place of the
 * whole is given up for them, all at once:
 *
 *     FREE -> FILLING -> LIVE -> DEAD -> FREE        a map that was added
 *     FREE -> FILLING -> PART -> LIVE -> DEAD -> FREE    a part of one
 *
 * A PART is there if the place of its whole is DEAD by the same operation. No step waits for
 * another thread: a second thread that cuts the same map replaces it first, and the first one
 * gives its parts up and looks again.
 *
 * A scan that finds every map in a range must not miss parts in places that it has passed: a PART
 * that is not there yet stands for its whole, which is looked at in its stead, and `cap_place_cuts`
 * counts operations before they take effect, so that a scan in which it has changed looks again.
 */
#ifndef WIO_CAPTURE_MMAP_MMAP_PLACE_H
#define WIO_CAPTURE_MMAP_MMAP_PLACE_H

#include "capture/mmap/mmap_table.h"

/* A map as it was seen, and where. */
struct cap_place_view {
    struct cap_map map;
    uint32_t place;
    uint64_t word;
};

/* Places that were ever used. */
uint32_t cap_places_used(void) CAP_HIDDEN;
/* How often a map was replaced by parts of it, or is about to be. */
uint32_t cap_place_cuts(void) CAP_HIDDEN;

/* The map in the place, where it touches the range. */
bool cap_place_look(uint32_t place, uintptr_t address, size_t size,
                    struct cap_place_view *out) CAP_HIDDEN;

/* A new map. Where there is no room it is counted. */
void cap_place_add(const struct cap_map *map) CAP_HIDDEN;
/* A shared one found no room, ever. */
bool cap_places_have_lost_shared(void) CAP_HIDDEN;

/* What was seen is replaced by `count` (0 .. 2) parts of it, the first of which always finds room.
 * False: it is not there any more, look again. */
bool cap_place_replace(const struct cap_place_view *seen, const struct cap_map *parts,
                       unsigned count) CAP_HIDDEN;

#endif
