/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays that grow by doubling. The owner keeps pointer, count and capacity:
 *
 *     void *array = list->items;
 *     WIO_TRY(wio_make_room(&array, sizeof(*list->items), &list->capacity, list->count + 1));
 *     list->items = array;
 *     list->items[list->count++] = item;
 *
 * Both make sure that index `needed - 1` exists in *array, of `item` bytes each. On failure
 * (WIO_ERR_NOMEM) *array and *capacity stay as they are. free() the array.
 */
#ifndef WIO_BASE_GROW_H
#define WIO_BASE_GROW_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

/* What is new holds anything: for arrays that are filled from the front, however large. */
WIO_MUST_CHECK enum wio_status wio_make_room(void **array, size_t item, uint32_t *capacity,
                                             uint32_t needed);

/* The same; zeroes what is new. */
WIO_MUST_CHECK enum wio_status wio_grow(void **array, size_t item, uint32_t *capacity,
                                        uint32_t needed);

#endif
