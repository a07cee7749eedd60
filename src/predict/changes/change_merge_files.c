/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a directory as one: each process opens it once, stats it once and closes it once. Of
 * the opens and stats of a directory's files the first of a process stays, of the closes the last;
 * the others are dropped.
 */
#include <string.h>

#include "base/cleanup.h"
#include "ops/calls.h"
#include "predict/changes/change_work.h"

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
    return wio_change_read(work, true, ops, count, see, &merging);
}
