/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semaphores, and message queues, whose messages of one type or priority are units of a semaphore.
 * R-SYNC-6, R-SYNC-10
 *
 * Units are taken in the order in which they were posted: `list` has the posts, `a` what is left of
 * them. Those that were there from the beginning (`count`) go first; where that is not known, they
 * are what finds no post.
 */
#include "causal/feed_internal.h"

/* So many threads that take from one semaphore, and so many takings of messages, are kept. */
#define KEPT_MAX 64u

static enum wio_status semaphore_of(struct wio_feed *feed, const struct wio_event *event,
                                    uint32_t *object_out)
{
    return wio_feed_memory_object(feed, event, WIO_FEED_SEMAPHORE, event->arg[0], object_out);
}

static bool is_of_system_v(const struct wio_event *event)
{
    return event->op == WIO_OP_semop || event->op == WIO_OP_semop_post;
}

static bool is_message(const struct wio_event *event)
{
    return event->op == WIO_OP_msgsnd || event->op == WIO_OP_msgrcv ||
           event->op == WIO_OP_mq_send || event->op == WIO_OP_mq_receive;
}

static uint64_t units_of(const struct wio_event *event)
{
    return is_of_system_v(event) && event->arg[1] > 0 ? (uint64_t)event->arg[1] + 1 : 1;
}

/* At the address of one that is gone there may be another one; one that is opened again is the
 * same.
 */
enum wio_status wio_feed_semaphore_begin(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t object;
    if (event->error != 0) {
        return WIO_OK;
    }
    WIO_TRY(semaphore_of(feed, event, &object));
    const struct wio_feed_state *known = &feed->objects[object];
    bool is_used = known->has_giver || known->has_taker || known->has_units;
    if (is_used && event->arg[2] == 1) {
        return WIO_OK;
    }
    if (is_used) {
        WIO_TRY(wio_feed_new_object(feed, known->object, &object));
    }
    feed->objects[object].count = event->arg[1] > 0 ? (uint64_t)event->arg[1] : 0;
    feed->objects[object].has_units = true;
    return WIO_OK;
}

enum wio_status wio_feed_post_begin(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t object;
    struct wio_feed_node node = wio_feed_node_of(feed, event);
    if (event->error != 0) {
        return WIO_OK;
    }
    WIO_TRY(semaphore_of(feed, event, &object));
    wio_feed_note_giver(&feed->objects[object], node.thread);
    node.a = units_of(event);
    return wio_feed_append(feed, &feed->objects[object].list, &node);
}

/* The queue as a whole, whose list has who took messages out of it. */
static enum wio_status queue_of(struct wio_feed *feed, const struct wio_event *event,
                                uint32_t *object_out)
{
    return wio_feed_memory_object(feed, event, WIO_FEED_FUTEX, event->arg[1], object_out);
}

/* A queue that was full: who sends into it waits until somebody takes a message out. */
enum wio_status wio_feed_post_end(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t queue;
    if (!is_message(event) || event->error != 0 || event->arg[1] == 0) {
        return WIO_OK;
    }
    WIO_TRY(queue_of(feed, event, &queue));
    struct wio_feed_list *list = &feed->objects[queue].list;
    while (list->count > 0) {
        const struct wio_feed_node taken = feed->nodes[list->first];
        wio_feed_drop_first(feed, list);
        if (taken.b >= event->t_ns) {
            return wio_feed_after(feed, event, &taken, 0);
        }
    }
    return WIO_OK;
}

/* Each that is taken lets one sender go; those are kept that may do so. One that waits for a
 * message to come makes no room for it. */
static enum wio_status note_room(struct wio_feed *feed, const struct wio_event *event,
                                 uint32_t object)
{
    uint32_t queue;
    struct wio_feed_node node = wio_feed_node_of(feed, event);
    if (feed->objects[object].opening++ >= feed->objects[object].list.count) {
        return WIO_OK;
    }
    WIO_TRY(queue_of(feed, event, &queue));
    node.b = wio_feed_end_ns(event);
    WIO_TRY(wio_feed_append(feed, &feed->objects[queue].list, &node));
    if (feed->objects[queue].list.count > KEPT_MAX) {
        wio_feed_drop_first(feed, &feed->objects[queue].list);
    }
    return WIO_OK;
}

/* The last time that each thread took, for those who wait until nothing is left. */
static enum wio_status note_taking(struct wio_feed *feed, const struct wio_event *event,
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

static enum wio_status take(struct wio_feed *feed, const struct wio_event *event, uint32_t object)
{
    struct wio_feed_state *state = &feed->objects[object];
    uint64_t wanted = units_of(event);
    uint64_t initial = state->count < wanted ? state->count : wanted;
    state->count -= initial;
    wanted -= initial;
    while (wanted > 0 && state->list.count > 0) {
        struct wio_feed_node *post = &feed->nodes[state->list.first];
        const struct wio_feed_node from = *post;
        uint64_t common = post->a < wanted ? post->a : wanted;
        post->a -= common;
        wanted -= common;
        if (post->a == 0) {
            wio_feed_drop_first(feed, &state->list);
        }
        WIO_TRY(wio_feed_after(feed, event, &from, object));
    }
    return WIO_OK;
}

/* A call of System V that takes is kept until it ends: somebody may find that nothing is left
 * before it does, while the unit is gone already. */
enum wio_status wio_feed_take_begin(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t object;
    struct wio_feed_node node = wio_feed_node_of(feed, event);
    if ((event->op != WIO_OP_semop && !is_message(event)) || event->error != 0) {
        return WIO_OK;
    }
    WIO_TRY(semaphore_of(feed, event, &object));
    if (is_message(event)) {
        return note_room(feed, event, object);
    }
    node.a = units_of(event);
    node.b = event->seq;
    return wio_feed_append(feed, &feed->objects[object].openings, &node);
}

static void end_taking(struct wio_feed *feed, const struct wio_event *event,
                       struct wio_feed_list *list)
{
    struct wio_point point = wio_feed_point(feed, event);
    uint32_t before = WIO_FEED_NONE;
    for (uint32_t i = list->first; i != WIO_FEED_NONE; before = i, i = feed->nodes[i].next) {
        if (feed->nodes[i].thread == point.thread && feed->nodes[i].b == point.op) {
            wio_feed_drop_behind(feed, list, before);
            return;
        }
    }
}

enum wio_status wio_feed_take_end(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t object;
    if (event->error != 0) {
        return WIO_OK;
    }
    WIO_TRY(semaphore_of(feed, event, &object));
    wio_feed_note_taker(&feed->objects[object], wio_feed_point(feed, event).thread);
    WIO_TRY(take(feed, event, object));
    if (is_message(event)) {
        feed->objects[object].opening -= feed->objects[object].opening > 0 ? 1 : 0;
    }
    end_taking(feed, event, &feed->objects[object].openings);
    return is_of_system_v(event) ? note_taking(feed, event, object) : WIO_OK;
}

/* What is left of the posts was taken by calls that have not ended; the first that came. */
static enum wio_status after_pending(struct wio_feed *feed, const struct wio_event *event,
                                     const struct wio_feed_state *state)
{
    uint64_t left = state->count;
    const uint32_t own = wio_feed_point(feed, event).thread;
    for (uint32_t i = state->list.first; i != WIO_FEED_NONE; i = feed->nodes[i].next) {
        const struct wio_feed_node *post = &feed->nodes[i];
        bool is_own = post->thread == own && post->begin_ns >= event->t_ns; /* it came after */
        left += is_own ? 0 : post->a;
    }
    for (uint32_t i = state->openings.first; i != WIO_FEED_NONE && left > 0;
         i = feed->nodes[i].next) {
        left -= feed->nodes[i].a < left ? feed->nodes[i].a : left;
        WIO_TRY(wio_feed_after(feed, event, &feed->nodes[i], 0));
    }
    return WIO_OK;
}

/* All that was in it has been taken: by each of those who took. */
enum wio_status wio_feed_zero_end(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t object;
    if (event->error != 0) {
        return WIO_OK;
    }
    WIO_TRY(semaphore_of(feed, event, &object));
    const struct wio_feed_state *state = &feed->objects[object];
    for (uint32_t i = state->more.first; i != WIO_FEED_NONE; i = feed->nodes[i].next) {
        WIO_TRY(wio_feed_after(feed, event, &feed->nodes[i], 0));
    }
    return after_pending(feed, event, state);
}
