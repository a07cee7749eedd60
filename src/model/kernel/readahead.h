/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Linux reads from the device for one reader of a file: a window that begins small where
 * reading seems to be sequential, and grows each time the reader comes to its marker; just what is
 * asked for where reading jumps. Pages.
 *
 * Source: behaviour of mm/readahead.c (on-demand read-ahead); docs/MODEL.md#kernel, rule 15.
 */
#ifndef WIO_MODEL_KERNEL_READAHEAD_H
#define WIO_MODEL_KERNEL_READAHEAD_H

#include <stdbool.h>
#include <stdint.h>

/* One reader of a file. Zero-initialise. */
struct wio_readahead {
    uint64_t start; /* of the window .. */
    uint64_t size;  /* .. which was read last; 0: none yet */
    uint64_t async; /* its last pages: a read of the first of them starts the next window */
    uint64_t next;  /* page behind the last one that was read */
};

/* A page that is not in memory, and `wanted` (> 0) pages from it on: how many pages to read there.
 * `most`: pages of the largest window, 0: never more than is wanted. */
uint64_t wio_readahead_miss(struct wio_readahead *ahead, uint64_t at, uint64_t wanted,
                            uint64_t most);
/* The page whose read starts the next window; UINT64_MAX: none. */
uint64_t wio_readahead_marker(const struct wio_readahead *ahead);
/* The reader is at the marker, and wants so many pages from there on: the window is the next one
 * now. */
void wio_readahead_go_on(struct wio_readahead *ahead, uint64_t wanted, uint64_t most);
/* Does a read of page `at` go on where this reader stopped, or within its window? */
bool wio_readahead_is_at(const struct wio_readahead *ahead, uint64_t at);

#endif
