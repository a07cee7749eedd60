/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for 0 of a semaphore of System V: for all takes. R-SYNC-6
 *
 * `takings` has the last take of each thread, `calls` those under way: takes (`a` is how much) and
 * waits for 0 (`a` is 0). A wait is over at the first moment at which nothing is left, though
 * its call may end later: what is posted and taken meanwhile does not matter to it. So each post
 * first checks whether that moment has been.
 *
 * Of calls that also put something back, as locks made of semaphores do, only one goes on at each
 * such moment: which one is known at its end (`is_shared`).
 */
#include "causal/threads/sync.h"

/* So many threads that take from one semaphore are kept. */
#define KEPT_MAX 64u

static enum wio_status object_of(struct wio_infer *infer, const struct wio_event *event,
                                 uint32_t *object_out)
{
    return wio_infer_memory_object(infer, event, WIO_INFER_SEMAPHORE, event->arg[0], object_out);
}

enum wio_status wio_infer_note_taking(struct wio_infer *infer, const struct wio_event *event,
                                      uint32_t object)
{
    struct wio_infer_list *list = &wio_infer_semaphore(infer, object)->takings;
    struct wio_infer_node node = wio_infer_node_of(infer, event);
    for (uint32_t i = list->first; i != WIO_INFER_NONE; i = infer->lists.nodes[i].next) {
        if (infer->lists.nodes[i].thread == node.thread) {
            infer->lists.nodes[i].op = node.op;
            return WIO_OK;
        }
    }
    return list->count < KEPT_MAX ? wio_infer_append(infer, list, &node) : WIO_OK;
}

enum wio_status wio_infer_zero_begin(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    struct wio_infer_node node = wio_infer_node_of(infer, event);
    if (event->error != 0) {
        return WIO_OK;
    }
    WIO_TRY(object_of(infer, event, &object));
    node.b = event->seq;
    return wio_infer_append(infer, &wio_infer_semaphore(infer, object)->calls, &node);
}

void wio_infer_zero_puts_back(struct wio_infer *infer, const struct wio_event *event,
                              uint32_t object)
{
    const uint32_t own = wio_infer_point(infer, event).thread;
    uint32_t i = wio_infer_semaphore(infer, object)->calls.first;
    for (; i != WIO_INFER_NONE; i = infer->lists.nodes[i].next) {
        struct wio_infer_node *node = &infer->lists.nodes[i];
        bool is_same_call = node->thread == own && node->begin_ns == event->t_ns;
        node->is_shared = node->is_shared || (is_same_call && node->a == 0);
    }
}

static enum wio_status follow(struct wio_infer *infer, uint32_t from, struct wio_point to)
{
    const struct wio_infer_node *node = &infer->lists.nodes[from];
    return wio_infer_edge_from_before(infer, (struct wio_edge){.from_thread = node->thread,
                                                               .from_op = node->op,
                                                               .to_thread = to.thread,
                                                               .to_op = to.op,
                                                               .class = WIO_EDGE_HARD,
                                                               .evidence = WIO_EVIDENCE_THREAD});
}

/* A wait is over at `to`: edges from all takes, and from the first of the calls under way, which
 * have taken the `left` units. */
static enum wio_status go_on(struct wio_infer *infer, uint32_t object, struct wio_point to,
                             uint64_t left)
{
    const struct wio_infer_semaphore *semaphore = wio_infer_semaphore(infer, object);
    for (uint32_t i = semaphore->takings.first; i != WIO_INFER_NONE;
         i = infer->lists.nodes[i].next) {
        WIO_TRY(follow(infer, i, to));
    }
    for (uint32_t i = semaphore->calls.first; i != WIO_INFER_NONE && left > 0;
         i = infer->lists.nodes[i].next) {
        uint64_t units = infer->lists.nodes[i].a;
        left -= units < left ? units : left;
        WIO_TRY(units > 0 ? follow(infer, i, to) : WIO_OK);
    }
    return WIO_OK;
}

uint64_t wio_infer_units(const struct wio_infer *infer, uint32_t object, uint64_t until_ns)
{
    const struct wio_infer_semaphore *semaphore = wio_infer_semaphore(infer, object);
    uint64_t units = semaphore->initial;
    for (uint32_t i = semaphore->posts.first; i != WIO_INFER_NONE; i = infer->lists.nodes[i].next) {
        units += infer->lists.nodes[i].b < until_ns ? infer->lists.nodes[i].a : 0;
    }
    return units;
}

static uint64_t wanted_by_calls(const struct wio_infer *infer,
                                const struct wio_infer_semaphore *semaphore)
{
    uint64_t units = 0;
    for (uint32_t i = semaphore->calls.first; i != WIO_INFER_NONE; i = infer->lists.nodes[i].next) {
        units += infer->lists.nodes[i].a;
    }
    return units;
}

enum wio_status wio_infer_zero_before(struct wio_infer *infer, uint32_t object, uint64_t now_ns)
{
    const struct wio_infer_semaphore *semaphore = wio_infer_semaphore(infer, object);
    uint32_t before = WIO_INFER_NONE;
    uint64_t left = semaphore->calls.count > 0 ? wio_infer_units(infer, object, now_ns) : 0;
    if (semaphore->calls.count == 0 || left > wanted_by_calls(infer, semaphore)) {
        return WIO_OK;
    }
    for (uint32_t i = semaphore->calls.first; i != WIO_INFER_NONE;) {
        const struct wio_infer_node node = infer->lists.nodes[i];
        if (node.a > 0 || node.is_shared || node.begin_ns >= now_ns) {
            before = i;
        } else {
            WIO_TRY(go_on(infer, object, (struct wio_point){node.b, node.thread}, left));
            wio_infer_drop_behind(infer, &wio_infer_semaphore(infer, object)->calls, before);
        }
        i = node.next;
    }
    return WIO_OK;
}

/* What is left, but for what the call itself puts back. */
static uint64_t left_for(const struct wio_infer *infer, const struct wio_event *event,
                         uint32_t object)
{
    const struct wio_infer_semaphore *semaphore = wio_infer_semaphore(infer, object);
    const uint32_t own = wio_infer_point(infer, event).thread;
    uint64_t left = semaphore->initial;
    for (uint32_t i = semaphore->posts.first; i != WIO_INFER_NONE; i = infer->lists.nodes[i].next) {
        const struct wio_infer_node *post = &infer->lists.nodes[i];
        bool is_own = post->thread == own && post->begin_ns >= event->t_ns;
        left += is_own || post->b > wio_infer_end_ns(event) ? 0 : post->a;
    }
    return left;
}

enum wio_status wio_infer_zero_end(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    struct wio_point point = wio_infer_point(infer, event);
    if (event->error != 0) {
        return WIO_OK;
    }
    WIO_TRY(object_of(infer, event, &object));
    return wio_infer_end_call(infer, event, &wio_infer_semaphore(infer, object)->calls)
               ? go_on(infer, object, point, left_for(infer, event, object))
               : WIO_OK; /* it has gone on before */
}
