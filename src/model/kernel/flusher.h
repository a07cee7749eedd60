/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flusher of a device: hands dirty pages to it, those that are old, those above the background
 * limit, those that a task waits for; and what happens when the device has written some.
 */
#ifndef WIO_MODEL_KERNEL_FLUSHER_H
#define WIO_MODEL_KERNEL_FLUSHER_H

#include <stdint.h>

#include <whyio/status.h>

#include "model/kernel/cache.h"

/* Up to `most` pages of a file go to its device. */
WIO_MUST_CHECK enum wio_status wio_flusher_write(struct wio_cache *cache,
                                                 struct wio_cache_file *file, uint64_t most);
/* A task has written more than the background limit: as much as is above it. */
WIO_MUST_CHECK enum wio_status wio_flusher_background(struct wio_cache *cache,
                                                      struct wio_cache_device *device);
/* When to check for old files, now that the device has its first dirty file. */
void wio_flusher_plan(const struct wio_cache *cache, struct wio_cache_device *device);
/* Until when checks find nothing to do as long as no task and no device writes; 0: the next one
 * does. */
double wio_flusher_rests_until(const struct wio_cache *cache,
                               const struct wio_cache_device *device);
/* Leave out the checks before the last one up to `until_s`. */
void wio_flusher_skip(const struct wio_cache *cache, struct wio_cache_device *device,
                      double until_s);
/* The time of wio_cache_device_next has come. An error is left in cache->status. */
void wio_flusher_happen(struct wio_cache *cache, struct wio_cache_device *device);

#endif
