/* SPDX-License-Identifier: Apache-2.0 */
/* The matcher itself: channels, lists, what is left over. */
#include "causal/match/match.h"

#include "base/cleanup.h"
#include "causal/match/match_internal.h"

const struct wio_match_list wio_match_list_empty = {WIO_NO_INDEX, WIO_NO_INDEX, 0};

enum wio_status wio_match_create(struct wio_edges *edges, struct wio_match **match_out)
{
    const struct wio_alloc *alloc = &edges->alloc;
    struct wio_match *match = alloc->get(alloc->context, sizeof(*match));
    if (match == NULL) {
        return WIO_ERR_NOMEM;
    }
    match->edges = edges;
    match->item_free = WIO_NO_INDEX;
    match->gathering_free = WIO_NO_INDEX;
    wio_table_init(&match->table, alloc);
    wio_pair_map_init(&match->gathering_of, alloc);
    wio_pair_map_init(&match->member_of, alloc);
    wio_pair_map_init(&match->reader_of, alloc);
    wio_pair_map_init(&match->waiters_of, alloc);
    wio_pair_map_init(&match->peek_of, alloc);
    match->lookers = wio_alloc_array(alloc, edges->threads, sizeof(*match->lookers));
    match->births = wio_alloc_array(alloc, edges->threads, sizeof(*match->births));
    if (match->lookers == NULL || match->births == NULL) {
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
    wio_pair_map_fini(&match->gathering_of);
    wio_pair_map_fini(&match->member_of);
    wio_pair_map_fini(&match->reader_of);
    wio_pair_map_fini(&match->waiters_of);
    wio_pair_map_fini(&match->peek_of);
    alloc.put(alloc.context, match->peeks);
    alloc.put(alloc.context, match->gatherings);
    alloc.put(alloc.context, match->slow);
    alloc.put(alloc.context, match->lookers);
    alloc.put(alloc.context, match->files);
    alloc.put(alloc.context, match->births);
    alloc.put(alloc.context, match);
}

enum wio_status wio_match_channel(struct wio_match *match, enum wio_match_kind kind, uint64_t a,
                                  uint64_t b, struct wio_match_channel **channel_out,
                                  uint32_t *number_out)
{
    uint32_t number;
    WIO_TRY(wio_table_find(&match->table, (struct wio_table_key){{kind, a, b}}, &number));
    if (number >= match->channel_count) {
        WIO_TRY(wio_alloc_room(&match->edges->alloc, (void **)&match->channels,
                               &match->channel_room, (size_t)number + 1, sizeof(*match->channels)));
        match->channels[number] = (struct wio_match_channel){.given = wio_match_list_empty,
                                                             .taken = wio_match_list_empty};
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
    if (place != WIO_NO_INDEX) {
        match->item_free = match->items[place].next;
    } else {
        if (match->item_count == WIO_NO_INDEX) {
            return WIO_ERR_UNSUPPORTED;
        }
        WIO_TRY(wio_alloc_room(&match->edges->alloc, (void **)&match->items, &match->item_room,
                               (size_t)match->item_count + 1, sizeof(*match->items)));
        place = match->item_count++;
    }
    match->items[place] = *item;
    match->items[place].next = WIO_NO_INDEX;
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

/* NULL where the point is not the first of its thread, or what made that is not known. */
static struct wio_match_birth *birth_at(struct wio_match *match, struct wio_point point)
{
    struct wio_match_birth *birth = &match->births[point.thread];
    return point.op == birth->first_op && birth->is_known ? birth : NULL;
}

/* Where something is before the point: the point itself, or, where that is the first of its thread,
 * what made the thread, and so on. The next time the way is short. */
static struct wio_point after_birth(struct wio_match *match, struct wio_point point)
{
    struct wio_point origin = point;
    struct wio_match_birth *birth;
    while ((birth = birth_at(match, origin)) != NULL) {
        origin = birth->by;
    }
    while ((birth = birth_at(match, point)) != NULL) {
        point = birth->by;
        birth->by = origin;
    }
    return origin;
}

enum wio_status wio_match_edge_from_before(struct wio_match *match, struct wio_edge edge)
{
    struct wio_point from = after_birth(match, (struct wio_point){edge.from_op, edge.from_thread});
    if (from.op == match->births[from.thread].first_op || from.thread == edge.to_thread) {
        return WIO_OK;
    }
    edge.from_thread = from.thread;
    edge.from_op = from.op - 1;
    return wio_edges_add(match->edges, &edge);
}

void wio_match_watch(struct wio_match *match, wio_match_watch_fn *watch, void *context)
{
    match->watch = watch;
    match->watch_context = context;
}

enum wio_status wio_match_tell(struct wio_match *match, uint32_t from_thread, uint64_t sent_ns,
                               uint32_t to_thread, uint64_t received_ns)
{
    const struct wio_match_meeting meeting = {sent_ns, received_ns, from_thread, to_thread};
    return match->watch == NULL ? WIO_OK : match->watch(match->watch_context, &meeting);
}

void wio_match_born(struct wio_match *match, uint32_t thread, uint64_t first_op,
                    struct wio_point by)
{
    WIO_PRE(thread < match->edges->threads && by.thread < match->edges->threads);
    struct wio_point origin = after_birth(match, by);
    if (origin.thread != thread) { /* else it would be its own ancestor */
        match->births[thread] = (struct wio_match_birth){first_op, origin, true};
    }
}

struct wio_match_left wio_match_left(const struct wio_match *match)
{
    return match->left;
}
