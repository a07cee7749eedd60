/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which parts of files are in memory, for reads: pages in pieces of 2 MiB on two lists as Linux
 * has them. A piece used for the first time is inactive, used again active; memory is taken from
 * the inactive piece that came first, and active ones become inactive when there are too many.
 *
 * Source: behaviour of mm/vmscan.c and mm/workingset.c without refaults; docs/MODEL.md#kernel.
 */
#ifndef WIO_MODEL_RESIDENT_H
#define WIO_MODEL_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <whyio/status.h>

#include "base/alloc.h"
#include "base/tree.h"

#define WIO_PIECE_PAGES 512u

struct wio_piece {
    RB_ENTRY(wio_piece) node;
    TAILQ_ENTRY(wio_piece) in_list;
    uint64_t file;
    uint64_t index;
    uint32_t count; /* of bits */
    bool is_active;
    uint64_t bits[WIO_PIECE_PAGES / 64];
};

RB_HEAD(wio_piece_tree, wio_piece);
TAILQ_HEAD(wio_piece_list, wio_piece);

struct wio_resident {
    struct wio_alloc alloc;
    struct wio_piece_tree pieces;
    struct wio_piece_list lists[2]; /* inactive, active; first come first */
    uint64_t pages[2];
    uint64_t room; /* pages */
    uint64_t inactive_ratio;
};

/* `room` in pages; 0: nothing stays in memory. */
void wio_resident_init(struct wio_resident *resident, const struct wio_alloc *alloc, uint64_t room);
void wio_resident_fini(struct wio_resident *resident);

/* The pages [first, end) of a file are used; `hits_out`: how many of them were there. */
WIO_MUST_CHECK enum wio_status wio_resident_use(struct wio_resident *resident, uint64_t file,
                                                uint64_t first, uint64_t end, uint64_t *hits_out);

#endif
