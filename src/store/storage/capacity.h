/* SPDX-License-Identifier: Apache-2.0 */
/* What a storage may still take: its size, what is used and reserved, and the device's free space,
 * which others use as well and which is asked for again as it shrinks. */
#ifndef WIO_STORE_STORAGE_CAPACITY_H
#define WIO_STORE_STORAGE_CAPACITY_H

#include "store/storage/storage.h"

struct capacity {
    struct wio_io *io;
    uint64_t size_bytes; /* 0: no bound but the device */
    uint64_t keep_free_bytes;
    uint64_t used_bytes;
    uint64_t reserved_bytes;
    uint64_t known_free_bytes; /* of the device, less what was reserved since it was asked */
    uint64_t trusted_bytes;    /* to be reserved until it is asked again */
};

/* The device can give what is promised: else ENOSPC. used_bytes is known. */
WIO_MUST_CHECK enum wio_status capacity_check_promise(struct capacity *capacity,
                                                      struct wio_error *err);
WIO_MUST_CHECK enum wio_status capacity_reserve(struct capacity *capacity, uint64_t bytes,
                                                struct wio_error *err);
/* A file's blocks were `before` bytes and are `after` now. */
static inline void capacity_changed(struct capacity *capacity, uint64_t before, uint64_t after)
{
    capacity->used_bytes = capacity->used_bytes - before + after;
}

#endif
