/* SPDX-License-Identifier: Apache-2.0 */
#include "store/storage/capacity.h"

#include <errno.h>

#include "base/cleanup.h"

/* So much may be reserved before the device is asked again: others write there as well. */
enum { TRUSTED_BYTES = 4 << 20 };

static enum wio_status no_space(struct wio_error *err, const char *what, uint64_t wanted,
                                uint64_t there)
{
    errno = ENOSPC;
    return wio_error_sys(err, "data", "%s: expected %llu bytes, found %llu", what,
                         (unsigned long long)wanted, (unsigned long long)there);
}

static enum wio_status ask_device(struct capacity *capacity, struct wio_error *err)
{
    struct wio_io_space space;
    WIO_TRY(capacity->io->ops->space(capacity->io, &space, err));
    uint64_t taken = capacity->reserved_bytes + capacity->keep_free_bytes;
    capacity->known_free_bytes = space.free_bytes > taken ? space.free_bytes - taken : 0;
    capacity->trusted_bytes = TRUSTED_BYTES;
    return WIO_OK;
}

enum wio_status capacity_check_promise(struct capacity *capacity, struct wio_error *err)
{
    WIO_TRY(ask_device(capacity, err));
    if (capacity->size_bytes > capacity->used_bytes &&
        capacity->size_bytes - capacity->used_bytes > capacity->known_free_bytes) {
        return no_space(err, "free space of the device for --size, less what is kept free",
                        capacity->size_bytes - capacity->used_bytes, capacity->known_free_bytes);
    }
    return WIO_OK;
}

enum wio_status capacity_reserve(struct capacity *capacity, uint64_t bytes, struct wio_error *err)
{
    uint64_t taken = capacity->used_bytes + capacity->reserved_bytes;
    if (capacity->size_bytes != 0 &&
        (taken > capacity->size_bytes || bytes > capacity->size_bytes - taken)) {
        return no_space(err, "free space of the store", bytes,
                        taken > capacity->size_bytes ? 0 : capacity->size_bytes - taken);
    }
    if (capacity->trusted_bytes < bytes) {
        WIO_TRY(ask_device(capacity, err));
    }
    if (capacity->known_free_bytes < bytes) {
        return no_space(err, "free space of the device", bytes, capacity->known_free_bytes);
    }
    capacity->known_free_bytes -= bytes;
    capacity->trusted_bytes -= bytes < capacity->trusted_bytes ? bytes : capacity->trusted_bytes;
    capacity->reserved_bytes += bytes;
    return WIO_OK;
}
