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
#include "predict/changes/change_files.h"

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
    struct sorted_transfer *transfers; /* owned */
    uint64_t *events;                  /* owned: of each, in the order of time */
    uint32_t count;
    uint32_t room;
    uint32_t event_room;
};

struct sorting {
    struct wio_change_files files;
    struct sorted_file open[OPEN_MAX];
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
static bool goes_with(bool is_write, const struct sorted_transfer *first, uint64_t asked,
                      const struct sorted_transfer *next, uint64_t most)
{
    uint64_t end = first->offset + first->size;
    uint64_t behind = next->offset + next->size > end ? next->offset + next->size : end;
    if (behind - first->offset > most) {
        return false;
    }
    return next->offset <= end || (!is_write && 2 * (asked + next->size) >= behind - first->offset);
}

/* The transfers become fewer: how many. */
static uint32_t join(const struct sorted_file *all, bool is_write, uint64_t most)
{
    uint32_t kept = 0;
    uint64_t asked = all->transfers[0].size;
    for (uint32_t i = 1; i < all->count; i++) {
        struct sorted_transfer *last = &all->transfers[kept];
        const struct sorted_transfer *next = &all->transfers[i];
        if (goes_with(is_write, last, asked, next, most)) {
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

static enum wio_status change(const struct sorting *sorting, uint32_t place)
{
    const struct wio_change_files *files = &sorting->files;
    const struct sorted_file *all = &sorting->open[place];
    struct wio_edits *edits = files->work->edits;
    qsort(all->transfers, all->count, sizeof(*all->transfers), by_offset);
    uint32_t left = join(all, wio_change_files_is_write(files, place), files->work->change->amount);
    uint32_t dropped = all->count - left;
    for (uint32_t i = 0; i < dropped; i++) {
        WIO_TRY(wio_edits_drop(edits, files->stream, all->events[i]));
    }
    for (uint32_t i = 0; i < left; i++) {
        WIO_TRY(wio_edits_add(edits, files->stream,
                              &(struct wio_edit){.kind = WIO_EDIT_RANGE,
                                                 .seq = all->events[dropped + i],
                                                 .offset = all->transfers[i].offset,
                                                 .size = all->transfers[i].size}));
    }
    return WIO_OK;
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

static bool fits(void *arg, uint32_t place, const struct wio_event *event, uint64_t bytes)
{
    const struct sorting *sorting = arg;
    (void)event;
    (void)bytes;
    return sorting->open[place].count < GATHERED_MAX;
}

static enum wio_status add(void *arg, uint32_t place, const struct wio_event *event, uint64_t bytes,
                           bool is_new)
{
    struct sorting *sorting = arg;
    if (is_new) {
        sorting->open[place].count = 0;
    }
    return gather(&sorting->open[place], event, bytes);
}

static enum wio_status end(void *arg, uint32_t place, uint32_t last)
{
    struct sorting *sorting = arg;
    const struct sorted_file ended = sorting->open[place];
    enum wio_status status = ended.count > 1 ? change(sorting, place) : WIO_OK;
    sorting->open[place] = sorting->open[last];
    sorting->open[last] = ended; /* its memory serves the next one */
    return status;
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
    static const struct wio_change_gather gather_files = {fits, add, end};
    WIO_CLEANUP(sorting_fini)
    struct sorting sorting = {.files = {.gather = &gather_files, .work = work, .most = OPEN_MAX}};
    sorting.files.arg = &sorting;
    return wio_change_files_run(&sorting.files);
}
