/* SPDX-License-Identifier: Apache-2.0 */
/* Entries by two keys, the smallest first: a heap of four children per node, which touches half as
 * many cache lines as one of two. Its room is allocated once. */
#ifndef WIO_ADMIT_HEAP_H
#define WIO_ADMIT_HEAP_H

#include <stdint.h>

#include "base/memory.h"

struct wio_admit_heap_node {
    uint64_t major;
    uint64_t minor;
    uint32_t item;
};

struct wio_admit_heap {
    struct wio_alloc alloc;
    struct wio_admit_heap_node *nodes;
    uint32_t count;
    uint32_t room;
};

WIO_MUST_CHECK enum wio_status wio_admit_heap_init(struct wio_admit_heap *heap,
                                                   const struct wio_alloc *alloc, uint32_t room);
void wio_admit_heap_fini(struct wio_admit_heap *heap);
/* There must be room. */
void wio_admit_heap_add(struct wio_admit_heap *heap, uint64_t major, uint64_t minor, uint32_t item);
/* The item of the smallest keys, taken out; WIO_NO_INDEX where there is none. */
uint32_t wio_admit_heap_take(struct wio_admit_heap *heap);

#endif
