/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that do not repeat, so that neither compression nor deduplication helps the target. */
#ifndef WIO_REPLAY_PREPARE_FILL_H
#define WIO_REPLAY_PREPARE_FILL_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

/* `size` bytes of the sequence that `seed` begins; *seed goes on behind it. */
void rp_fill(void *data, size_t size, uint64_t *seed);

/*
 * Memory of any size for the data of one operation, made of `window` bytes that repeat: a write of
 * 2 GiB does not need 2 GiB. Page aligned (O_DIRECT). Not thread safe to write to; what it holds
 * has no meaning.
 */
struct rp_bulk {
    uint8_t *data;
    size_t size;
    size_t window;
};

WIO_MUST_CHECK enum wio_status rp_bulk_create(size_t size, struct rp_bulk *bulk_out,
                                              struct wio_error *err);
void rp_bulk_destroy(struct rp_bulk *bulk);

#endif
