/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of points that wait for their other side: all in one array, in the order they came. */
#include "causal/infer/infer_internal.h"

const struct wio_feed_list wio_feed_empty = {WIO_FEED_NONE, WIO_FEED_NONE, 0};

enum wio_status wio_feed_append(struct wio_feed *feed, struct wio_feed_list *list,
                                const struct wio_feed_node *node)
{
    uint32_t place = feed->node_free;
    if (place != WIO_FEED_NONE) {
        feed->node_free = feed->nodes[place].next;
    } else {
        WIO_TRY(wio_alloc_room(&feed->alloc, (void **)&feed->nodes, &feed->node_room,
                               (size_t)feed->node_count + 1, sizeof(*feed->nodes)));
        place = feed->node_count++;
    }
    feed->nodes[place] = *node;
    feed->nodes[place].next = WIO_FEED_NONE;
    if (list->count++ == 0) {
        list->first = place;
    } else {
        feed->nodes[list->last].next = place;
    }
    list->last = place;
    return WIO_OK;
}

enum wio_status wio_feed_insert_behind(struct wio_feed *feed, struct wio_feed_list *list,
                                       uint32_t before, const struct wio_feed_node *node)
{
    uint32_t last = list->last;
    WIO_TRY(wio_feed_append(feed, list, node));
    uint32_t place = list->last;
    if (list->count == 1 || before == last) {
        return WIO_OK;
    }
    uint32_t *link = before == WIO_FEED_NONE ? &list->first : &feed->nodes[before].next;
    feed->nodes[place].next = *link;
    *link = place;
    feed->nodes[last].next = WIO_FEED_NONE;
    list->last = last;
    return WIO_OK;
}

void wio_feed_drop_behind(struct wio_feed *feed, struct wio_feed_list *list, uint32_t before)
{
    uint32_t *link = before == WIO_FEED_NONE ? &list->first : &feed->nodes[before].next;
    uint32_t place = *link;
    WIO_PRE(list->count > 0 && place != WIO_FEED_NONE);
    *link = feed->nodes[place].next;
    if (list->last == place) {
        list->last = before;
    }
    list->count--;
    feed->nodes[place].next = feed->node_free;
    feed->node_free = place;
}

void wio_feed_drop_first(struct wio_feed *feed, struct wio_feed_list *list)
{
    wio_feed_drop_behind(feed, list, WIO_FEED_NONE);
}

enum wio_status wio_feed_new_list(struct wio_feed *feed, uint32_t *list_out)
{
    WIO_TRY(wio_alloc_room(&feed->alloc, (void **)&feed->lists, &feed->list_room,
                           (size_t)feed->list_count + 1, sizeof(*feed->lists)));
    feed->lists[feed->list_count] = wio_feed_empty;
    *list_out = feed->list_count++;
    return WIO_OK;
}

struct wio_feed_node wio_feed_node_of(const struct wio_feed *feed, const struct wio_event *event)
{
    const struct wio_feed_stream *stream = wio_feed_stream(feed, event);
    return (struct wio_feed_node){.op = wio_feed_release_point(feed, event).op,
                                  .begin_ns = event->t_ns,
                                  .thread = stream->thread,
                                  .image = stream->process};
}

bool wio_feed_end_call(struct wio_feed *feed, const struct wio_event *event,
                       struct wio_feed_list *list)
{
    struct wio_point point = wio_feed_point(feed, event);
    uint32_t before = WIO_FEED_NONE;
    for (uint32_t i = list->first; i != WIO_FEED_NONE; before = i, i = feed->nodes[i].next) {
        if (feed->nodes[i].thread == point.thread && feed->nodes[i].b == point.op) {
            wio_feed_drop_behind(feed, list, before);
            return true;
        }
    }
    return false;
}
