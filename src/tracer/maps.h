/* SPDX-License-Identifier: Apache-2.0 */
/* Maps of files in the memory of one traced process. */
#ifndef WIO_TRACER_MAPS_H
#define WIO_TRACER_MAPS_H

#include <stdint.h>

struct tracer_map {
    uint64_t address;
    uint64_t size;
    uint64_t origin; /* where the map began that this is a part of */
    int64_t offset;  /* in the file */
    uint32_t path;
};

/* Zero-initialise. A number of maps that no program has is the limit: what is beyond is not
 * known. */
struct tracer_maps {
    struct tracer_map *items; /* in no order */
    uint32_t count;
    uint32_t capacity;
};

void tracer_maps_fini(struct tracer_maps *maps);
void tracer_maps_copy(struct tracer_maps *out, const struct tracer_maps *from);
/* What was in its range is gone. */
void tracer_maps_add(struct tracer_maps *maps, const struct tracer_map *map);
/* A part that is left on either side stays. */
void tracer_maps_remove(struct tracer_maps *maps, uint64_t address, uint64_t size);
/* The lowest that has a byte in the range; NULL = none. */
const struct tracer_map *tracer_maps_first(const struct tracer_maps *maps, uint64_t address,
                                           uint64_t size);

#endif
