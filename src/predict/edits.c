/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/edits.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/grow.h"

enum wio_status wio_edits_init(struct wio_edits *edits, uint32_t streams)
{
    edits->streams = calloc((size_t)streams + 1, sizeof(*edits->streams));
    edits->stream_count = streams;
    return edits->streams != NULL ? WIO_OK : WIO_ERR_NOMEM;
}

void wio_edits_fini(struct wio_edits *edits)
{
    for (uint32_t i = 0; edits->streams != NULL && i < edits->stream_count; i++) {
        free(edits->streams[i].items);
    }
    free(edits->streams);
    *edits = (struct wio_edits){0};
}

enum wio_status wio_edits_add(struct wio_edits *edits, uint32_t stream, const struct wio_edit *edit)
{
    struct wio_edit_list *list = &edits->streams[stream];
    struct wio_edit *before = list->count > 0 ? &list->items[list->count - 1] : NULL;
    bool is_drop = edit->kind == WIO_EDIT_DROP;
    if (is_drop && before != NULL && before->kind == WIO_EDIT_DROP &&
        before->last + 1 == edit->seq) {
        before->last = edit->last;
        return WIO_OK;
    }
    void *items = list->items;
    WIO_TRY(wio_make_room(&items, sizeof(*edit), &list->room, list->count + 1));
    list->items = items;
    list->items[list->count++] = *edit;
    return WIO_OK;
}

enum wio_status wio_edits_drop(struct wio_edits *edits, uint32_t stream, uint64_t seq)
{
    return wio_edits_add(edits, stream,
                         &(struct wio_edit){.kind = WIO_EDIT_DROP, .seq = seq, .last = seq});
}

static int by_place(const void *a, const void *b)
{
    const struct wio_edit *x = a;
    const struct wio_edit *y = b;
    if (x->seq != y->seq) {
        return x->seq < y->seq ? -1 : 1;
    }
    if (x->kind != y->kind) {
        return (int)x->kind - (int)y->kind;
    }
    if (x->path != y->path) {
        return x->path < y->path ? -1 : 1;
    }
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Events that several changes leave out: what one leaves out further on, those within it do. */
static void join_drops(struct wio_edit_list *list)
{
    uint64_t reach = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        struct wio_edit *edit = &list->items[i];
        if (edit->kind == WIO_EDIT_DROP) {
            edit->last = reach >= edit->seq && reach > edit->last ? reach : edit->last;
            reach = edit->last;
        }
    }
}

void wio_edits_sort(struct wio_edits *edits)
{
    for (uint32_t i = 0; i < edits->stream_count; i++) {
        struct wio_edit_list *list = &edits->streams[i];
        if (list->count > 1) {
            qsort(list->items, list->count, sizeof(*list->items), by_place);
            join_drops(list);
        }
    }
}

/* The first edit behind those of events up to `seq`. */
static uint32_t behind(const struct wio_edit_list *list, uint64_t seq)
{
    return (uint32_t)WIO_FIRST(i, 0, list->count, list->items[i].seq > seq);
}

bool wio_edits_has_dropped(const struct wio_edits *edits, uint32_t stream, uint64_t seq)
{
    const struct wio_edit_list *list = &edits->streams[stream];
    for (uint32_t i = behind(list, seq); i > 0; i--) {
        const struct wio_edit *edit = &list->items[i - 1];
        if (edit->kind == WIO_EDIT_DROP) {
            return edit->last >= seq;
        }
    }
    return false;
}

const struct wio_edit *wio_edits_range(const struct wio_edits *edits, uint32_t stream, uint64_t seq)
{
    const struct wio_edit_list *list = &edits->streams[stream];
    for (uint32_t i = behind(list, seq); i > 0 && list->items[i - 1].seq == seq; i--) {
        if (list->items[i - 1].kind == WIO_EDIT_RANGE) {
            return &list->items[i - 1];
        }
    }
    return NULL;
}
