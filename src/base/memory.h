/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays out of a struct wio_alloc, and a stable sort: for pure code. */
#ifndef WIO_BASE_MEMORY_H
#define WIO_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "base/alloc.h"

/* No index: what is counted in 32 bits. */
#define WIO_NO_INDEX UINT32_MAX

/* `count` zeroed elements, at least one; NULL also where the product does not fit. */
void *wio_alloc_array(const struct wio_alloc *alloc, size_t count, size_t size);

/* Make *array hold at least `need` elements of `size` bytes, by doubling. */
WIO_MUST_CHECK enum wio_status wio_alloc_room(const struct wio_alloc *alloc, void **array,
                                              size_t *room, size_t need, size_t size);

/*
 * Sort `items` by key(context, item), stably, with `scratch` of the same size. Linear where they
 * are sorted already, which they are for one recorded thread; n log n else. (The C library's qsort
 * takes memory from the heap and is not stable.)
 */
void wio_stable_sort(uint32_t *items, uint32_t *scratch, size_t count,
                     uint64_t (*key)(const void *context, uint32_t item), const void *context);

#endif
