/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/order/merge.h"

#include <inttypes.h>

#include "base/cleanup.h"
#include "causal/core/table.h"

/* What the keys of the table of names stand for. */
enum { PAIR, LEFT, RIGHT };

struct merge {
    struct wio_alloc alloc;
    const struct wio_run *runs;
    uint32_t count;
    uint32_t nodes;
    struct wio_table *names; /* per run: temporary names of run 0 and of this one */
    uint64_t **numbers;      /* per run and node: normalised numbers */
};

uint64_t wio_run_normalise(const struct wio_run_node *node, uint64_t *numbers_out)
{
    uint64_t number = 0;
    for (size_t i = 0; i < node->count; i++) {
        numbers_out[i] = number;
        const struct wio_run_op *op = &node->ops[i];
        const struct wio_run_op *next = i + 1 < node->count ? op + 1 : NULL;
        bool folds = next != NULL && op->is_look && op->result < 0 && next->is_look &&
                     next->name == op->name && next->op == op->op;
        number += folds ? 0 : 1;
    }
    return number;
}

uint32_t wio_runs_source(const struct wio_run *runs, uint32_t count, uint32_t node)
{
    for (uint32_t r = 0; r < count; r++) {
        if (runs[r].throttled == node) {
            return r;
        }
    }
    return 0;
}

static uint64_t *numbers_of(const struct merge *merge, uint32_t run, uint32_t node)
{
    return merge->numbers[(size_t)run * merge->nodes + node];
}

/* The last operation with the number of the one at *place, which stands for all; steps behind it.
 */
static const struct wio_run_op *take(const struct merge *merge, uint32_t run, uint32_t node,
                                     size_t *place)
{
    const struct wio_run_node *n = &merge->runs[run].nodes[node];
    const uint64_t *numbers = numbers_of(merge, run, node);
    if (*place >= n->count) {
        return NULL;
    }
    size_t i = *place;
    while (i + 1 < n->count && numbers[i + 1] == numbers[i]) {
        i++;
    }
    *place = i + 1;
    return &n->ops[i];
}

static enum wio_status bind(struct wio_table *names, uint64_t left, uint64_t right)
{
    uint32_t unused;
    WIO_TRY(wio_table_find(names, (struct wio_table_key){{PAIR, left, right}}, &unused));
    WIO_TRY(wio_table_find(names, (struct wio_table_key){{LEFT, left, 0}}, &unused));
    return wio_table_find(names, (struct wio_table_key){{RIGHT, right, 0}}, &unused);
}

static bool same_name(const struct wio_table *names, uint64_t left, uint64_t right)
{
    if (wio_table_get(names, (struct wio_table_key){{LEFT, left, 0}}) == WIO_NO_INDEX &&
        wio_table_get(names, (struct wio_table_key){{RIGHT, right, 0}}) == WIO_NO_INDEX) {
        return left == right;
    }
    return wio_table_get(names, (struct wio_table_key){{PAIR, left, right}}) != WIO_NO_INDEX;
}

/* All nodes' temporary names first: another node may use a name before its maker's turn comes. */
static enum wio_status bind_names(const struct merge *merge, uint32_t run)
{
    for (uint32_t node = 0; node < merge->nodes; node++) {
        size_t places[2] = {0, 0};
        const struct wio_run_op *a = take(merge, 0, node, &places[0]);
        const struct wio_run_op *b = take(merge, run, node, &places[1]);
        while (a != NULL && b != NULL) {
            if (a->is_temporary && b->is_temporary) {
                WIO_TRY(bind(&merge->names[run], a->name, b->name));
            }
            a = take(merge, 0, node, &places[0]);
            b = take(merge, run, node, &places[1]);
        }
    }
    return WIO_OK;
}

static bool same_op(const struct wio_table *names, const struct wio_run_op *a,
                    const struct wio_run_op *b)
{
    return a->op == b->op && a->size == b->size && a->offset == b->offset &&
           a->result == b->result && a->is_temporary == b->is_temporary &&
           same_name(names, a->name, b->name);
}

/* The first difference of `run` from run 0 at `node`; op is UINT64_MAX where there is none. */
static struct wio_run_difference compare(const struct merge *merge, uint32_t run, uint32_t node)
{
    size_t places[2] = {0, 0};
    for (uint64_t op = 0;; op++) {
        const struct wio_run_op *a = take(merge, 0, node, &places[0]);
        const struct wio_run_op *b = take(merge, run, node, &places[1]);
        if (a == NULL && b == NULL) {
            return (struct wio_run_difference){.op = UINT64_MAX};
        }
        if (a == NULL || b == NULL || !same_op(&merge->names[run], a, b)) {
            return (struct wio_run_difference){
                .found = true,
                .node = node,
                .run = run,
                .op = op,
                .ops = {a, b},
                .raw = {a != NULL ? places[0] - 1 : places[0],
                        b != NULL ? places[1] - 1 : places[1]},
            };
        }
    }
}

static struct wio_run_difference first_difference(const struct merge *merge)
{
    struct wio_run_difference first = {.op = UINT64_MAX};
    for (uint32_t node = 0; node < merge->nodes && !first.found; node++) {
        for (uint32_t run = 1; run < merge->count; run++) {
            struct wio_run_difference one = compare(merge, run, node);
            first = one.op < first.op ? one : first;
        }
    }
    if (!first.found) {
        first.op = 0;
    }
    return first;
}

static enum wio_status renumber(const struct merge *merge, uint32_t run, uint32_t node,
                                uint64_t *op, struct wio_error *err)
{
    if (*op >= merge->runs[run].nodes[node].count) {
        return wio_error_set(err, WIO_ERR_FORMAT, NULL, WIO_ERROR_NO_OFFSET,
                             "run %" PRIu32 ": an edge names operation %" PRIu64 " of node %" PRIu32
                             ", which has fewer",
                             run, *op, node);
    }
    *op = numbers_of(merge, run, node)[*op];
    return WIO_OK;
}

static bool is_folded(const struct merge *merge, uint32_t run, uint32_t node, uint64_t op)
{
    const uint64_t *numbers = numbers_of(merge, run, node);
    return op + 1 < merge->runs[run].nodes[node].count && numbers[op + 1] == numbers[op];
}

static enum wio_status add_edges(const struct merge *merge, uint32_t run, struct wio_table *seen,
                                 struct wio_edges *edges, struct wio_error *err)
{
    const struct wio_edges *from = merge->runs[run].edges;
    for (size_t i = 0; i < from->edge_count; i++) {
        struct wio_edge edge = from->edges[i];
        uint64_t raw = edge.from_op;
        WIO_TRY(renumber(merge, run, edge.from_thread, &edge.from_op, err));
        WIO_TRY(renumber(merge, run, edge.to_thread, &edge.to_op, err));
        if (is_folded(merge, run, edge.from_thread, raw)) {
            /* The poll that it is folded into may wait for the edge's end: go back before both. */
            if (edge.from_op-- == 0) {
                continue;
            }
        }
        uint64_t threads = (uint64_t)edge.from_thread << 32 | edge.to_thread;
        uint32_t known = (uint32_t)seen->hash.count;
        uint32_t number;
        /* Operations are below 2^60: their array would not fit into memory. */
        struct wio_table_key key = {
            {threads, edge.from_op | (uint64_t)edge.class << 60, edge.to_op}};
        WIO_TRY(wio_table_find(seen, key, &number));
        if (number == known) {
            WIO_TRY(wio_edges_add(edges, &edge));
        }
    }
    return WIO_OK;
}

static enum wio_status add_collectives(const struct merge *merge, struct wio_edges *edges,
                                       struct wio_error *err)
{
    const struct wio_edges *from = merge->runs[0].edges;
    for (size_t c = 0; c < from->collective_count; c++) {
        const struct wio_collective *collective = &from->collectives[c];
        struct wio_member *members =
            wio_alloc_array(&merge->alloc, collective->count, sizeof(*members));
        enum wio_status status = members == NULL ? WIO_ERR_NOMEM : WIO_OK;
        for (size_t i = 0; status == WIO_OK && i < collective->count; i++) {
            members[i] = from->members[collective->first + i];
            status = renumber(merge, 0, members[i].thread, &members[i].enter_op, err);
            if (status == WIO_OK) {
                status = renumber(merge, 0, members[i].thread, &members[i].leave_op, err);
            }
        }
        if (status == WIO_OK) {
            status = wio_edges_add_collective(edges, members, collective->count, collective->object,
                                              (enum wio_evidence)collective->evidence);
        }
        merge->alloc.put(merge->alloc.context, members);
        WIO_TRY(status);
    }
    return WIO_OK;
}

static enum wio_status unite(const struct merge *merge, struct wio_edges *edges,
                             struct wio_error *err)
{
    struct wio_table seen WIO_CLEANUP(wio_table_fini);
    wio_table_init(&seen, &merge->alloc);
    for (uint32_t run = 0; run < merge->count; run++) {
        WIO_TRY(add_edges(merge, run, &seen, edges, err));
    }
    return add_collectives(merge, edges, err);
}

static enum wio_status init(struct merge *merge)
{
    size_t cells = (size_t)merge->count * merge->nodes;
    merge->names = wio_alloc_array(&merge->alloc, merge->count, sizeof(*merge->names));
    merge->numbers = wio_alloc_array(&merge->alloc, cells, sizeof(*merge->numbers));
    if (merge->names == NULL || merge->numbers == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t run = 0; run < merge->count; run++) {
        wio_table_init(&merge->names[run], &merge->alloc);
        for (uint32_t node = 0; node < merge->nodes; node++) {
            const struct wio_run_node *n = &merge->runs[run].nodes[node];
            uint64_t *numbers = wio_alloc_array(&merge->alloc, n->count, sizeof(*numbers));
            if (numbers == NULL) {
                return WIO_ERR_NOMEM;
            }
            merge->numbers[(size_t)run * merge->nodes + node] = numbers;
            (void)wio_run_normalise(n, numbers);
        }
    }
    return WIO_OK;
}

static void fini(struct merge *merge)
{
    const struct wio_alloc *alloc = &merge->alloc;
    size_t cells = (size_t)merge->count * merge->nodes;
    for (size_t i = 0; merge->numbers != NULL && i < cells; i++) {
        alloc->put(alloc->context, merge->numbers[i]);
    }
    for (uint32_t run = 0; merge->names != NULL && run < merge->count; run++) {
        if (merge->names[run].alloc.put != NULL) {
            wio_table_fini(&merge->names[run]);
        }
    }
    alloc->put(alloc->context, merge->numbers);
    alloc->put(alloc->context, merge->names);
}

static enum wio_status compare_work(const struct merge *merge, bool *same_out)
{
    *same_out = true;
    for (uint32_t run = 1; run < merge->count && *same_out; run++) {
        const struct wio_run both[] = {merge->runs[0], merge->runs[run]};
        WIO_TRY(wio_runs_share_work(both, merge->nodes, &merge->alloc, same_out));
    }
    return WIO_OK;
}

static enum wio_status merge_all(struct merge *merge, struct wio_edges *edges,
                                 struct wio_run_difference *difference_out, struct wio_error *err)
{
    WIO_TRY(init(merge));
    for (uint32_t run = 1; run < merge->count; run++) {
        WIO_TRY(bind_names(merge, run));
    }
    *difference_out = first_difference(merge);
    return difference_out->found ? compare_work(merge, &difference_out->is_same_work)
                                 : unite(merge, edges, err);
}

enum wio_status wio_runs_merge(const struct wio_run *runs, uint32_t count, struct wio_edges *edges,
                               struct wio_run_difference *difference_out, struct wio_error *err)
{
    *difference_out = (struct wio_run_difference){0};
    for (uint32_t run = 0; run < count; run++) {
        if (runs[run].edges->threads != edges->threads) {
            return wio_error_set(err, WIO_ERR_FORMAT, NULL, WIO_ERROR_NO_OFFSET,
                                 "run %" PRIu32 " has %" PRIu32 " nodes, expected %" PRIu32, run,
                                 runs[run].edges->threads, edges->threads);
        }
    }
    struct merge merge WIO_CLEANUP(fini) = {
        .alloc = edges->alloc, .runs = runs, .count = count, .nodes = edges->threads};
    enum wio_status status = count == 0 ? WIO_OK : merge_all(&merge, edges, difference_out, err);
    if (status == WIO_ERR_NOMEM) {
        return wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET,
                             "out of memory while merging runs");
    }
    return status;
}
