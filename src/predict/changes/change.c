/* SPDX-License-Identifier: Apache-2.0 */
/* Which changes there are, one after the other. */
#include "predict/changes/change.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "predict/changes/change_work.h"

static const struct {
    const char *name;
    wio_change_fn *apply;
} classes[WIO_CHANGE_COUNT] = {
    [WIO_CHANGE_REMOVE] = {"remove", wio_change_remove},
    [WIO_CHANGE_FSYNC_EVERY] = {"fsync-every", wio_change_fsync_every},
    [WIO_CHANGE_AGGREGATE] = {"aggregate", wio_change_aggregate},
    [WIO_CHANGE_COLLECTIVE] = {"collective", wio_change_collective},
    [WIO_CHANGE_MERGE_FILES] = {"merge-files", wio_change_merge_files},
    [WIO_CHANGE_BALANCE] = {"balance", wio_change_balance},
    [WIO_CHANGE_NO_POLLING] = {"no-polling", wio_change_no_polling},
    [WIO_CHANGE_SORT] = {"sort", wio_change_sort},
    [WIO_CHANGE_READ_MAPS] = {"read-maps", wio_change_read_maps},
};

const char *wio_change_name(enum wio_change_kind kind)
{
    return (unsigned)kind < WIO_CHANGE_COUNT ? classes[kind].name : "";
}

/* ---- all of them ---- */

static int by_event_and_kind(const void *a, const void *b)
{
    const struct wio_edit *x = a;
    const struct wio_edit *y = b;
    if (x->seq != y->seq) {
        return x->seq < y->seq ? -1 : 1;
    }
    return (int)x->kind - (int)y->kind;
}

/* An event that a change before has given another range. */
static bool replace_range(struct wio_edit_list *list, uint32_t sorted, const struct wio_edit *edit)
{
    struct wio_edit key = *edit;
    if (edit->kind != WIO_EDIT_RANGE || sorted == 0) {
        return false;
    }
    struct wio_edit *found = bsearch(&key, list->items, sorted, sizeof(key), by_event_and_kind);
    if (found == NULL) {
        return false;
    }
    *found = *edit;
    return true;
}

static enum wio_status merge(struct wio_edits *all, const struct wio_edits *more)
{
    for (uint32_t stream = 0; stream < more->stream_count; stream++) {
        const struct wio_edit_list *list = &more->streams[stream];
        uint32_t sorted = all->streams[stream].count;
        for (uint32_t i = 0; i < list->count; i++) {
            if (!replace_range(&all->streams[stream], sorted, &list->items[i])) {
                WIO_TRY(wio_edits_add(all, stream, &list->items[i]));
            }
        }
    }
    wio_edits_sort(all);
    return WIO_OK;
}

static enum wio_status apply(const struct wio_program *program, const struct wio_change *change,
                             const struct wio_change_net *net, struct wio_edits *all,
                             struct wio_error *err)
{
    WIO_CLEANUP(wio_edits_fini) struct wio_edits edits = {0};
    struct wio_used_files_reader *files;
    WIO_TRY(wio_edits_init(&edits, all->stream_count));
    WIO_TRY(wio_used_files_readers(&program->files, &files));
    struct wio_change_work work = {program, change, net, files, all, &edits, err};
    enum wio_status status = classes[change->kind].apply(&work);
    free(files);
    return status == WIO_OK ? merge(all, &edits) : status;
}

enum wio_status wio_change_program(const struct wio_program *program,
                                   const struct wio_change *changes, size_t count,
                                   const struct wio_change_net *net, struct wio_edits *edits_out,
                                   struct wio_error *err)
{
    WIO_TRY(wio_edits_init(edits_out, wio_trace_stream_count(program->trace)));
    for (size_t i = 0; i < count; i++) {
        WIO_TRY(apply(program, &changes[i], net, edits_out, err));
    }
    return WIO_OK;
}

/* ---- the simplest ---- */

#define MILLION 1000000u

struct removing {
    struct wio_change_work *work;
    uint64_t stay; /* of a million, of the stream at hand: what is left over of the next one */
    uint32_t stream;
};

static enum wio_status see_removed(void *arg, const struct wio_event *event)
{
    struct removing *removing = arg;
    struct wio_change_work *work = removing->work;

    if (!wio_change_has(work->change->scope, event)) {
        return WIO_OK;
    }
    removing->stay = event->stream == removing->stream ? removing->stay : MILLION / 2;
    removing->stream = event->stream;
    removing->stay += work->change->amount;
    if (removing->stay >= MILLION) {
        removing->stay -= MILLION;
        return WIO_OK;
    }
    return wio_edits_drop(work->edits, event->stream, event->seq);
}

enum wio_status wio_change_remove(struct wio_change_work *work)
{
    const struct wio_change_scope *scope = work->change->scope;
    struct removing removing = {.work = work, .stay = MILLION / 2, .stream = UINT32_MAX};
    return wio_change_read(work, false, scope != NULL ? scope->ops : NULL,
                           scope != NULL ? scope->op_count : 0, see_removed, &removing);
}
