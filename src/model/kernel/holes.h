/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holes of files: what was never written since a file was cut is zeros, which no device has to be
 * asked for. Of what was in a file before nothing is known, so it is taken to be data.
 */
#ifndef WIO_MODEL_KERNEL_HOLES_H
#define WIO_MODEL_KERNEL_HOLES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/kernel/cache.h"

/* The next run of pages at or after *first and before `end` that the device may have. False: there
 * is none. */
bool wio_holes_skip(struct wio_cache_file *file, uint64_t *first, uint64_t end, uint64_t *stop_out);
/* How many of the pages [first, end) the device may have. */
uint64_t wio_holes_data(struct wio_cache_file *file, uint64_t first, uint64_t end);
/* [offset, end) is read, in bytes: what of it is neither dirty nor a hole was on the device before,
 * and a file that has data behind all that was written to it was so long before, too. */
WIO_MUST_CHECK enum wio_status wio_holes_note_read(struct wio_cache *cache,
                                                   struct wio_cache_file *file, uint64_t offset,
                                                   uint64_t end);

#endif
