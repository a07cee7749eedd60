/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adjacent writes (or reads) of one thread to one file become one of up to S bytes, at the time of
 * the last of them. A sync, a close, a lock and what another thread waits for end it, as does a
 * transfer of the other kind, or to another place, of the same file.
 */
#include "base/cleanup.h"
#include "predict/changes/change_ends.h"

/* So many files of a thread are written side by side; with more the one used least lately ends. */
#define OPEN_MAX 64

struct run {
    uint32_t path;
    bool is_write;
    uint32_t members;
    uint64_t offset; /* of the first */
    uint64_t size;   /* of all */
    uint64_t last;   /* event */
    uint64_t used;   /* for the choice of the one that ends */
};

struct aggregating {
    struct wio_change_work *work;
    struct run open[OPEN_MAX];
    uint32_t count;
    uint32_t stream;
    struct wio_change_giving giving;
    uint64_t now;
};

/* Its last member moves all, the others were dropped when they got a successor. */
static enum wio_status end_run(struct aggregating *all, uint32_t place)
{
    const struct run run = all->open[place];
    all->open[place] = all->open[--all->count];
    if (run.members < 2) {
        return WIO_OK;
    }
    return wio_edits_add(
        all->work->edits, all->stream,
        &(struct wio_edit){
            .kind = WIO_EDIT_RANGE, .seq = run.last, .offset = run.offset, .size = run.size});
}

static enum wio_status end_all(struct aggregating *all)
{
    while (all->count > 0) {
        WIO_TRY(end_run(all, all->count - 1));
    }
    return WIO_OK;
}

static uint32_t find(const struct aggregating *all, uint32_t path)
{
    uint32_t i = 0;
    while (i < all->count && all->open[i].path != path) {
        i++;
    }
    return i;
}

static enum wio_status end_of(struct aggregating *all, uint32_t path)
{
    uint32_t place = find(all, path);
    return place < all->count ? end_run(all, place) : WIO_OK;
}

static enum wio_status make_room(struct aggregating *all)
{
    uint32_t oldest = 0;
    for (uint32_t i = 1; all->count == OPEN_MAX && i < all->count; i++) {
        oldest = all->open[i].used < all->open[oldest].used ? i : oldest;
    }
    return all->count == OPEN_MAX ? end_run(all, oldest) : WIO_OK;
}

static enum wio_status see_transfer(struct aggregating *all, const struct wio_event *event,
                                    uint64_t bytes, bool is_write)
{
    uint64_t offset = (uint64_t)event->offset;
    uint32_t place = find(all, event->path);
    struct run *run = place < all->count ? &all->open[place] : NULL;
    if (run != NULL && (run->is_write != is_write || run->offset + run->size != offset ||
                        run->size + bytes > all->work->change->amount)) {
        WIO_TRY(end_run(all, place));
        run = NULL;
    }
    if (run == NULL) {
        WIO_TRY(make_room(all));
        run = &all->open[all->count++];
        *run = (struct run){.path = event->path, .is_write = is_write, .offset = offset};
    } else {
        WIO_TRY(wio_edits_drop(all->work->edits, event->stream, run->last));
    }
    run->members++;
    run->size += bytes;
    run->last = event->seq;
    run->used = all->now++;
    return WIO_OK;
}

static enum wio_status see_other(struct aggregating *all, const struct wio_event *event)
{
    switch (wio_change_ends(&all->giving, event)) {
    case WIO_CHANGE_ENDS_ALL:
        return end_all(all);
    case WIO_CHANGE_ENDS_FILE:
        WIO_TRY(end_of(all, event->path2));
        return end_of(all, event->path);
    case WIO_CHANGE_ENDS_NOTHING:
        break;
    }
    return WIO_OK;
}

static enum wio_status see(void *arg, const struct wio_event *event)
{
    struct aggregating *all = arg;
    bool is_write;
    if (event->stream != all->stream) {
        WIO_TRY(end_all(all));
        all->stream = event->stream;
    }
    if (wio_change_gives(&all->giving, all->work, event)) {
        WIO_TRY(end_all(all));
    }
    uint64_t bytes = wio_change_moves(all->work->program, event, &is_write);
    if (bytes == 0 || event->offset < 0 || !wio_change_has(all->work->change->scope, event)) {
        return see_other(all, event);
    }
    return see_transfer(all, event, bytes, is_write);
}

enum wio_status wio_change_aggregate(struct wio_change_work *work)
{
    struct aggregating all = {.work = work, .giving = {UINT32_MAX, 0}};
    WIO_TRY(wio_change_read(work, false, NULL, 0, see, &all));
    return end_all(&all);
}
