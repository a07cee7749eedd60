/* SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/blocks.h"

static int compare_place(const struct wio_block *a, const struct wio_block *b)
{
    if (a->file != b->file) {
        return a->file < b->file ? -1 : 1;
    }
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static int compare_age(const struct wio_block *a, const struct wio_block *b)
{
    if (a->endtime < b->endtime || a->endtime > b->endtime) {
        return a->endtime < b->endtime ? -1 : 1;
    }
    return (a->order > b->order) - (a->order < b->order);
}

RB_GENERATE_STATIC(wio_blocks_by_place, wio_block, by_place, compare_place)
RB_GENERATE_STATIC(wio_blocks_by_age, wio_block, by_age, compare_age)

void wio_blocks_init(struct wio_blocks *blocks, const struct wio_alloc *alloc)
{
    *blocks = (struct wio_blocks){.alloc = *alloc};
}

static struct wio_block *take(struct wio_blocks *blocks)
{
    struct wio_block *block = blocks->spare;
    if (block == NULL) {
        return blocks->alloc.get(blocks->alloc.context, sizeof(*block));
    }
    blocks->spare = RB_LEFT(block, by_place);
    return block;
}

void wio_blocks_fini(struct wio_blocks *blocks)
{
    struct wio_block *block;
    while ((block = RB_MIN(wio_blocks_by_place, &blocks->places)) != NULL) {
        wio_blocks_remove(blocks, block);
    }
    while ((block = blocks->spare) != NULL) {
        blocks->spare = RB_LEFT(block, by_place);
        blocks->alloc.put(blocks->alloc.context, block);
    }
}

static void enter_age(struct wio_blocks *blocks, struct wio_block *block)
{
    struct wio_block **oldest = &blocks->oldest[block->is_active];
    RB_INSERT(wio_blocks_by_age, &blocks->ages[block->is_active], block);
    blocks->counts[block->is_active]++;
    if (*oldest == NULL || compare_age(block, *oldest) < 0) {
        *oldest = block;
    }
}

static void leave_age(struct wio_blocks *blocks, struct wio_block *block)
{
    struct wio_block **oldest = &blocks->oldest[block->is_active];
    if (*oldest == block) {
        *oldest = RB_NEXT(wio_blocks_by_age, &blocks->ages[block->is_active], block);
    }
    RB_REMOVE(wio_blocks_by_age, &blocks->ages[block->is_active], block);
    blocks->counts[block->is_active]--;
}

enum wio_status wio_blocks_put(struct wio_blocks *blocks, const struct wio_block *value)
{
    if (value->end <= value->offset) {
        return WIO_OK;
    }
    struct wio_block *block = take(blocks);
    if (block == NULL) {
        return WIO_ERR_NOMEM;
    }
    *block = *value;
    block->order = blocks->next_order++;
    RB_INSERT(wio_blocks_by_place, &blocks->places, block);
    enter_age(blocks, block);
    blocks->dirty += block->end - block->offset;
    return WIO_OK;
}

void wio_blocks_remove(struct wio_blocks *blocks, struct wio_block *block)
{
    leave_age(blocks, block);
    RB_REMOVE(wio_blocks_by_place, &blocks->places, block);
    blocks->dirty -= block->end - block->offset;
    if (wio_blocks_count(blocks) == 0) {
        blocks->dirty = 0; /* no rounding error outlives an empty cache */
    }
    RB_LEFT(block, by_place) = blocks->spare;
    blocks->spare = block;
}

void wio_blocks_trim_head(struct wio_blocks *blocks, struct wio_block *block, double bytes)
{
    block->offset += bytes; /* still behind its neighbour: the order by place stays */
    blocks->dirty -= bytes;
}

void wio_blocks_deactivate_oldest(struct wio_blocks *blocks)
{
    struct wio_block *block = blocks->oldest[1];
    leave_age(blocks, block);
    block->is_active = false;
    enter_age(blocks, block);
}

struct wio_block *wio_blocks_overlap(struct wio_blocks *blocks, uint64_t file, double offset,
                                     double end)
{
    struct wio_block key = {.file = file, .offset = offset};
    struct wio_block *next = RB_NFIND(wio_blocks_by_place, &blocks->places, &key);
    struct wio_block *before = next != NULL ? RB_PREV(wio_blocks_by_place, &blocks->places, next)
                                            : RB_MAX(wio_blocks_by_place, &blocks->places);
    if (before != NULL && before->file == file && before->end > offset) {
        return before;
    }
    return next != NULL && next->file == file && next->offset < end ? next : NULL;
}
