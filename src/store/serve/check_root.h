/* SPDX-License-Identifier: Apache-2.0 */
/* `whyio check ROOT`: a store's directory as `whyio serve` keeps it, or one target's alone. */
#ifndef WIO_STORE_SERVE_CHECK_ROOT_H
#define WIO_STORE_SERVE_CHECK_ROOT_H

#include "store/storage/check.h"

/* A directory in which there is the file STORE or VERSION. */
bool wio_serve_is_root(const char *path);

/* Reads all of it: STORE, catalogue, and of each target root, log and segments. Faults are told
 * with files as they are called below `path`. WIO_ERR_BUSY: a server has it. WIO_ERR_IO: it cannot
 * be read at all. WIO_ERR_UNSUPPORTED: this whyio was built without libuv. */
WIO_MUST_CHECK enum wio_status wio_serve_check(const char *path, wio_store_fault *fault,
                                               void *context, struct wio_store_check *check_out,
                                               struct wio_error *err);

#endif
