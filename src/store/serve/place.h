/* SPDX-License-Identifier: Apache-2.0 */
/* Where a store's servers are reached, and what kind of file system they are on. */
#ifndef WIO_STORE_SERVE_PLACE_H
#define WIO_STORE_SERVE_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "store/link/address.h"

/* The directory, made where it is not there, as an absolute path without links. */
WIO_MUST_CHECK enum wio_status serve_place_open(const char *path, char *real_out, size_t size,
                                                struct wio_error *err);
/* False: what is written there is gone when the machine stops (tmpfs, ramfs). */
bool serve_place_is_durable(const char *path);

/* Where target `target` listens, beside the catalogue's `address`: unix:PATH.N, HOST:PORT+1+N, or
 * port 0 as well. WIO_ERR_USAGE: there is no such port. */
WIO_MUST_CHECK enum wio_status serve_target_address(const char *address, unsigned target,
                                                    char text_out[WIO_LINK_ADDRESS_BYTES],
                                                    struct wio_error *err);

#endif
