/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adjacent writes (or reads) of one thread to one file become one of up to S bytes, at the time of
 * the last of them. A sync, a close, a lock and what another thread waits for end it, as does a
 * transfer of the other kind, or to another place, of the same file.
 */
#include "base/cleanup.h"
#include "predict/changes/change_files.h"

struct run {
    uint32_t members;
    uint64_t offset; /* of the first */
    uint64_t size;   /* of all */
    uint64_t last;   /* event */
};

struct aggregating {
    struct wio_change_files files;
    struct run open[WIO_CHANGE_FILES_MAX];
};

static bool fits(void *arg, uint32_t place, const struct wio_event *event, uint64_t bytes)
{
    const struct aggregating *all = arg;
    const struct run *run = &all->open[place];
    return run->offset + run->size == (uint64_t)event->offset &&
           run->size + bytes <= all->files.work->change->amount;
}

static enum wio_status add(void *arg, uint32_t place, const struct wio_event *event, uint64_t bytes,
                           bool is_new)
{
    struct aggregating *all = arg;
    struct run *run = &all->open[place];
    if (is_new) {
        *run = (struct run){.offset = (uint64_t)event->offset};
    } else {
        WIO_TRY(wio_edits_drop(all->files.work->edits, event->stream, run->last));
    }
    run->members++;
    run->size += bytes;
    run->last = event->seq;
    return WIO_OK;
}

/* Its last member moves all, the others were dropped when they got a successor. */
static enum wio_status end(void *arg, uint32_t place, uint32_t last)
{
    struct aggregating *all = arg;
    const struct run run = all->open[place];
    all->open[place] = all->open[last];
    if (run.members < 2) {
        return WIO_OK;
    }
    return wio_edits_add(
        all->files.work->edits, all->files.stream,
        &(struct wio_edit){
            .kind = WIO_EDIT_RANGE, .seq = run.last, .offset = run.offset, .size = run.size});
}

enum wio_status wio_change_aggregate(struct wio_change_work *work)
{
    static const struct wio_change_gather gather = {fits, add, end};
    struct aggregating all = {
        .files = {.gather = &gather, .work = work, .most = WIO_CHANGE_FILES_MAX}};
    all.files.arg = &all;
    return wio_change_files_run(&all.files);
}
