/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structures of the public headers, given by callers whose header may be older or newer: their size
 * is said, what one side does not have is left out, and zero on the other.
 */
#ifndef WIO_BASE_SIZED_H
#define WIO_BASE_SIZED_H

#include <stddef.h>
#include <string.h>

#include <whyio/status.h>

/* Copies what both have; zeroes the rest of `to`. */
static inline void wio_copy_sized(void *to, size_t to_bytes, const void *from, size_t from_bytes)
{
    size_t both = to_bytes < from_bytes ? to_bytes : from_bytes;

    memcpy(to, from, both);
    memset((char *)to + both, 0, to_bytes - both);
}

/* What a caller gives: `from` begins with a size_t struct_size. WIO_ERR_USAGE where that was not
 * set; what the caller has beyond `to` is ignored. */
WIO_MUST_CHECK static inline enum wio_status
wio_take_sized(void *to, size_t to_bytes, const void *from, const char *name, struct wio_error *err)
{
    size_t size;

    memcpy(&size, from, sizeof(size));
    if (size <= sizeof(size)) {
        (void)wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                            "struct_size of %s is %zu B, expected its sizeof", name, size);
        return WIO_ERR_USAGE; /* said once more: analysers do not see what the other returns */
    }
    wio_copy_sized(to, to_bytes, from, size);
    return WIO_OK;
}

#endif
