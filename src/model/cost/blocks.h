/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dirty blocks of CAWL's page cache: disjoint byte ranges of files, each with the time its
 * write ended and whether it was written again (active). Ordered by place and by age, so that
 * every question costs O(log n).
 */
#ifndef WIO_MODEL_COST_BLOCKS_H
#define WIO_MODEL_COST_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "base/alloc.h"
#include "base/tree.h"

/* Offsets are doubles: cleaning for a while takes a fraction of a byte from a block's head. */
struct wio_block {
    RB_ENTRY(wio_block) by_place;
    RB_ENTRY(wio_block) by_age;
    uint64_t file;
    double offset;
    double end;
    double endtime; /* of the write that made it, seconds */
    uint64_t order; /* of insertion: decides between equal endtimes */
    bool is_active;
};

RB_HEAD(wio_blocks_by_place, wio_block);
RB_HEAD(wio_blocks_by_age, wio_block);

struct wio_blocks {
    struct wio_alloc alloc;
    struct wio_blocks_by_place places;
    struct wio_blocks_by_age ages[2]; /* inactive, active */
    struct wio_block *oldest[2];
    size_t counts[2];
    uint64_t next_order;
    double dirty;            /* bytes, the sum of all blocks */
    struct wio_block *spare; /* freed blocks, linked through by_place's left */
};

void wio_blocks_init(struct wio_blocks *blocks, const struct wio_alloc *alloc);
void wio_blocks_fini(struct wio_blocks *blocks);

/* A new block; an empty range is none. Ranges must not overlap. */
WIO_MUST_CHECK enum wio_status wio_blocks_put(struct wio_blocks *blocks,
                                              const struct wio_block *value);
void wio_blocks_remove(struct wio_blocks *blocks, struct wio_block *block);
/* Take `bytes` from the beginning of a block that is longer. */
void wio_blocks_trim_head(struct wio_blocks *blocks, struct wio_block *block, double bytes);
void wio_blocks_deactivate_oldest(struct wio_blocks *blocks);

/* The first block of the file that ends behind `offset` and begins before `end`, or NULL. */
struct wio_block *wio_blocks_overlap(struct wio_blocks *blocks, uint64_t file, double offset,
                                     double end);

static inline size_t wio_blocks_count(const struct wio_blocks *blocks)
{
    return blocks->counts[0] + blocks->counts[1];
}

/* Is there a block, active or not, that ended before `time`? */
static inline bool wio_blocks_has_older(const struct wio_blocks *blocks, double time)
{
    return (blocks->oldest[0] != NULL && blocks->oldest[0]->endtime < time) ||
           (blocks->oldest[1] != NULL && blocks->oldest[1]->endtime < time);
}

#endif
