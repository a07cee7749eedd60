/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WIO_TRACE_GROW_H
#define WIO_TRACE_GROW_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

/* Grow *array of `item` bytes each so that index `needed - 1` exists; zeroes the new ones. On
 * failure (WIO_ERR_NOMEM) *array stays as it is and its owner's. */
WIO_MUST_CHECK enum wio_status wio_grow(void **array, size_t item, uint32_t *capacity,
                                        uint32_t needed);

#endif
