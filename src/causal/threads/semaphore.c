/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semaphores, and message queues, whose messages of one type or priority are units of a semaphore.
 * R-SYNC-6, R-SYNC-10
 *
 * Units are taken in the order in which they come. Those of the initial value go first; where it is
 * not known, takes that find no post are of it.
 */
#include "causal/threads/sync.h"

/* Receives that are kept per queue. */
#define KEPT_MAX 64u

static enum wio_status semaphore_of(struct wio_infer *infer, const struct wio_event *event,
                                    uint32_t *object_out)
{
    return wio_infer_memory_object(infer, event, WIO_INFER_SEMAPHORE, event->arg[0], object_out);
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

static void drop_all(struct wio_infer *infer, struct wio_infer_list *list)
{
    while (list->count > 0) {
        wio_infer_drop_first(infer, list);
    }
}

/* semctl: it posts the units beyond the old value, and a wait for 0 may depend on it. An unknown
 * initial value counts as 0 while a call is under way, else as enough. */
static enum wio_status set_value(struct wio_infer *infer, const struct wio_event *event,
                                 uint32_t object)
{
    struct wio_infer_node node = wio_infer_node_of(infer, event);
    uint64_t value = event->arg[1] > 0 ? (uint64_t)event->arg[1] : 0;
    uint64_t units = wio_infer_units(infer, object, UINT64_MAX);
    WIO_TRY(wio_infer_zero_before(infer, object, event->t_ns));
    struct wio_infer_semaphore *semaphore = wio_infer_semaphore(infer, object);
    bool is_known = semaphore->has_initial || semaphore->calls.count > 0;
    semaphore->has_initial = true;
    if (is_known && value > units) {
        node.a = value - units;
        node.b = event->t_ns;
        node.is_shared = true;
        return wio_infer_append(infer, &semaphore->posts, &node);
    }
    if (is_known && value == units) {
        return WIO_OK;
    }
    drop_all(infer, &semaphore->posts);
    drop_all(infer, &semaphore->takings);
    semaphore->initial = value;
    return is_known && value == 0 ? wio_infer_append(infer, &semaphore->takings, &node) : WIO_OK;
}

/* A new semaphore may have the address of a destroyed one; one that is opened again is the same. */
enum wio_status wio_infer_semaphore_begin(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    if (event->error != 0) {
        return WIO_OK;
    }
    WIO_TRY(semaphore_of(infer, event, &object));
    if (event->op == WIO_OP_semctl) {
        return set_value(infer, event, object);
    }
    const struct wio_infer_state *known = &infer->objects.items[object];
    bool is_used =
        known->has_giver || known->has_taker || wio_infer_semaphore(infer, object)->has_initial;
    if (is_used && event->arg[2] == 1) {
        return WIO_OK;
    }
    if (is_used) {
        WIO_TRY(wio_infer_new_object(infer, known->object, &object));
    }
    wio_infer_semaphore(infer, object)->initial = event->arg[1] > 0 ? (uint64_t)event->arg[1] : 0;
    wio_infer_semaphore(infer, object)->has_initial = true;
    return WIO_OK;
}

/* One of several operations of a call: all are done at its end, for which it may have waited. */
static bool comes_late(const struct wio_event *event)
{
    return event->op == WIO_OP_semop_post && (event->flags & WIO_EVENT_CAUSED) != 0;
}

static enum wio_status insert(struct wio_infer *infer, struct wio_infer_list *list,
                              const struct wio_infer_node *node)
{
    uint32_t before = list->last;
    if (list->count > 0 && infer->lists.nodes[before].b > node->b) {
        before = WIO_INFER_NONE;
        for (uint32_t i = list->first; infer->lists.nodes[i].b <= node->b;
             i = infer->lists.nodes[i].next) {
            before = i;
        }
    }
    return wio_infer_insert_behind(infer, list, before, node);
}

enum wio_status wio_infer_post_begin(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    struct wio_infer_node node = wio_infer_node_of(infer, event);
    if (event->error != 0) {
        return WIO_OK;
    }
    WIO_TRY(semaphore_of(infer, event, &object));
    wio_infer_note_giver(&infer->objects.items[object], node.thread);
    node.a = units_of(event);
    node.b = event->t_ns;
    if (comes_late(event)) {
        node.b = wio_infer_end_ns(event);
        node.op = event->seq; /* what the call itself waited for comes before it */
        wio_infer_zero_puts_back(infer, event, object);
    } else if (is_of_system_v(event)) {
        WIO_TRY(wio_infer_zero_before(infer, object, event->t_ns));
    }
    return insert(infer, &wio_infer_semaphore(infer, object)->posts, &node);
}

/* The queue as a whole; its list has the receives that made room in it. */
static enum wio_status queue_of(struct wio_infer *infer, const struct wio_event *event,
                                uint32_t *object_out)
{
    return wio_infer_memory_object(infer, event, WIO_INFER_FUTEX, event->arg[1], object_out);
}

/* A send into a full queue waits until a message is taken out. */
enum wio_status wio_infer_post_end(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    uint32_t queue;
    if (event->error == 0 && comes_late(event)) {
        WIO_TRY(semaphore_of(infer, event, &object));
        return wio_infer_zero_before(infer, object, wio_infer_end_ns(event));
    }
    if (!is_message(event) || event->error != 0 || event->arg[1] == 0) {
        return WIO_OK;
    }
    WIO_TRY(queue_of(infer, event, &queue));
    struct wio_infer_list *list = &wio_infer_wakes(infer, queue, WIO_INFER_FUTEX)->wakes;
    while (list->count > 0) {
        const struct wio_infer_node taken = infer->lists.nodes[list->first];
        wio_infer_drop_first(infer, list);
        if (taken.b >= event->t_ns) {
            return wio_infer_after(infer, event, &taken, 0);
        }
    }
    return WIO_OK;
}

/* Each message that is taken may release one sender. A receive that waits for its message makes no
 * room for it. */
static enum wio_status note_room(struct wio_infer *infer, const struct wio_event *event,
                                 uint32_t object)
{
    uint32_t queue;
    struct wio_infer_node node = wio_infer_node_of(infer, event);
    if (wio_infer_semaphore(infer, object)->receives++ >=
        wio_infer_semaphore(infer, object)->posts.count) {
        return WIO_OK;
    }
    WIO_TRY(queue_of(infer, event, &queue));
    node.b = wio_infer_end_ns(event);
    WIO_TRY(wio_infer_append(infer, &wio_infer_wakes(infer, queue, WIO_INFER_FUTEX)->wakes, &node));
    if (wio_infer_wakes(infer, queue, WIO_INFER_FUTEX)->wakes.count > KEPT_MAX) {
        wio_infer_drop_first(infer, &wio_infer_wakes(infer, queue, WIO_INFER_FUTEX)->wakes);
    }
    return WIO_OK;
}

static enum wio_status take(struct wio_infer *infer, const struct wio_event *event, uint32_t object)
{
    struct wio_infer_semaphore *semaphore = wio_infer_semaphore(infer, object);
    uint64_t wanted = units_of(event);
    uint64_t initial = semaphore->initial < wanted ? semaphore->initial : wanted;
    semaphore->initial -= initial;
    wanted -= initial;
    while (wanted > 0 && semaphore->posts.count > 0) {
        struct wio_infer_node *post = &infer->lists.nodes[semaphore->posts.first];
        const struct wio_infer_node from = *post;
        uint64_t common = post->a < wanted ? post->a : wanted;
        post->a -= common;
        wanted -= common;
        if (post->a == 0) {
            wio_infer_drop_first(infer, &semaphore->posts);
        }
        /* object 0: the edge out of a semctl stays HARD */
        WIO_TRY(wio_infer_after(infer, event, &from, from.is_shared ? 0 : object));
    }
    return WIO_OK;
}

/* A take of System V is kept until it ends: its units are gone before that, and a wait for 0 may
 * end first. */
enum wio_status wio_infer_take_begin(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    struct wio_infer_node node = wio_infer_node_of(infer, event);
    if ((event->op != WIO_OP_semop && !is_message(event)) || event->error != 0) {
        return WIO_OK;
    }
    WIO_TRY(semaphore_of(infer, event, &object));
    if (is_message(event)) {
        return note_room(infer, event, object);
    }
    node.a = units_of(event);
    node.b = event->seq;
    return wio_infer_append(infer, &wio_infer_semaphore(infer, object)->calls, &node);
}

enum wio_status wio_infer_take_end(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    if (event->error != 0) {
        return WIO_OK;
    }
    WIO_TRY(semaphore_of(infer, event, &object));
    wio_infer_note_taker(&infer->objects.items[object], wio_infer_point(infer, event).thread);
    WIO_TRY(take(infer, event, object));
    if (is_message(event)) {
        wio_infer_semaphore(infer, object)->receives -=
            wio_infer_semaphore(infer, object)->receives > 0 ? 1 : 0;
    }
    (void)wio_infer_end_call(infer, event, &wio_infer_semaphore(infer, object)->calls);
    return is_of_system_v(event) ? wio_infer_note_taking(infer, event, object) : WIO_OK;
}
