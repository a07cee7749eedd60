/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/initial/extent.h"

#include <stdlib.h>

#define FIRST_GRAIN 4096u

void rp_extents_fini(struct rp_extents *extents)
{
    free(extents->items);
    *extents = (struct rp_extents){0};
}

static int by_start(const void *a, const void *b)
{
    const struct rp_extent *x = a;
    const struct rp_extent *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* Round to the grain: ranges that were close become one. */
static void coarsen(struct rp_extents *extents)
{
    if (extents->grain == 0) {
        return;
    }
    for (uint32_t i = 0; i < extents->count; i++) {
        struct rp_extent *item = &extents->items[i];
        item->start -= item->start % extents->grain;
        uint64_t over = item->end % extents->grain;
        if (over != 0 && item->end <= UINT64_MAX - extents->grain) {
            item->end += extents->grain - over;
        }
    }
}

static void join(struct rp_extents *extents)
{
    uint32_t kept = 0;
    if (extents->count == 0) {
        return;
    }
    coarsen(extents);
    qsort(extents->items, extents->count, sizeof(extents->items[0]), by_start);
    for (uint32_t i = 1; i < extents->count; i++) {
        struct rp_extent *last = &extents->items[kept];
        const struct rp_extent *next = &extents->items[i];
        if (next->start > last->end) {
            extents->items[++kept] = *next;
        } else if (next->end > last->end) {
            last->end = next->end;
        }
    }
    extents->count = kept + 1;
}

static enum wio_status make_room(struct rp_extents *extents)
{
    if (extents->count < extents->capacity) {
        return WIO_OK;
    }
    if (extents->capacity < RP_EXTENTS_MAX) {
        uint32_t capacity = extents->capacity == 0 ? 4 : extents->capacity * 4;
        struct rp_extent *items = reallocarray(extents->items, capacity, sizeof(extents->items[0]));
        if (items == NULL) {
            return WIO_ERR_NOMEM;
        }
        extents->items = items;
        extents->capacity = capacity;
        return WIO_OK;
    }
    join(extents);
    while (extents->count > extents->capacity / 2) {
        extents->grain = extents->grain == 0 ? FIRST_GRAIN : extents->grain * 2;
        join(extents);
    }
    return WIO_OK;
}

enum wio_status rp_extents_add(struct rp_extents *extents, uint64_t start, uint64_t end)
{
    if (start >= end) {
        return WIO_OK;
    }
    if (extents->count > 0) {
        struct rp_extent *last = &extents->items[extents->count - 1];
        if (start >= last->start && start <= last->end) {
            last->end = end > last->end ? end : last->end;
            return WIO_OK;
        }
    }
    enum wio_status status = make_room(extents);
    if (status == WIO_OK) {
        extents->items[extents->count++] = (struct rp_extent){start, end};
    }
    return status;
}

void rp_extents_finish(struct rp_extents *extents, uint64_t size)
{
    join(extents);
    while (extents->count > 0 && extents->items[extents->count - 1].start >= size) {
        extents->count--;
    }
    if (extents->count > 0 && extents->items[extents->count - 1].end > size) {
        extents->items[extents->count - 1].end = size;
    }
}

uint64_t rp_extents_bytes(const struct rp_extents *extents)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < extents->count; i++) {
        bytes += extents->items[i].end - extents->items[i].start;
    }
    return bytes;
}
