/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holding proves. For each operation and each other node two numbers: how many operations of
 * that node come before it for sure (the edges' vector clock), and how many can at most (what was
 * not done yet in some run when it went, and what waits for it itself). Where they are equal for
 * all operations nothing is left to find.
 */
#include "base/cleanup.h"
#include "base/memory.h"
#include "causal/hold/hold_internal.h"
#include "causal/order/order.h"

/* Both numbers, per node: known x nodes. */
struct bounds {
    struct wio_hold *hold;
    uint64_t **low;
    uint64_t **high;
};

static void free_rows(const struct wio_hold *hold, uint64_t **rows)
{
    for (uint32_t n = 0; rows != NULL && n < hold->params.nodes; n++) {
        hold->alloc.put(hold->alloc.context, rows[n]);
    }
    hold->alloc.put(hold->alloc.context, rows);
}

static uint64_t **make_rows(const struct wio_hold *hold)
{
    uint32_t nodes = hold->params.nodes;
    uint64_t **rows = wio_alloc_array(&hold->alloc, nodes, sizeof(*rows));
    for (uint32_t n = 0; rows != NULL && n < nodes; n++) {
        rows[n] = wio_alloc_array(&hold->alloc, hold->nodes[n].known * nodes, sizeof(**rows));
        if (rows[n] == NULL) {
            free_rows(hold, rows);
            return NULL;
        }
    }
    return rows;
}

/* ---- what runs did not obey ------------------------------------------------------------------ */

/* Earlier operations wait for at most as much as later ones. */
static void spread_bounds(const struct wio_hold *hold)
{
    uint32_t nodes = hold->params.nodes;
    for (uint32_t n = 0; n < nodes; n++) {
        uint64_t *bound = hold->nodes[n].bound;
        uint64_t known = hold->nodes[n].known;
        for (uint64_t i = known > 0 ? (known - 1) * nodes : 0; i-- > 0;) {
            bound[i] = bound[i + nodes] < bound[i] ? bound[i + nodes] : bound[i];
        }
    }
}

/*
 * An edge that one run showed and another did not obey is none: its two ends came in either order.
 * What is left has no cycle, since each run obeyed all of it.
 */
static enum wio_status drop_contradicted(struct wio_hold *hold)
{
    uint32_t nodes = hold->params.nodes;
    bool *drop = wio_alloc_array(&hold->alloc, hold->edges.edge_count, sizeof(*drop));
    if (drop == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (size_t i = 0; i < hold->edges.edge_count; i++) {
        const struct wio_edge *edge = &hold->edges.edges[i];
        const struct wio_hold_node *to = &hold->nodes[edge->to_thread];
        drop[i] = edge->to_op < to->known &&
                  to->bound[edge->to_op * nodes + edge->from_thread] <= edge->from_op;
        hold->contradicted += drop[i] && edge->evidence == WIO_EVIDENCE_HELD ? 1 : 0;
    }
    wio_edges_compact(&hold->edges, drop);
    hold->alloc.put(hold->alloc.context, drop);
    return WIO_OK;
}

/* Did a taker leave before a giver had entered? */
static bool is_contradicted(const struct wio_hold *hold, const struct wio_collective *collective)
{
    const struct wio_member *members = &hold->edges.members[collective->first];
    for (size_t i = 0; i < collective->count; i++) {
        const struct wio_hold_node *to = &hold->nodes[members[i].thread];
        if (!members[i].takes || members[i].leave_op >= to->known) {
            continue;
        }
        const uint64_t *bound = &to->bound[members[i].leave_op * hold->params.nodes];
        for (size_t k = 0; k < collective->count; k++) {
            if (k != i && members[k].gives && bound[members[k].thread] < members[k].enter_op) {
                return true;
            }
        }
    }
    return false;
}

/* The same of a collective: one that need not wait (opening a file) has no part in it any more. */
static void drop_collectives(struct wio_hold *hold)
{
    for (size_t c = 0; c < hold->edges.collective_count; c++) {
        const struct wio_collective *collective = &hold->edges.collectives[c];
        bool is_dropped = is_contradicted(hold, collective);
        for (size_t i = 0; is_dropped && i < collective->count; i++) {
            hold->edges.members[collective->first + i].gives = false;
            hold->edges.members[collective->first + i].takes = false;
        }
    }
}

/* ---- for sure, and at most ------------------------------------------------------------------- */

static enum wio_status note_clock(void *context, const struct wio_order_stop *stop)
{
    struct bounds *bounds = context;
    uint32_t nodes = bounds->hold->params.nodes;
    if (stop->point.op >= bounds->hold->nodes[stop->point.thread].known) {
        return WIO_OK; /* waits behind its last operation */
    }
    uint64_t *row = &bounds->low[stop->point.thread][stop->point.op * nodes];
    for (uint32_t n = 0; n < nodes; n++) {
        row[n] = wio_order_before(stop, n);
        for (size_t i = 0; i < stop->in_count; i++) {
            uint64_t done = wio_order_done(&stop->in[i], n);
            row[n] = done > row[n] ? done : row[n];
        }
    }
    return WIO_OK;
}

/* Later operations know at least as much as earlier ones. */
static void spread_clocks(const struct bounds *bounds)
{
    uint32_t nodes = bounds->hold->params.nodes;
    for (uint32_t n = 0; n < nodes; n++) {
        uint64_t *low = bounds->low[n];
        for (uint64_t i = nodes; i < bounds->hold->nodes[n].known * nodes; i++) {
            low[i] = low[i - nodes] > low[i] ? low[i - nodes] : low[i];
        }
    }
}

/* What `other` does from its `op` on comes after the first `done` operations of n: these do not
 * wait for that. Those before `from` are known to come before even earlier ones. */
static void tighten(const struct bounds *bounds, uint32_t n, uint64_t from, uint64_t done,
                    uint32_t other, uint64_t op)
{
    uint32_t nodes = bounds->hold->params.nodes;
    for (uint64_t k = from; k < done; k++) {
        uint64_t *high = &bounds->high[n][k * nodes + other];
        *high = op < *high ? op : *high;
    }
}

/* What comes before an operation for sure does not come after it. */
static void turn_round(const struct bounds *bounds)
{
    uint32_t nodes = bounds->hold->params.nodes;
    for (uint32_t other = 0; other < nodes; other++) {
        for (uint32_t n = 0; n < nodes; n++) {
            uint64_t from = 0;
            uint64_t known = n != other ? bounds->hold->nodes[other].known : 0;
            for (uint64_t op = 0; op < known; op++) {
                uint64_t done = bounds->low[other][op * nodes + n];
                tighten(bounds, n, from, done, other, op);
                from = done;
            }
        }
    }
}

static void copy_bounds(const struct bounds *bounds)
{
    uint32_t nodes = bounds->hold->params.nodes;
    for (uint32_t n = 0; n < nodes; n++) {
        for (uint64_t i = 0; i < bounds->hold->nodes[n].known * nodes; i++) {
            bounds->high[n][i] = bounds->hold->nodes[n].bound[i];
        }
    }
}

/* ---- what is open ---------------------------------------------------------------------------- */

/* What is open between the operations of n and those of `other` that may come before. Both bounds
 * grow with the operation, so nothing is marked twice. */
static void find_open_pairs(const struct bounds *bounds, uint32_t n, uint32_t other)
{
    struct wio_hold *hold = bounds->hold;
    struct wio_hold_node *from = &hold->nodes[other];
    uint64_t marked = 0;
    for (uint64_t op = 0; op < hold->nodes[n].known; op++) {
        uint64_t low = bounds->low[n][op * hold->params.nodes + other];
        uint64_t high = bounds->high[n][op * hold->params.nodes + other];
        if (high <= low) {
            continue;
        }
        hold->unproven++;
        from->gap += high - low;
        hold->nodes[n].is_open[op] = true;
        for (marked = low > marked ? low : marked; marked < high; marked++) {
            from->is_open[marked] = true;
        }
    }
}

static void find_open(const struct bounds *bounds)
{
    uint32_t nodes = bounds->hold->params.nodes;
    for (uint32_t n = 0; n < nodes; n++) {
        for (uint32_t other = 0; other < nodes; other++) {
            if (n != other) {
                find_open_pairs(bounds, n, other);
            }
        }
    }
}

static enum wio_status forget_open(struct wio_hold *hold)
{
    hold->unproven = 0;
    for (uint32_t n = 0; n < hold->params.nodes; n++) {
        struct wio_hold_node *node = &hold->nodes[n];
        hold->alloc.put(hold->alloc.context, node->is_open);
        node->is_open = wio_alloc_array(&hold->alloc, node->known, sizeof(*node->is_open));
        node->gap = 0;
        if (node->is_open == NULL) {
            return WIO_ERR_NOMEM;
        }
    }
    return WIO_OK;
}

static enum wio_status compare(struct bounds *bounds)
{
    struct wio_hold *hold = bounds->hold;
    if (bounds->low == NULL || bounds->high == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(forget_open(hold));
    WIO_TRY(wio_order_walk(&hold->edges, WIO_EDGE_FIRM, note_clock, bounds, NULL));
    spread_clocks(bounds);
    copy_bounds(bounds);
    turn_round(bounds);
    find_open(bounds);
    return WIO_OK;
}

enum wio_status wio_hold_compare_bounds(struct wio_hold *hold)
{
    spread_bounds(hold);
    WIO_TRY(drop_contradicted(hold));
    drop_collectives(hold);
    struct bounds bounds = {hold, make_rows(hold), make_rows(hold)};
    enum wio_status status = compare(&bounds);
    free_rows(hold, bounds.low);
    free_rows(hold, bounds.high);
    return status;
}
