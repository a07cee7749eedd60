/* SPDX-License-Identifier: Apache-2.0 */
/* Naming a cycle. Every blocked thread waits for a blocked thread: following that goes round. */
#include <inttypes.h>
#include <stdio.h>

#include "causal/order/order_internal.h"

/* A message has 1024 bytes; a longer cycle is cut. */
#define NAMED_MOST 8
#define NAME_BYTES 64

static bool is_blocked(const struct wio_order_thread *thread)
{
    return thread->blocked_edge != WIO_NO_INDEX || thread->blocked_collective != WIO_NO_INDEX;
}

/* The member that the thread's collective still waits for. */
static const struct wio_member *missing_member(const struct wio_order_walk *walk,
                                               const struct wio_collective *collective)
{
    size_t i = collective->first;
    while (!walk->keys.edges->members[i].gives || walk->has_entered[i]) {
        i++;
    }
    return &walk->keys.edges->members[i];
}

static uint32_t waits_for(const struct wio_order_walk *walk, uint32_t t)
{
    const struct wio_order_thread *thread = &walk->threads[t];
    if (thread->blocked_edge != WIO_NO_INDEX) {
        return walk->keys.edges->edges[thread->blocked_edge].from_thread;
    }
    return missing_member(walk, &walk->keys.edges->collectives[thread->blocked_collective])->thread;
}

static void name_point(const struct wio_edges *edges, struct wio_point point, char *text)
{
    if (edges->name_point != NULL) {
        edges->name_point(edges->name_context, point, text, NAME_BYTES);
        return;
    }
    (void)snprintf(text, NAME_BYTES, "%" PRIu32 ":%" PRIu64, point.thread, point.op);
}

static void name_wait(const struct wio_order_walk *walk, uint32_t t, struct wio_error *err)
{
    const struct wio_edges *edges = walk->keys.edges;
    const struct wio_order_thread *thread = &walk->threads[t];
    char waiting[NAME_BYTES];
    char awaited[NAME_BYTES];
    unsigned class = WIO_EDGE_COLLECTIVE;
    unsigned evidence;
    struct wio_point from;
    if (thread->blocked_edge != WIO_NO_INDEX) {
        const struct wio_edge *edge = &edges->edges[thread->blocked_edge];
        from = (struct wio_point){edge->from_op, edge->from_thread};
        class = edge->class;
        evidence = edge->evidence;
    } else {
        const struct wio_collective *collective = &edges->collectives[thread->blocked_collective];
        const struct wio_member *member = missing_member(walk, collective);
        from = (struct wio_point){member->enter_op, member->thread};
        evidence = collective->evidence;
    }
    name_point(edges, (struct wio_point){thread->op, t}, waiting);
    name_point(edges, from, awaited);
    wio_error_add(err, "%s waits for %s (%s, %s)", waiting, awaited, wio_edge_class_name(class),
                  wio_evidence_name(evidence));
}

/* A thread of a cycle: after as many steps as there are threads we are on one. */
static uint32_t on_cycle(const struct wio_order_walk *walk)
{
    uint32_t threads = walk->keys.edges->threads;
    uint32_t t = 0;
    while (!is_blocked(&walk->threads[t])) {
        t++;
    }
    for (uint32_t i = 0; i < threads; i++) {
        t = waits_for(walk, t);
    }
    return t;
}

/* Is edge `a` more likely wrong than `b`? Where both are of one kind, the one whose source its
 * thread has further to go to. */
static bool is_weaker(const struct wio_order_walk *walk, uint32_t a, uint32_t b)
{
    const struct wio_edge *edges = walk->keys.edges->edges;
    const bool is_hard[2] = {edges[a].class == WIO_EDGE_HARD, edges[b].class == WIO_EDGE_HARD};
    if (is_hard[0] != is_hard[1]) {
        return is_hard[1];
    }
    return edges[a].from_op - walk->threads[edges[a].from_thread].op >
           edges[b].from_op - walk->threads[edges[b].from_thread].op;
}

uint32_t wio_order_weakest_edge(const struct wio_order_walk *walk)
{
    const uint32_t first = on_cycle(walk);
    uint32_t weakest = WIO_NO_INDEX;
    uint32_t t = first;
    do {
        const uint32_t edge = walk->threads[t].blocked_edge;
        const bool may_be =
            edge != WIO_NO_INDEX && walk->keys.edges->edges[edge].evidence != WIO_EVIDENCE_HELD;
        if (may_be && (weakest == WIO_NO_INDEX || is_weaker(walk, edge, weakest))) {
            weakest = edge;
        }
        t = waits_for(walk, t);
    } while (t != first);
    return weakest;
}

enum wio_status wio_order_report_cycle(const struct wio_order_walk *walk, struct wio_error *err)
{
    uint32_t t = on_cycle(walk);
    uint32_t length = 1;
    for (uint32_t u = waits_for(walk, t); u != t; u = waits_for(walk, u)) {
        length++;
    }
    (void)wio_error_set(err, WIO_ERR_FORMAT, NULL, WIO_ERROR_NO_OFFSET,
                        "the order goes round in a cycle of %" PRIu32 " waits%s", length,
                        walk->keys.edges->name_point == NULL ? " (thread:operation)" : "");
    for (uint32_t i = 0; i < length && i < NAMED_MOST; i++) {
        name_wait(walk, t, err);
        t = waits_for(walk, t);
    }
    return WIO_ERR_FORMAT;
}
