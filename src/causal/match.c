/* SPDX-License-Identifier: Apache-2.0 */
/* The matcher itself: channels, lists, what is left over. */
#include "causal/match.h"

#include "base/cleanup.h"
#include "causal/match_internal.h"

enum wio_status wio_match_create(struct wio_edges *edges, struct wio_match **match_out)
{
    const struct wio_alloc *alloc = &edges->alloc;
    struct wio_match *match = alloc->get(alloc->context, sizeof(*match));
    if (match == NULL) {
        return WIO_ERR_NOMEM;
    }
    match->edges = edges;
    match->item_free = WIO_CAUSAL_NONE;
    wio_table_init(&match->table, alloc);
    match->lookers = wio_causal_array(alloc, edges->threads, sizeof(*match->lookers));
    if (match->lookers == NULL) {
        wio_match_destroy(match);
        return WIO_ERR_NOMEM;
    }
    *match_out = match;
    return WIO_OK;
}

void wio_match_destroy(struct wio_match *match)
{
    if (match == NULL) {
        return;
    }
    struct wio_alloc alloc = match->edges->alloc;
    wio_table_fini(&match->table);
    alloc.put(alloc.context, match->channels);
    alloc.put(alloc.context, match->items);
    alloc.put(alloc.context, match->lookers);
    alloc.put(alloc.context, match);
}

enum wio_status wio_match_channel(struct wio_match *match, enum wio_match_kind kind, uint64_t a,
                                  uint64_t b, struct wio_match_channel **channel_out,
                                  uint32_t *number_out)
{
    static const struct wio_match_list empty = {WIO_CAUSAL_NONE, WIO_CAUSAL_NONE, 0};
    uint32_t number;
    WIO_TRY(wio_table_find(&match->table, (struct wio_table_key){{kind, a, b}}, &number));
    if (number >= match->channel_count) {
        WIO_TRY(wio_causal_room(&match->edges->alloc, (void **)&match->channels,
                                &match->channel_room, (size_t)number + 1,
                                sizeof(*match->channels)));
        match->channels[number] = (struct wio_match_channel){.given = empty, .taken = empty};
        match->channel_count = number + 1;
    }
    *channel_out = &match->channels[number];
    if (number_out != NULL) {
        *number_out = number;
    }
    return WIO_OK;
}

enum wio_status wio_match_append(struct wio_match *match, struct wio_match_list *list,
                                 const struct wio_match_item *item)
{
    uint32_t place = match->item_free;
    if (place != WIO_CAUSAL_NONE) {
        match->item_free = match->items[place].next;
    } else {
        if (match->item_count == WIO_CAUSAL_NONE) {
            return WIO_ERR_UNSUPPORTED;
        }
        WIO_TRY(wio_causal_room(&match->edges->alloc, (void **)&match->items, &match->item_room,
                                (size_t)match->item_count + 1, sizeof(*match->items)));
        place = match->item_count++;
    }
    match->items[place] = *item;
    match->items[place].next = WIO_CAUSAL_NONE;
    if (list->count++ == 0) {
        list->first = place;
    } else {
        match->items[list->last].next = place;
    }
    list->last = place;
    return WIO_OK;
}

void wio_match_drop_first(struct wio_match *match, struct wio_match_list *list)
{
    WIO_PRE(list->count > 0);
    uint32_t place = list->first;
    list->first = match->items[place].next;
    list->count--;
    match->items[place].next = match->item_free;
    match->item_free = place;
}

enum wio_status wio_match_edge_from_before(struct wio_match *match, struct wio_edge edge)
{
    if (edge.from_op == 0 || edge.from_thread == edge.to_thread) {
        return WIO_OK;
    }
    edge.from_op--;
    return wio_edges_add(match->edges, &edge);
}

struct wio_match_left wio_match_left(const struct wio_match *match)
{
    return match->left;
}
