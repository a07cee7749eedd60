/* SPDX-License-Identifier: Apache-2.0 */
/* `whyio check ROOT`: reads all of a store's root but the catalogue (catalogue/catalogue.h),
 * changes nothing of an own log, and names each fault with its file and offset. */
#ifndef WIO_STORE_CHECK_H
#define WIO_STORE_CHECK_H

#include "store/storage/root.h"

struct wio_store_check {
    uint64_t faults;
    uint64_t records; /* of the log, since its checkpoint */
    uint64_t files;   /* segments of files */
    uint64_t bytes;   /* of these, as read */
};

/* A fault: file and offset are set where it has them. */
typedef void wio_store_fault(void *context, const struct wio_error *fault);

/* No server runs on the root. WIO_OK also with faults, which are counted; an error: it could not be
 * read at all, for lack of memory. `fault` may be NULL. */
WIO_MUST_CHECK enum wio_status wio_store_check(struct wio_io *io, wio_store_fault *fault,
                                               void *context, struct wio_store_check *check_out,
                                               struct wio_error *err);

#endif
