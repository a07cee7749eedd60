/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of points that wait for their other side: all in one array, in the order they came. */
#include "causal/infer/infer_internal.h"

const struct wio_infer_list wio_infer_empty = {WIO_INFER_NONE, WIO_INFER_NONE, 0};

enum wio_status wio_infer_lists_init(struct wio_infer *infer)
{
    infer->lists.node_free = WIO_INFER_NONE;
    return WIO_OK;
}

void wio_infer_lists_fini(struct wio_infer *infer)
{
    infer->alloc.put(infer->alloc.context, infer->lists.nodes);
    infer->alloc.put(infer->alloc.context, infer->lists.items);
}

enum wio_status wio_infer_append(struct wio_infer *infer, struct wio_infer_list *list,
                                 const struct wio_infer_node *node)
{
    uint32_t place = infer->lists.node_free;
    if (place != WIO_INFER_NONE) {
        infer->lists.node_free = infer->lists.nodes[place].next;
    } else {
        WIO_TRY(wio_alloc_room(&infer->alloc, (void **)&infer->lists.nodes, &infer->lists.node_room,
                               (size_t)infer->lists.node_count + 1, sizeof(*infer->lists.nodes)));
        place = infer->lists.node_count++;
    }
    infer->lists.nodes[place] = *node;
    infer->lists.nodes[place].next = WIO_INFER_NONE;
    if (list->count++ == 0) {
        list->first = place;
    } else {
        infer->lists.nodes[list->last].next = place;
    }
    list->last = place;
    return WIO_OK;
}

enum wio_status wio_infer_insert_behind(struct wio_infer *infer, struct wio_infer_list *list,
                                        uint32_t before, const struct wio_infer_node *node)
{
    uint32_t last = list->last;
    WIO_TRY(wio_infer_append(infer, list, node));
    uint32_t place = list->last;
    if (list->count == 1 || before == last) {
        return WIO_OK;
    }
    uint32_t *link = before == WIO_INFER_NONE ? &list->first : &infer->lists.nodes[before].next;
    infer->lists.nodes[place].next = *link;
    *link = place;
    infer->lists.nodes[last].next = WIO_INFER_NONE;
    list->last = last;
    return WIO_OK;
}

void wio_infer_drop_behind(struct wio_infer *infer, struct wio_infer_list *list, uint32_t before)
{
    uint32_t *link = before == WIO_INFER_NONE ? &list->first : &infer->lists.nodes[before].next;
    uint32_t place = *link;
    WIO_PRE(list->count > 0 && place != WIO_INFER_NONE);
    *link = infer->lists.nodes[place].next;
    if (list->last == place) {
        list->last = before;
    }
    list->count--;
    infer->lists.nodes[place].next = infer->lists.node_free;
    infer->lists.node_free = place;
}

void wio_infer_drop_first(struct wio_infer *infer, struct wio_infer_list *list)
{
    wio_infer_drop_behind(infer, list, WIO_INFER_NONE);
}

enum wio_status wio_infer_new_list(struct wio_infer *infer, uint32_t *list_out)
{
    WIO_TRY(wio_alloc_room(&infer->alloc, (void **)&infer->lists.items, &infer->lists.room,
                           (size_t)infer->lists.count + 1, sizeof(*infer->lists.items)));
    infer->lists.items[infer->lists.count] = wio_infer_empty;
    *list_out = infer->lists.count++;
    return WIO_OK;
}

struct wio_infer_node wio_infer_node_of(const struct wio_infer *infer,
                                        const struct wio_event *event)
{
    const struct wio_infer_stream *stream = wio_infer_stream(infer, event);
    return (struct wio_infer_node){.op = wio_infer_release_point(infer, event).op,
                                   .begin_ns = event->t_ns,
                                   .thread = stream->thread,
                                   .image = stream->process};
}

bool wio_infer_end_call(struct wio_infer *infer, const struct wio_event *event,
                        struct wio_infer_list *list)
{
    struct wio_point point = wio_infer_point(infer, event);
    uint32_t before = WIO_INFER_NONE;
    for (uint32_t i = list->first; i != WIO_INFER_NONE;
         before = i, i = infer->lists.nodes[i].next) {
        if (infer->lists.nodes[i].thread == point.thread && infer->lists.nodes[i].b == point.op) {
            wio_infer_drop_behind(infer, list, before);
            return true;
        }
    }
    return false;
}
