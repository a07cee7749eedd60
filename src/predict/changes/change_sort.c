/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transfers of one thread and file in the order of their offsets, those that lie together as one of
 * up to S bytes: writes without a gap, reads also with gaps, as long as half of what is read was
 * asked for. They take the places of the last ones of those that are gathered; what ends these is
 * what ends an aggregate (change_aggregate.c), but for another place.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "predict/changes/change_ends.h"

/* So many files of a thread are looked at side by side; with more the one used least lately ends.
 */
#define OPEN_MAX 16
/* So many transfers are gathered at most. */
#define GATHERED_MAX (1u << 18)

struct sorted_transfer {
    uint64_t offset;
    uint64_t size;
};

struct sorted_file {
    uint32_t path;
    bool is_write;
    struct sorted_transfer *transfers; /* owned */
    uint64_t *events;                  /* owned: of each, in the order of time */
    uint32_t count;
    uint32_t room;
    uint32_t event_room;
    uint64_t used;
};

struct sorting {
    struct wio_change_work *work;
    struct wio_change_giving giving;
    struct sorted_file open[OPEN_MAX];
    uint32_t count;
    uint32_t stream;
    uint64_t now;
};

/* ---- what is gathered ---- */

static int by_offset(const void *a, const void *b)
{
    const struct sorted_transfer *x = a;
    const struct sorted_transfer *y = b;
    if (x->offset != y->offset) {
        return x->offset < y->offset ? -1 : 1;
    }
    return (x->size > y->size) - (x->size < y->size);
}

/* Can `next`, which begins no earlier, be moved with it? `asked`: bytes that were asked for. */
static bool goes_with(const struct sorted_file *all, const struct sorted_transfer *first,
                      uint64_t asked, const struct sorted_transfer *next, uint64_t most)
{
    uint64_t end = first->offset + first->size;
    uint64_t behind = next->offset + next->size > end ? next->offset + next->size : end;
    if (behind - first->offset > most) {
        return false;
    }
    return next->offset <= end ||
           (!all->is_write && 2 * (asked + next->size) >= behind - first->offset);
}

/* The transfers become fewer: how many. */
static uint32_t join(const struct sorted_file *all, uint64_t most)
{
    uint32_t kept = 0;
    uint64_t asked = all->transfers[0].size;
    for (uint32_t i = 1; i < all->count; i++) {
        struct sorted_transfer *last = &all->transfers[kept];
        const struct sorted_transfer *next = &all->transfers[i];
        if (goes_with(all, last, asked, next, most)) {
            uint64_t behind = next->offset + next->size;
            uint64_t end = last->offset + last->size;
            last->size = (behind > end ? behind : end) - last->offset;
            asked += next->size;
        } else {
            all->transfers[++kept] = *next;
            asked = next->size;
        }
    }
    return kept + 1;
}

static enum wio_status change(const struct sorting *sorting, const struct sorted_file *all)
{
    struct wio_edits *edits = sorting->work->edits;
    qsort(all->transfers, all->count, sizeof(*all->transfers), by_offset);
    uint32_t left = join(all, sorting->work->change->amount);
    uint32_t dropped = all->count - left;
    for (uint32_t i = 0; i < dropped; i++) {
        WIO_TRY(wio_edits_drop(edits, sorting->stream, all->events[i]));
    }
    for (uint32_t i = 0; i < left; i++) {
        WIO_TRY(wio_edits_add(edits, sorting->stream,
                              &(struct wio_edit){.kind = WIO_EDIT_RANGE,
                                                 .seq = all->events[dropped + i],
                                                 .offset = all->transfers[i].offset,
                                                 .size = all->transfers[i].size}));
    }
    return WIO_OK;
}

static enum wio_status end_one(struct sorting *sorting, uint32_t place)
{
    struct sorted_file *all = &sorting->open[place];
    enum wio_status status = all->count > 1 ? change(sorting, all) : WIO_OK;
    struct sorted_file empty = {.transfers = all->transfers,
                                .events = all->events,
                                .room = all->room,
                                .event_room = all->event_room};
    sorting->open[place] = sorting->open[--sorting->count];
    sorting->open[sorting->count] = empty; /* its memory serves the next one */
    return status;
}

static enum wio_status end_all(struct sorting *sorting)
{
    while (sorting->count > 0) {
        WIO_TRY(end_one(sorting, sorting->count - 1));
    }
    return WIO_OK;
}

static uint32_t find(const struct sorting *sorting, uint32_t path)
{
    uint32_t i = 0;
    while (i < sorting->count && sorting->open[i].path != path) {
        i++;
    }
    return i;
}

static enum wio_status end_of(struct sorting *sorting, uint32_t path)
{
    uint32_t place = find(sorting, path);
    return place < sorting->count ? end_one(sorting, place) : WIO_OK;
}

static enum wio_status make_room(struct sorting *sorting)
{
    uint32_t oldest = 0;
    for (uint32_t i = 1; i < sorting->count; i++) {
        oldest = sorting->open[i].used < sorting->open[oldest].used ? i : oldest;
    }
    return sorting->count == OPEN_MAX ? end_one(sorting, oldest) : WIO_OK;
}

static enum wio_status gather(struct sorted_file *all, const struct wio_event *event,
                              uint64_t bytes)
{
    void *transfers = all->transfers;
    void *events = all->events;
    WIO_TRY(wio_make_room(&transfers, sizeof(*all->transfers), &all->room, all->count + 1));
    all->transfers = transfers;
    WIO_TRY(wio_make_room(&events, sizeof(*all->events), &all->event_room, all->count + 1));
    all->events = events;
    all->transfers[all->count] = (struct sorted_transfer){(uint64_t)event->offset, bytes};
    all->events[all->count++] = event->seq;
    return WIO_OK;
}

/* ---- events ---- */

static enum wio_status see_transfer(struct sorting *sorting, const struct wio_event *event,
                                    uint64_t bytes, bool is_write)
{
    uint32_t place = find(sorting, event->path);
    bool is_there = place < sorting->count;
    if (is_there &&
        (sorting->open[place].is_write != is_write || sorting->open[place].count == GATHERED_MAX)) {
        WIO_TRY(end_one(sorting, place));
        is_there = false;
    }
    if (!is_there) {
        WIO_TRY(make_room(sorting));
        place = sorting->count++;
        sorting->open[place].path = event->path;
        sorting->open[place].is_write = is_write;
        sorting->open[place].count = 0;
    }
    sorting->open[place].used = sorting->now++;
    return gather(&sorting->open[place], event, bytes);
}

static enum wio_status see_other(struct sorting *sorting, const struct wio_event *event)
{
    switch (wio_change_ends(&sorting->giving, event)) {
    case WIO_CHANGE_ENDS_ALL:
        return end_all(sorting);
    case WIO_CHANGE_ENDS_FILE:
        WIO_TRY(end_of(sorting, event->path2));
        return end_of(sorting, event->path);
    case WIO_CHANGE_ENDS_NOTHING:
        break;
    }
    return WIO_OK;
}

static enum wio_status see(void *arg, const struct wio_event *event)
{
    struct sorting *sorting = arg;
    bool is_write;
    if (event->stream != sorting->stream) {
        WIO_TRY(end_all(sorting));
        sorting->stream = event->stream;
    }
    if (wio_change_gives(&sorting->giving, sorting->work, event)) {
        WIO_TRY(end_all(sorting));
    }
    uint64_t bytes = wio_change_moves(sorting->work->program, event, &is_write);
    if (bytes == 0 || event->offset < 0 || !wio_change_has(sorting->work->change->scope, event)) {
        return see_other(sorting, event);
    }
    return see_transfer(sorting, event, bytes, is_write);
}

static void sorting_fini(struct sorting *sorting)
{
    for (uint32_t i = 0; i < OPEN_MAX; i++) {
        free(sorting->open[i].transfers);
        free(sorting->open[i].events);
    }
}

enum wio_status wio_change_sort(struct wio_change_work *work)
{
    WIO_CLEANUP(sorting_fini)
    struct sorting sorting = {.work = work, .giving = {UINT32_MAX, 0}, .stream = UINT32_MAX};
    WIO_TRY(wio_change_read(work, false, NULL, 0, see, &sorting));
    return end_all(&sorting);
}
