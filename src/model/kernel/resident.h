/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pages of files are in memory, for reads. As long as there is memory nothing leaves it;
 * where it is limited it is taken in pieces of 2 MiB on two lists as Linux has them: a piece whose
 * pages were used once is inactive, used again active; memory is taken from the inactive piece that
 * came first, and active ones become inactive when there are too many.
 *
 * Source: behaviour of mm/vmscan.c and mm/workingset.c without refaults; docs/MODEL.md#kernel.
 */
#ifndef WIO_MODEL_KERNEL_RESIDENT_H
#define WIO_MODEL_KERNEL_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <whyio/status.h>

#include "base/alloc.h"
#include "base/tree.h"
#include "model/kernel/pages.h"

/* Pages of a file that are in memory. Zero-initialise but for `id`. */
struct wio_resident_file {
    uint64_t id;
    struct wio_pages pages;
};

/* Where memory is limited: 2 MiB of a file of which something is there. */
struct wio_piece {
    RB_ENTRY(wio_piece) node;
    TAILQ_ENTRY(wio_piece) in_list;
    struct wio_resident_file *file;
    uint64_t index;
    uint32_t count; /* pages in memory */
    bool is_active;
    uint64_t used[WIO_CHUNK_WORDS]; /* pages that were used since they came */
};

RB_HEAD(wio_piece_tree, wio_piece);
TAILQ_HEAD(wio_piece_list, wio_piece);

struct wio_resident {
    struct wio_alloc alloc;
    struct wio_chunk_pool *pool;
    struct wio_piece_tree pieces;
    struct wio_piece_list lists[2]; /* inactive, active; first come first */
    uint64_t pages[2];
    uint64_t room; /* pages; UINT64_MAX: without limit */
    uint64_t inactive_ratio;
};

/* `room` in pages, UINT64_MAX: without limit. `pool` must outlive it. */
void wio_resident_init(struct wio_resident *resident, const struct wio_alloc *alloc,
                       struct wio_chunk_pool *pool, uint64_t room);
/* The sets of files are their owner's to clear. */
void wio_resident_fini(struct wio_resident *resident);

/* The pages [first, end) of a file come into memory; `added_out`: how many of them were not there.
 */
WIO_MUST_CHECK enum wio_status wio_resident_add(struct wio_resident *resident,
                                                struct wio_resident_file *file, uint64_t first,
                                                uint64_t end, uint64_t *added_out);
/* Of these pages those that are there are used. */
void wio_resident_touch(struct wio_resident *resident, struct wio_resident_file *file,
                        uint64_t first, uint64_t end);
/* These pages leave memory. */
void wio_resident_drop(struct wio_resident *resident, struct wio_resident_file *file,
                       uint64_t first, uint64_t end);

#endif
