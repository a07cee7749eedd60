/* SPDX-License-Identifier: Apache-2.0 */
/*
 * At each point: an edge is implied if its source is already done without the edges into this point
 * (program order, collectives), or done by the time another source of them is. All clocks are of
 * the full graph; as the graph has no cycle, its reduction is unique and edges may be judged one by
 * one.
 */
#include "causal/order/reduce.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "causal/order/order.h"

struct reduction {
    const struct wio_edges *edges;
    bool *drop;
    size_t dropped;
    uint32_t *best; /* per thread: 1 + place in `in` of the latest source of that thread, 0: none */
    uint32_t *used; /* threads whose `best` is set */
    size_t used_count;
    const uint64_t **seen; /* per part of a clock: the last that was looked at; NULL: not needed */
    uint32_t *loose;       /* edges into one stop, and as many places to sort them */
    size_t loose_room;
};

static void drop(struct reduction *reduction, size_t edge)
{
    reduction->drop[edge] = true;
    reduction->dropped++;
}

/* Of sources on one thread only the latest counts: program order implies the others. */
static void keep_latest(struct reduction *reduction, const struct wio_order_stop *stop)
{
    reduction->used_count = 0;
    for (size_t i = 0; i < stop->in_count; i++) {
        uint32_t *best = &reduction->best[stop->in[i].from.thread];
        if (*best == 0) {
            reduction->used[reduction->used_count++] = stop->in[i].from.thread;
            *best = (uint32_t)i + 1;
        } else if (stop->in[i].from.op > stop->in[*best - 1].from.op) {
            drop(reduction, stop->in[*best - 1].edge);
            *best = (uint32_t)i + 1;
        } else {
            drop(reduction, stop->in[i].edge);
        }
    }
}

static bool is_implied(const struct reduction *reduction, const struct wio_order_stop *stop,
                       const struct wio_order_in *in)
{
    if (wio_order_before(stop, in->from.thread) > in->from.op) {
        return true;
    }
    for (size_t k = 0; k < reduction->used_count; k++) {
        const struct wio_order_in *other = &stop->in[reduction->best[reduction->used[k]] - 1];
        if (other != in && wio_order_done(other, in->from.thread) > in->from.op) {
            return true;
        }
    }
    return false;
}

/* What a source knows of other sources drops these; its own entry is meaningless. */
static void drop_known(struct reduction *reduction, const struct wio_order_stop *stop,
                       uint32_t source, uint32_t part)
{
    uint32_t first = part * WIO_ORDER_PART;
    uint32_t threads = reduction->edges->threads;
    const uint64_t *known = wio_order_known_part(stop->in[reduction->best[source] - 1].clock, part);
    if (known == NULL || known == reduction->seen[part]) {
        return;
    }
    for (uint32_t i = 0; i < WIO_ORDER_PART && first + i < threads; i++) {
        uint32_t best = first + i == source ? 0 : reduction->best[first + i];
        if (best != 0 && known[i] > stop->in[best - 1].from.op) {
            reduction->drop[stop->in[best - 1].edge] = true;
        }
    }
    bool has_own = source / WIO_ORDER_PART == part;
    reduction->seen[part] = has_own ? reduction->seen[part] : known;
}

/* Of very many sources each is not compared with each: what they know lies in parts, most of which
 * they share. */
static enum wio_status judge_many(struct reduction *reduction, const struct wio_order_stop *stop)
{
    uint32_t parts = reduction->edges->threads / WIO_ORDER_PART + 1;
    const struct wio_alloc *alloc = &reduction->edges->alloc;
    alloc->put(alloc->context, reduction->seen); /* clocks have changed since */
    reduction->seen = wio_alloc_array(alloc, parts, sizeof(*reduction->seen));
    if (reduction->seen == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (size_t k = 0; k < reduction->used_count; k++) {
        uint32_t source = reduction->used[k];
        const struct wio_order_in *in = &stop->in[reduction->best[source] - 1];
        bool is_known = wio_order_before(stop, source) > in->from.op;
        reduction->drop[in->edge] = reduction->drop[in->edge] || is_known;
        for (uint32_t part = 0; part < parts; part++) {
            drop_known(reduction, stop, source, part);
        }
    }
    for (size_t k = 0; k < reduction->used_count; k++) {
        const struct wio_order_in *in = &stop->in[reduction->best[reduction->used[k]] - 1];
        reduction->dropped += reduction->drop[in->edge] ? 1 : 0;
    }
    return WIO_OK;
}

static void judge_few(struct reduction *reduction, const struct wio_order_stop *stop)
{
    for (size_t k = 0; k < reduction->used_count; k++) {
        const struct wio_order_in *in = &stop->in[reduction->best[reduction->used[k]] - 1];
        if (is_implied(reduction, stop, in)) {
            drop(reduction, in->edge);
        }
    }
}

/* Each source with each, as long as that is cheaper than to look through all clocks. */
#define FEW_MOST (2 * WIO_ORDER_PART)

static enum wio_status judge(void *context, const struct wio_order_stop *stop)
{
    struct reduction *reduction = context;
    keep_latest(reduction, stop);
    size_t few = FEW_MOST + reduction->edges->threads / WIO_ORDER_PART;
    if (reduction->used_count <= few) {
        judge_few(reduction, stop);
    } else {
        WIO_TRY(judge_many(reduction, stop));
    }
    for (size_t k = 0; k < reduction->used_count; k++) {
        reduction->best[reduction->used[k]] = 0;
    }
    return WIO_OK;
}

static bool is_double(const struct wio_edge *a, const struct wio_edge *b)
{
    return a->from_thread == b->from_thread && a->from_op == b->from_op && a->class == b->class &&
           a->object == b->object;
}

static uint64_t from_op_of(const void *context, uint32_t edge)
{
    const struct wio_edges *edges = context;
    return edges->edges[edge].from_op;
}

static uint64_t from_thread_of(const void *context, uint32_t edge)
{
    const struct wio_edges *edges = context;
    return edges->edges[edge].from_thread;
}

static uint64_t object_of(const void *context, uint32_t edge)
{
    const struct wio_edges *edges = context;
    return edges->edges[edge].object;
}

/* Beside each other where both are sorted? Then they may differ in class alone. */
static bool is_beside(const struct wio_edge *a, const struct wio_edge *b)
{
    return a->from_op == b->from_op && a->from_thread == b->from_thread && a->object == b->object;
}

/* The loose edges into a stop, by operation, thread and object that they come from: then only those
 * that are alike in all of it are compared. A read of many small writes has many edges, a lock that
 * many threads had many of one number. */
static enum wio_status sort_loose(struct reduction *reduction, const struct wio_order_stop *stop,
                                  uint32_t *count_out)
{
    const struct wio_edges *edges = reduction->edges;
    uint32_t count = 0;
    WIO_TRY(wio_alloc_room(&edges->alloc, (void **)&reduction->loose, &reduction->loose_room,
                           2 * stop->in_count, sizeof(uint32_t)));
    for (size_t i = 0; i < stop->in_count; i++) {
        const struct wio_edge *edge = &edges->edges[stop->in[i].edge];
        if ((WIO_EDGE_BIT(edge->class) & WIO_EDGE_FIRM) == 0) {
            reduction->loose[count++] = (uint32_t)stop->in[i].edge;
        }
    }
    uint32_t *room = reduction->loose + count;
    wio_stable_sort(reduction->loose, room, count, object_of, edges);
    wio_stable_sort(reduction->loose, room, count, from_thread_of, edges);
    wio_stable_sort(reduction->loose, room, count, from_op_of, edges);
    *count_out = count;
    return WIO_OK;
}

/* The walk over all classes finds a cycle that only locks close, and doubles of loose edges. */
static enum wio_status check_loose(void *context, const struct wio_order_stop *stop)
{
    struct reduction *reduction = context;
    const struct wio_edge *edges = reduction->edges->edges;
    uint32_t count;
    if (stop->in_count == 0) {
        return WIO_OK;
    }
    WIO_TRY(sort_loose(reduction, stop, &count));
    for (uint32_t i = 0; i < count; i++) {
        const struct wio_edge *edge = &edges[reduction->loose[i]];
        for (uint32_t k = i; k > 0 && is_beside(edge, &edges[reduction->loose[k - 1]]); k--) {
            if (is_double(edge, &edges[reduction->loose[k - 1]])) {
                drop(reduction, reduction->loose[i]);
                break;
            }
        }
    }
    return WIO_OK;
}

static bool has_loose(const struct wio_edges *edges)
{
    for (size_t i = 0; i < edges->edge_count; i++) {
        if ((WIO_EDGE_BIT(edges->edges[i].class) & WIO_EDGE_FIRM) == 0) {
            return true;
        }
    }
    return false;
}

static enum wio_status reduce(struct reduction *reduction, struct wio_error *err)
{
    if (reduction->drop == NULL || reduction->best == NULL || reduction->used == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "out of memory while reducing edges");
    }
    WIO_TRY(wio_order_walk(reduction->edges, WIO_EDGE_FIRM, judge, reduction, err));
    if (!has_loose(reduction->edges)) {
        return WIO_OK;
    }
    return wio_order_walk(reduction->edges, WIO_EDGE_ALL, check_loose, reduction, err);
}

static enum wio_status run(struct reduction *reduction, struct wio_error *err)
{
    const struct wio_edges *edges = reduction->edges;
    const struct wio_alloc *alloc = &edges->alloc;
    reduction->best = wio_alloc_array(alloc, edges->threads, sizeof(uint32_t));
    reduction->used = wio_alloc_array(alloc, edges->threads, sizeof(uint32_t));
    enum wio_status status = reduce(reduction, err);
    alloc->put(alloc->context, reduction->best);
    alloc->put(alloc->context, reduction->used);
    alloc->put(alloc->context, reduction->loose);
    alloc->put(alloc->context, reduction->seen);
    return status;
}

enum wio_status wio_edges_find_implied(const struct wio_edges *edges, bool *implied,
                                       struct wio_error *err)
{
    struct reduction reduction = {.edges = edges, .drop = implied};
    return run(&reduction, err);
}

enum wio_status wio_edges_reduce(struct wio_edges *edges, size_t *dropped_out,
                                 struct wio_error *err)
{
    const struct wio_alloc *alloc = &edges->alloc;
    struct reduction reduction = {
        .edges = edges,
        .drop = wio_alloc_array(alloc, edges->edge_count, sizeof(bool)),
    };
    enum wio_status status = run(&reduction, err);
    if (status == WIO_OK) {
        wio_edges_compact(edges, reduction.drop);
        if (dropped_out != NULL) {
            *dropped_out = reduction.dropped;
        }
    }
    alloc->put(alloc->context, reduction.drop);
    return status;
}
