/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for 0 of a semaphore of System V: for all takes. R-SYNC-6
 *
 * `more` has the last take of each thread, `openings` the calls under way: takes (`a` is how much)
 * and waits for 0 (`a` is 0). A wait is over at the first moment at which nothing is left, though
 * its call may end later: what is posted and taken meanwhile does not matter to it. So each post
 * first checks whether that moment has been.
 *
 * Of calls that also put something back, as locks made of semaphores do, only one goes on at each
 * such moment: which one is known at its end (`is_shared`).
 */
#include "causal/threads/sync.h"

/* So many threads that take from one semaphore are kept. */
#define KEPT_MAX 64u

static enum wio_status object_of(struct wio_feed *feed, const struct wio_event *event,
                                 uint32_t *object_out)
{
    return wio_feed_memory_object(feed, event, WIO_FEED_SEMAPHORE, event->arg[0], object_out);
}

enum wio_status wio_feed_note_taking(struct wio_feed *feed, const struct wio_event *event,
                                     uint32_t object)
{
    struct wio_feed_list *list = &feed->objects[object].more;
    struct wio_feed_node node = wio_feed_node_of(feed, event);
    for (uint32_t i = list->first; i != WIO_FEED_NONE; i = feed->nodes[i].next) {
        if (feed->nodes[i].thread == node.thread) {
            feed->nodes[i].op = node.op;
            return WIO_OK;
        }
    }
    return list->count < KEPT_MAX ? wio_feed_append(feed, list, &node) : WIO_OK;
}

enum wio_status wio_feed_zero_begin(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t object;
    struct wio_feed_node node = wio_feed_node_of(feed, event);
    if (event->error != 0) {
        return WIO_OK;
    }
    WIO_TRY(object_of(feed, event, &object));
    node.b = event->seq;
    return wio_feed_append(feed, &feed->objects[object].openings, &node);
}

void wio_feed_zero_puts_back(struct wio_feed *feed, const struct wio_event *event, uint32_t object)
{
    const uint32_t own = wio_feed_point(feed, event).thread;
    uint32_t i = feed->objects[object].openings.first;
    for (; i != WIO_FEED_NONE; i = feed->nodes[i].next) {
        struct wio_feed_node *node = &feed->nodes[i];
        bool is_same_call = node->thread == own && node->begin_ns == event->t_ns;
        node->is_shared = node->is_shared || (is_same_call && node->a == 0);
    }
}

static enum wio_status follow(struct wio_feed *feed, uint32_t from, struct wio_point to)
{
    const struct wio_feed_node *node = &feed->nodes[from];
    return wio_feed_edge_from_before(feed, (struct wio_edge){.from_thread = node->thread,
                                                             .from_op = node->op,
                                                             .to_thread = to.thread,
                                                             .to_op = to.op,
                                                             .class = WIO_EDGE_HARD,
                                                             .evidence = WIO_EVIDENCE_THREAD});
}

/* A wait is over at `to`: edges from all takes, and from the first of the calls under way, which
 * have taken the `left` units. */
static enum wio_status go_on(struct wio_feed *feed, uint32_t object, struct wio_point to,
                             uint64_t left)
{
    const struct wio_feed_state *state = &feed->objects[object];
    for (uint32_t i = state->more.first; i != WIO_FEED_NONE; i = feed->nodes[i].next) {
        WIO_TRY(follow(feed, i, to));
    }
    for (uint32_t i = state->openings.first; i != WIO_FEED_NONE && left > 0;
         i = feed->nodes[i].next) {
        uint64_t units = feed->nodes[i].a;
        left -= units < left ? units : left;
        WIO_TRY(units > 0 ? follow(feed, i, to) : WIO_OK);
    }
    return WIO_OK;
}

uint64_t wio_feed_units(const struct wio_feed *feed, uint32_t object, uint64_t until_ns)
{
    const struct wio_feed_state *state = &feed->objects[object];
    uint64_t units = state->count;
    for (uint32_t i = state->list.first; i != WIO_FEED_NONE; i = feed->nodes[i].next) {
        units += feed->nodes[i].b < until_ns ? feed->nodes[i].a : 0;
    }
    return units;
}

static uint64_t wanted_by_calls(const struct wio_feed *feed, const struct wio_feed_state *state)
{
    uint64_t units = 0;
    for (uint32_t i = state->openings.first; i != WIO_FEED_NONE; i = feed->nodes[i].next) {
        units += feed->nodes[i].a;
    }
    return units;
}

enum wio_status wio_feed_zero_before(struct wio_feed *feed, uint32_t object, uint64_t now_ns)
{
    const struct wio_feed_state *state = &feed->objects[object];
    uint32_t before = WIO_FEED_NONE;
    uint64_t left = state->openings.count > 0 ? wio_feed_units(feed, object, now_ns) : 0;
    if (state->openings.count == 0 || left > wanted_by_calls(feed, state)) {
        return WIO_OK;
    }
    for (uint32_t i = state->openings.first; i != WIO_FEED_NONE;) {
        const struct wio_feed_node node = feed->nodes[i];
        if (node.a > 0 || node.is_shared || node.begin_ns >= now_ns) {
            before = i;
        } else {
            WIO_TRY(go_on(feed, object, (struct wio_point){node.b, node.thread}, left));
            wio_feed_drop_behind(feed, &feed->objects[object].openings, before);
        }
        i = node.next;
    }
    return WIO_OK;
}

/* What is left, but for what the call itself puts back. */
static uint64_t left_for(const struct wio_feed *feed, const struct wio_event *event,
                         uint32_t object)
{
    const struct wio_feed_state *state = &feed->objects[object];
    const uint32_t own = wio_feed_point(feed, event).thread;
    uint64_t left = state->count;
    for (uint32_t i = state->list.first; i != WIO_FEED_NONE; i = feed->nodes[i].next) {
        const struct wio_feed_node *post = &feed->nodes[i];
        bool is_own = post->thread == own && post->begin_ns >= event->t_ns;
        left += is_own || post->b > wio_feed_end_ns(event) ? 0 : post->a;
    }
    return left;
}

enum wio_status wio_feed_zero_end(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t object;
    struct wio_point point = wio_feed_point(feed, event);
    if (event->error != 0) {
        return WIO_OK;
    }
    WIO_TRY(object_of(feed, event, &object));
    return wio_feed_end_call(feed, event, &feed->objects[object].openings)
               ? go_on(feed, object, point, left_for(feed, event, object))
               : WIO_OK; /* it has gone on before */
}
