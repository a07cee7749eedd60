/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a directory as one: each process opens it once, stats it once and closes it once. Of
 * the opens and stats of a directory's files the first of a process stays, of the closes the last;
 * the others are dropped. With an amount, what a thread writes to (reads from) files of a directory
 * one after the other becomes one transfer of up to so many bytes as well, at the time of the last.
 */
#include <string.h>

#include "base/cleanup.h"
#include "ops/calls.h"
#include "predict/changes/change_ends.h"

enum use { USE_OPEN, USE_STAT, USE_CLOSE, USE_COUNT };

struct merging {
    struct wio_change_work *work;
    struct wio_strtab directories;
    struct wio_map first[USE_COUNT]; /* (process, directory) -> it was there; CLOSE: stream .. */
    struct wio_map closes;           /* .. and event of the last one */
};

static int use_of(const struct wio_event *event)
{
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_OPEN:
        return USE_OPEN;
    case WIO_CLASS_STAT:
    case WIO_CLASS_ACCESS:
        return USE_STAT;
    case WIO_CLASS_CLOSE:
        return USE_CLOSE;
    default:
        return USE_COUNT;
    }
}

/* Of the file's path; 0 where it has none. */
static enum wio_status directory_of(struct merging *merging, uint32_t path, uint32_t *out)
{
    size_t bytes;
    const char *text = wio_trace_string(merging->work->program->trace, path, &bytes);
    const char *slash = memrchr(text, '/', bytes);
    *out = 0;
    if (slash == NULL) {
        return WIO_OK;
    }
    /* "/" for files of the root directory: no other is as short */
    return wio_strtab_add(&merging->directories, text, slash > text ? (size_t)(slash - text) : 1,
                          out);
}

/* The close before this one was not the last. */
static enum wio_status see_close(struct merging *merging, const struct wio_event *event,
                                 uint64_t key)
{
    const uint64_t *stream = wio_map_get(&merging->first[USE_CLOSE], key);
    const uint64_t *seq = wio_map_get(&merging->closes, key);
    if (stream != NULL && seq != NULL) {
        WIO_TRY(wio_edits_drop(merging->work->edits, (uint32_t)*stream, *seq));
    }
    WIO_TRY(wio_map_put(&merging->first[USE_CLOSE], key, event->stream));
    return wio_map_put(&merging->closes, key, event->seq);
}

static enum wio_status see(void *arg, const struct wio_event *event)
{
    struct merging *merging = arg;
    int use = use_of(event);
    uint32_t directory;
    bool is_inside = (event->flags & WIO_EVENT_CAUSED) != 0;
    if (use == USE_COUNT || event->result < 0 || is_inside ||
        !wio_used_files_is_storage(&merging->work->program->files, event->path) ||
        !wio_change_has(merging->work->change->scope, event)) {
        return WIO_OK;
    }
    WIO_TRY(directory_of(merging, event->path, &directory));
    uint64_t key = (uint64_t)wio_change_image(merging->work, event) << 32 | directory;
    if (use == USE_CLOSE) {
        return see_close(merging, event, key);
    }
    if (wio_map_get(&merging->first[use], key) != NULL) {
        return wio_edits_drop(merging->work->edits, event->stream, event->seq);
    }
    return wio_map_put(&merging->first[use], key, 1);
}

/* ---- transfers ---- */

/* What a thread moved to or from files of one directory, or nothing. */
struct merged_run {
    uint32_t directory;
    bool is_write;
    uint32_t members;
    uint64_t size;
    uint64_t last; /* event: it moves all, those before it are dropped */
};

struct gathering {
    struct merging *merging;
    struct wio_change_giving giving;
    struct merged_run now;
    uint32_t stream;
};

static enum wio_status end_gathered(struct gathering *gathering)
{
    const struct merged_run all = gathering->now;
    gathering->now.members = 0;
    return all.members < 2
               ? WIO_OK
               : wio_edits_add(
                     gathering->merging->work->edits, gathering->stream,
                     &(struct wio_edit){.kind = WIO_EDIT_RANGE, .seq = all.last, .size = all.size});
}

static enum wio_status gather(struct gathering *gathering, const struct wio_event *event,
                              uint64_t bytes, bool is_write)
{
    struct merged_run *now = &gathering->now;
    const struct wio_change_work *work = gathering->merging->work;
    uint32_t directory;
    WIO_TRY(directory_of(gathering->merging, event->path, &directory));
    if (now->members > 0 && (now->directory != directory || now->is_write != is_write ||
                             now->size + bytes > work->change->amount)) {
        WIO_TRY(end_gathered(gathering));
    }
    if (now->members > 0) {
        WIO_TRY(wio_edits_drop(work->edits, event->stream, now->last));
    } else {
        *now = (struct merged_run){.directory = directory, .is_write = is_write};
    }
    now->members++;
    now->size += bytes;
    now->last = event->seq;
    return WIO_OK;
}

static enum wio_status see_transfer(void *arg, const struct wio_event *event)
{
    struct gathering *gathering = arg;
    const struct wio_change_work *work = gathering->merging->work;
    bool is_write;
    if (event->stream != gathering->stream) {
        WIO_TRY(end_gathered(gathering));
        gathering->stream = event->stream;
    }
    if (wio_change_gives(&gathering->giving, work, event)) {
        WIO_TRY(end_gathered(gathering));
    }
    uint64_t bytes = wio_change_moves(work->program, event, &is_write);
    if (bytes > 0 && wio_change_has(work->change->scope, event)) {
        return gather(gathering, event, bytes, is_write);
    }
    return wio_change_ends(&gathering->giving, event) == WIO_CHANGE_ENDS_ALL
               ? end_gathered(gathering)
               : WIO_OK;
}

static enum wio_status gather_transfers(struct merging *merging)
{
    struct gathering gathering = {
        .merging = merging, .giving = {UINT32_MAX, 0}, .stream = UINT32_MAX};
    WIO_TRY(wio_change_read(merging->work, false, NULL, 0, see_transfer, &gathering));
    return end_gathered(&gathering);
}

static void merging_fini(struct merging *merging)
{
    wio_strtab_fini(&merging->directories);
    for (int i = 0; i < USE_COUNT; i++) {
        wio_map_fini(&merging->first[i]);
    }
    wio_map_fini(&merging->closes);
}

enum wio_status wio_change_merge_files(struct wio_change_work *work)
{
    static const bool classes[WIO_CLASS_COUNT] = {[WIO_CLASS_OPEN] = true,
                                                  [WIO_CLASS_STAT] = true,
                                                  [WIO_CLASS_ACCESS] = true,
                                                  [WIO_CLASS_CLOSE] = true};
    WIO_CLEANUP(merging_fini) struct merging merging = {.work = work};
    uint16_t ops[WIO_OP_COUNT];
    size_t count = wio_change_ops(classes, ops);
    WIO_TRY(wio_change_read(work, true, ops, count, see, &merging));
    return work->change->amount > 0 ? gather_transfers(&merging) : WIO_OK;
}
