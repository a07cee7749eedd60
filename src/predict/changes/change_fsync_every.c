/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of each file only every N-th fsync or fdatasync, and the last one that a process makes before it
 * closes the file (or ends), or before another process reads it. The others are dropped: what they
 * would have written stays dirty, and is written when the machine does that by itself.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "ops/calls.h"
#include "predict/changes/change_work.h"

#define NONE UINT32_MAX

/* A process that syncs a file. */
struct syncer {
    uint32_t image;
    uint32_t next;   /* of the same file, NONE: the last */
    uint32_t stream; /* of its last sync .. */
    uint64_t seq;
    bool is_dropped; /* .. which is dropped so far */
};

struct syncing {
    struct wio_change_work *work;
    struct wio_map counts;  /* file -> syncs so far */
    struct wio_map syncers; /* file -> its first syncer */
    struct syncer *items;
    uint32_t count;
    uint32_t room;
};

static enum wio_status find(struct syncing *syncing, uint32_t file, uint32_t image,
                            struct syncer **syncer_out)
{
    const uint64_t *first = wio_map_get(&syncing->syncers, file);
    uint32_t head = first != NULL ? (uint32_t)*first : NONE;
    uint32_t at = head;
    while (at != NONE && syncing->items[at].image != image) {
        at = syncing->items[at].next;
    }
    if (at == NONE) {
        void *items = syncing->items;
        WIO_TRY(wio_make_room(&items, sizeof(struct syncer), &syncing->room, syncing->count + 1));
        syncing->items = items;
        at = syncing->count++;
        syncing->items[at] = (struct syncer){.image = image, .next = head};
        WIO_TRY(wio_map_put(&syncing->syncers, file, at));
    }
    *syncer_out = &syncing->items[at];
    return WIO_OK;
}

/* The last one of before is dropped for good. */
static enum wio_status settle(struct syncing *syncing, const struct syncer *syncer)
{
    return syncer->is_dropped ? wio_edits_drop(syncing->work->edits, syncer->stream, syncer->seq)
                              : WIO_OK;
}

static enum wio_status see_sync(struct syncing *syncing, const struct wio_event *event,
                                uint32_t image)
{
    const struct wio_change *change = syncing->work->change;
    uint32_t file = wio_change_files(syncing->work, event)->file;
    const uint64_t *so_far = wio_map_get(&syncing->counts, file);
    uint64_t count = so_far != NULL ? *so_far + 1 : 1;
    struct syncer *syncer;
    if (event->result != 0 || !wio_change_has(change->scope, event)) {
        return WIO_OK;
    }
    WIO_TRY(wio_map_put(&syncing->counts, file, count));
    WIO_TRY(find(syncing, file, image, &syncer));
    WIO_TRY(settle(syncing, syncer));
    syncer->stream = event->stream;
    syncer->seq = event->seq;
    syncer->is_dropped = count % change->amount != 0;
    return WIO_OK;
}

/* It stays: by the process that closes the file, or of all others than the one that reads it. */
static void keep_last(const struct syncing *syncing, uint32_t file, uint32_t image, bool is_close)
{
    const uint64_t *first = wio_map_get(&syncing->syncers, file);
    uint32_t at = first != NULL ? (uint32_t)*first : NONE;
    for (; at != NONE; at = syncing->items[at].next) {
        if ((syncing->items[at].image == image) == is_close) {
            syncing->items[at].is_dropped = false;
        }
    }
}

static enum wio_status see(void *arg, const struct wio_event *event)
{
    struct syncing *syncing = arg;
    uint32_t image = wio_change_image(syncing->work, event);
    const struct wio_event_files *on = wio_change_files(syncing->work, event);
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_SYNC:
        return see_sync(syncing, event, image);
    case WIO_CLASS_CLOSE:
        keep_last(syncing, on->file, image, true);
        return WIO_OK;
    case WIO_CLASS_COPY:
        keep_last(syncing, on->file2, image, false);
        return WIO_OK;
    default:
        keep_last(syncing, on->file, image, false);
        return WIO_OK;
    }
}

static void syncing_fini(struct syncing *syncing)
{
    wio_map_fini(&syncing->counts);
    wio_map_fini(&syncing->syncers);
    free(syncing->items);
}

enum wio_status wio_change_fsync_every(struct wio_change_work *work)
{
    static const bool classes[WIO_CLASS_COUNT] = {
        [WIO_CLASS_CLOSE] = true,      [WIO_CLASS_READ] = true,       [WIO_CLASS_COPY] = true,
        [WIO_CLASS_ASYNC_READ] = true, [WIO_CLASS_STDIO_READ] = true, [WIO_CLASS_MAP] = true,
    };
    WIO_CLEANUP(syncing_fini) struct syncing syncing = {.work = work};
    uint16_t ops[WIO_OP_COUNT];
    size_t count = wio_change_ops(classes, ops);
    ops[count++] = WIO_OP_fsync;
    ops[count++] = WIO_OP_fdatasync;
    return wio_change_read(work, true, ops, count, see, &syncing);
    /* a process that ends closes its files: what was last stays */
}
