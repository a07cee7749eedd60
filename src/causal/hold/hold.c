/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/hold/hold.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "causal/hold/hold_internal.h"

enum wio_status wio_hold_create(const struct wio_hold_params *params, const struct wio_alloc *alloc,
                                struct wio_hold **hold_out)
{
    if (params->nodes == 0 || params->period == 0 || params->limit_ns == 0) {
        return WIO_ERR_USAGE;
    }
    struct wio_hold *hold = alloc->get(alloc->context, sizeof(*hold));
    if (hold == NULL) {
        return WIO_ERR_NOMEM;
    }
    hold->alloc = *alloc;
    hold->params = *params;
    hold->nodes = wio_alloc_array(alloc, params->nodes, sizeof(*hold->nodes));
    wio_edges_init(&hold->edges, alloc, params->nodes);
    if (hold->nodes == NULL) {
        wio_hold_destroy(hold);
        return WIO_ERR_NOMEM;
    }
    *hold_out = hold;
    return WIO_OK;
}

void wio_hold_destroy(struct wio_hold *hold)
{
    if (hold == NULL) {
        return;
    }
    struct wio_alloc alloc = hold->alloc;
    for (uint32_t n = 0; hold->nodes != NULL && n < hold->params.nodes; n++) {
        alloc.put(alloc.context, hold->nodes[n].bound);
        alloc.put(alloc.context, hold->nodes[n].is_open);
    }
    wio_edges_fini(&hold->edges);
    alloc.put(alloc.context, hold->nodes);
    alloc.put(alloc.context, hold);
}

/* It was last in an earlier run, or nothing is open about it: last place would show nothing. */
static bool is_done(const struct wio_hold *hold, const struct wio_hold_node *node)
{
    return node->was_lowest || (hold->is_planned && node->gap == 0);
}

/* Does `a` go after `b`? The node about which more is open goes last, unless it was last before; in
 * the first run the one with the lower number, since programs tend to begin at rank 0. */
static bool goes_after(const struct wio_hold *hold, uint32_t a, uint32_t b)
{
    const struct wio_hold_node *x = &hold->nodes[a];
    const struct wio_hold_node *y = &hold->nodes[b];
    if (is_done(hold, x) != is_done(hold, y)) {
        return is_done(hold, y);
    }
    return hold->run > 0 && x->gap != y->gap ? x->gap > y->gap : a < b;
}

/* Below this many nodes one run for each is cheap anyway. */
#define ABREAST_NODES 8

/* The second run keeps all nodes abreast: where many feed one, as in a gather, that settles at once
 * what would take a run for each of them. */
static bool is_abreast(const struct wio_hold *hold)
{
    return hold->params.method == WIO_HOLD_PRIORITY && hold->run == 1 &&
           hold->params.nodes >= ABREAST_NODES;
}

void wio_hold_begin_run(struct wio_hold *hold, uint64_t now_ns)
{
    uint32_t nodes = hold->params.nodes;
    WIO_PRE(nodes > 0);
    for (uint32_t n = 0; n < nodes; n++) {
        struct wio_hold_node *node = &hold->nodes[n];
        node->rank = 0;
        for (uint32_t other = 0; other < nodes; other++) {
            node->rank += other != n && goes_after(hold, n, other) ? 1 : 0;
        }
        node->state = WIO_NODE_COMPUTING;
        node->since_ns = now_ns;
        node->done = 0;
        node->spins = false;
    }
    for (uint32_t n = 0; n < nodes; n++) {
        hold->nodes[n].was_lowest |= !is_abreast(hold) && hold->nodes[n].rank == nodes - 1;
    }
    hold->has_last = false;
    hold->edges_before = hold->edges.edge_count;
    hold->moved_ns = now_ns;
    hold->throttled = nodes > 0 ? hold->run % nodes : 0;
}

void wio_hold_throttle(struct wio_hold *hold, uint32_t node)
{
    hold->throttled = node;
}

static bool waits(const struct wio_hold_node *node)
{
    return node->spins || node->state == WIO_NODE_IN_MPI || node->state == WIO_NODE_BLOCKED;
}

static enum wio_status add_edge(struct wio_hold *hold, uint32_t to)
{
    return wio_edges_add(&hold->edges, &(struct wio_edge){.from_thread = hold->last.thread,
                                                          .from_op = hold->last.op,
                                                          .to_thread = to,
                                                          .to_op = hold->nodes[to].done,
                                                          .class = WIO_EDGE_HARD,
                                                          .evidence = WIO_EVIDENCE_HELD});
}

enum wio_status wio_hold_event(struct wio_hold *hold, uint32_t node, enum wio_node_state state,
                               uint64_t now_ns)
{
    if (node >= hold->params.nodes) {
        return WIO_ERR_USAGE;
    }
    struct wio_hold_node *it = &hold->nodes[node];
    bool is_freed = waits(it);
    if (it->state == WIO_NODE_IN_LOCK && state != WIO_NODE_IN_LOCK) {
        hold->has_last = false; /* later moves may be due to the lock's order alone */
    }
    it->state = state;
    it->since_ns = now_ns;
    it->spins = false;
    /* An exit has no operation that an edge could end at. */
    if (!is_freed || waits(it) || state == WIO_NODE_EXITED || !hold->has_last ||
        hold->last.thread == node || hold->params.method == WIO_HOLD_TRACE) {
        return WIO_OK;
    }
    return add_edge(hold, node);
}

/* Does the node stand still, as far as one can know? */
static bool is_still(const struct wio_hold *hold, struct wio_hold_node *node, uint64_t now_ns)
{
    uint64_t patience = hold->params.patience_ns;
    if (node->state == WIO_NODE_COMPUTING && patience > 0 && now_ns - node->since_ns > patience) {
        node->spins = true;
    }
    return node->state != WIO_NODE_COMPUTING || node->spins;
}

/* An operation that goes now waits for no more than what is done. */
static enum wio_status note_bound(struct wio_hold *hold, uint32_t n)
{
    struct wio_hold_node *node = &hold->nodes[n];
    uint32_t nodes = hold->params.nodes;
    bool is_new = node->done >= node->known;
    if (is_new) {
        WIO_TRY(wio_alloc_room(&hold->alloc, (void **)&node->bound, &node->room,
                               (node->done + 1) * nodes, sizeof(*node->bound)));
        node->known = node->done + 1;
    }
    uint64_t *row = &node->bound[node->done * nodes];
    for (uint32_t other = 0; other < nodes; other++) {
        uint64_t done = hold->nodes[other].done;
        row[other] = is_new || done < row[other] ? done : row[other];
    }
    return WIO_OK;
}

static enum wio_status release(struct wio_hold *hold, uint32_t n, uint64_t now_ns,
                               struct wio_hold_decision *decision_out)
{
    struct wio_hold_node *node = &hold->nodes[n];
    WIO_TRY(note_bound(hold, n));
    hold->last = (struct wio_point){node->done++, n};
    hold->has_last = true;
    hold->moved_ns = now_ns;
    node->state = WIO_NODE_COMPUTING;
    node->since_ns = now_ns;
    *decision_out = (struct wio_hold_decision){WIO_HOLD_RELEASE, n};
    return WIO_OK;
}

struct node_count {
    uint32_t still;
    uint32_t exited;
    uint32_t first; /* of highest priority at an I/O, or UINT32_MAX */
};

static bool goes_before(const struct wio_hold *hold, uint32_t a, uint32_t b)
{
    const struct wio_hold_node *x = &hold->nodes[a];
    const struct wio_hold_node *y = &hold->nodes[b];
    if (is_abreast(hold)) {
        return x->done != y->done ? x->done < y->done : a < b;
    }
    return x->rank < y->rank;
}

static struct node_count look(const struct wio_hold *hold, uint64_t now_ns)
{
    struct node_count count = {.first = UINT32_MAX};
    for (uint32_t n = 0; n < hold->params.nodes; n++) {
        struct wio_hold_node *node = &hold->nodes[n];
        count.still += is_still(hold, node, now_ns) ? 1 : 0;
        count.exited += node->state == WIO_NODE_EXITED ? 1 : 0;
        if (node->state == WIO_NODE_AT_IO &&
            (count.first == UINT32_MAX || goes_before(hold, n, count.first))) {
            count.first = n;
        }
    }
    return count;
}

/* The verdict while no node can be released. */
static enum wio_hold_verdict verdict_of(const struct wio_hold *hold, const struct node_count *count,
                                        uint64_t now_ns)
{
    if (count->exited == hold->params.nodes) {
        return WIO_HOLD_ENDED;
    }
    if (now_ns - hold->moved_ns > hold->params.limit_ns) {
        return WIO_HOLD_GIVE_UP;
    }
    bool is_stuck = count->still == hold->params.nodes && count->first == UINT32_MAX;
    return is_stuck ? WIO_HOLD_STUCK : WIO_HOLD_NOTHING;
}

/* //TRACE: the throttled node goes when the others have exited or are blocked, the others at once.
 */
static enum wio_status decide_trace(struct wio_hold *hold, const struct node_count *count,
                                    uint64_t now_ns, struct wio_hold_decision *decision_out)
{
    uint32_t throttled = hold->throttled;
    for (uint32_t n = 0; n < hold->params.nodes; n++) {
        bool is_held = n == throttled && hold->nodes[n].done % hold->params.period == 0;
        if (hold->nodes[n].state == WIO_NODE_AT_IO && !is_held) {
            return release(hold, n, now_ns, decision_out);
        }
    }
    if (hold->nodes[throttled].state != WIO_NODE_AT_IO || count->still != hold->params.nodes) {
        return WIO_OK;
    }
    WIO_TRY(release(hold, throttled, now_ns, decision_out));
    for (uint32_t n = 0; n < hold->params.nodes; n++) {
        if (waits(&hold->nodes[n])) {
            WIO_TRY(add_edge(hold, n));
        }
    }
    return WIO_OK;
}

enum wio_status wio_hold_decide(struct wio_hold *hold, uint64_t now_ns,
                                struct wio_hold_decision *decision_out)
{
    struct node_count count = look(hold, now_ns);
    *decision_out = (struct wio_hold_decision){verdict_of(hold, &count, now_ns), 0};
    if (decision_out->verdict != WIO_HOLD_NOTHING) {
        return WIO_OK;
    }
    if (hold->params.method == WIO_HOLD_TRACE) {
        return decide_trace(hold, &count, now_ns, decision_out);
    }
    if (count.still == hold->params.nodes) {
        return release(hold, count.first, now_ns, decision_out);
    }
    return WIO_OK;
}

enum wio_status wio_hold_expect(struct wio_hold *hold, uint32_t node, uint64_t ops)
{
    struct wio_hold_node *it = &hold->nodes[node];
    WIO_TRY(wio_alloc_room(&hold->alloc, (void **)&it->bound, &it->room,
                           (ops + 1) * hold->params.nodes, sizeof(*it->bound)));
    it->known = ops;
    return WIO_OK;
}

enum wio_status wio_hold_know(struct wio_hold *hold, const struct wio_edge *edge)
{
    return wio_edges_add(&hold->edges, edge);
}

enum wio_status wio_hold_know_collective(struct wio_hold *hold, const struct wio_member *members,
                                         size_t count)
{
    return wio_edges_add_collective(&hold->edges, members, count, 0, WIO_EVIDENCE_MPI);
}

/* Before any run each operation may wait for all that the others do. */
static void open_bounds(const struct wio_hold *hold)
{
    uint32_t nodes = hold->params.nodes;
    for (uint32_t n = 0; n < nodes; n++) {
        for (uint64_t i = 0; i < hold->nodes[n].known * nodes; i++) {
            hold->nodes[n].bound[i] = hold->nodes[i % nodes].known;
        }
    }
}

enum wio_status wio_hold_plan(struct wio_hold *hold, bool *more_out)
{
    hold->is_planned = true;
    open_bounds(hold);
    WIO_TRY(wio_hold_compare_bounds(hold));
    *more_out = hold->unproven > 0;
    return WIO_OK;
}

bool wio_hold_is_open(const struct wio_hold *hold, uint32_t node, uint64_t op)
{
    const struct wio_hold_node *it = &hold->nodes[node];
    return it->is_open == NULL || op >= it->known || it->is_open[op];
}

void wio_hold_pass(struct wio_hold *hold, uint32_t node)
{
    hold->nodes[node].done++;
}

/* Each node once in the last place, and the run abreast. */
static uint32_t runs_most(const struct wio_hold *hold)
{
    uint32_t nodes = hold->params.nodes;
    bool abreast = hold->params.method == WIO_HOLD_PRIORITY && nodes >= ABREAST_NODES;
    return nodes + (abreast ? 1 : 0);
}

enum wio_status wio_hold_end_run(struct wio_hold *hold, bool *more_out)
{
    hold->run++;
    *more_out = hold->run < runs_most(hold);
    if (hold->params.method == WIO_HOLD_TRACE) {
        return WIO_OK;
    }
    WIO_TRY(wio_hold_compare_bounds(hold));
    *more_out = *more_out && hold->unproven > 0;
    return WIO_OK;
}

void wio_hold_drop_run(struct wio_hold *hold)
{
    hold->edges.edge_count = hold->edges_before;
}

const struct wio_edges *wio_hold_borrow_edges(const struct wio_hold *hold)
{
    return &hold->edges;
}

uint64_t wio_hold_found(const struct wio_hold *hold)
{
    uint64_t found = 0;
    for (size_t i = 0; i < hold->edges.edge_count; i++) {
        found += hold->edges.edges[i].evidence == WIO_EVIDENCE_HELD ? 1 : 0;
    }
    return found;
}

uint64_t wio_hold_unproven(const struct wio_hold *hold)
{
    return hold->unproven;
}

uint64_t wio_hold_contradicted(const struct wio_hold *hold)
{
    return hold->contradicted;
}

bool wio_period_next(const struct wio_period_goal *goal, double error, double spent_s,
                     double total_s, uint64_t *period)
{
    uint64_t next = *period / 10;
    double factor = next > 0 ? (double)*period / (double)next : 0;
    if (error <= goal->target_error || *period <= 1 ||
        total_s + spent_s * factor > goal->budget_s) {
        return false;
    }
    *period = next > 0 ? next : 1;
    return true;
}
