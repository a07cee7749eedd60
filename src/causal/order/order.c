/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk: each thread goes on until it meets a point whose sources are not passed; passing a
 * source wakes the threads that wait for it. Nothing is queued twice, so the ring of ready threads
 * is as long as there are threads.
 */
#include "causal/order/order.h"

#include "base/cleanup.h"
#include "causal/order/order_internal.h"

static void push(struct wio_order_walk *walk, uint32_t thread)
{
    uint32_t threads = walk->keys.edges->threads;
    walk->ready[(walk->ready_first + walk->ready_count++) % threads] = thread;
}

/* The item that `thread` meets next for this reason; false where there is none. */
static bool peek(const struct wio_order_walk *walk, uint32_t thread, enum wio_order_reason reason,
                 uint32_t *item_out, uint64_t *op_out)
{
    size_t place = walk->threads[thread].next[reason];
    if (place >= walk->index[reason].start[thread + 1]) {
        return false;
    }
    struct wio_point point;
    *item_out = walk->index[reason].items[place];
    (void)wio_order_key(&walk->keys, reason, *item_out, &point);
    *op_out = point.op;
    return true;
}

/* The next item at exactly operation `op`, and step over it. */
static bool take(struct wio_order_walk *walk, uint32_t thread, enum wio_order_reason reason,
                 uint64_t op, uint32_t *item_out)
{
    uint64_t item_op;
    if (!peek(walk, thread, reason, item_out, &item_op) || item_op != op) {
        return false;
    }
    walk->threads[thread].next[reason]++;
    return true;
}

static bool next_stop(const struct wio_order_walk *walk, uint32_t thread, uint64_t *op_out)
{
    bool found = false;
    for (unsigned r = 0; r < WIO_ORDER_REASON_COUNT; r++) {
        uint32_t item;
        uint64_t op;
        if (peek(walk, thread, (enum wio_order_reason)r, &item, &op) && (!found || op < *op_out)) {
            *op_out = op;
            found = true;
        }
    }
    return found;
}

static void wake_takers(struct wio_order_walk *walk, uint32_t c)
{
    const struct wio_collective *collective = &walk->keys.edges->collectives[c];
    for (size_t i = collective->first; i < collective->first + collective->count; i++) {
        uint32_t t = walk->keys.edges->members[i].thread;
        if (walk->threads[t].blocked_collective == c) {
            walk->threads[t].blocked_collective = WIO_NO_INDEX;
            push(walk, t);
        }
    }
}

static enum wio_status enter(struct wio_order_walk *walk, uint32_t t, uint32_t member)
{
    uint32_t c = walk->collective_of[member];
    struct wio_order_hub *hub = &walk->hubs[c];
    walk->has_entered[member] = true;
    hub->givers_missing--;
    if (hub->takers_left > 0) {
        if (hub->clock == NULL) {
            hub->clock = wio_order_clock_get(&walk->clocks);
        }
        if (hub->clock == NULL) {
            return WIO_ERR_NOMEM;
        }
        struct wio_point done = {walk->keys.edges->members[member].enter_op, t};
        WIO_TRY(wio_order_clock_join(&walk->clocks, &hub->clock, walk->threads[t].clock, done));
    }
    if (hub->givers_missing == 0) {
        wake_takers(walk, c);
    }
    return WIO_OK;
}

static bool counts(const struct wio_order_walk *walk, uint32_t edge)
{
    return walk->left_out == NULL || !walk->left_out[edge];
}

/* Is all there that the stop waits for? Else the thread is blocked on the first that is not. */
static bool can_pass(struct wio_order_walk *walk, uint32_t t)
{
    struct wio_order_thread *thread = &walk->threads[t];
    const struct wio_order_index *in = &walk->index[WIO_ORDER_IN];
    size_t at = thread->next[WIO_ORDER_IN];
    at = thread->checked > at ? thread->checked : at;
    for (; at < in->start[t + 1]; at++) {
        uint32_t edge = in->items[at];
        if (walk->keys.edges->edges[edge].to_op != thread->op) {
            break;
        }
        if (walk->sources[edge] == NULL && counts(walk, edge)) {
            thread->blocked_edge = edge;
            thread->checked = at;
            return false;
        }
    }
    thread->checked = at;
    const struct wio_order_index *leave = &walk->index[WIO_ORDER_LEAVE];
    for (size_t i = thread->next[WIO_ORDER_LEAVE]; i < leave->start[t + 1]; i++) {
        uint32_t member = leave->items[i];
        if (walk->keys.edges->members[member].leave_op != thread->op) {
            break;
        }
        if (walk->hubs[walk->collective_of[member]].givers_missing > 0) {
            thread->blocked_collective = walk->collective_of[member];
            return false;
        }
    }
    return true;
}

static enum wio_status leave_collectives(struct wio_order_walk *walk, uint32_t t,
                                         uint32_t *collective_out)
{
    unsigned left = 0;
    struct wio_order_thread *thread = &walk->threads[t];
    uint32_t member;
    while (take(walk, t, WIO_ORDER_LEAVE, thread->op, &member)) {
        struct wio_order_hub *hub = &walk->hubs[walk->collective_of[member]];
        if (hub->clock == NULL) {
            continue; /* no member gives: it waits for nothing */
        }
        *collective_out = left++ == 0 ? walk->collective_of[member] : WIO_ORDER_NONE;
        struct wio_point own = {0, t};
        WIO_TRY(wio_order_clock_join(&walk->clocks, &thread->clock, hub->clock, own));
        if (--hub->takers_left == 0) {
            wio_order_clock_put(&walk->clocks, hub->clock);
            hub->clock = NULL;
        }
    }
    return WIO_OK;
}

static enum wio_status collect_in(struct wio_order_walk *walk, uint32_t t, size_t *count_out)
{
    size_t count = 0;
    uint32_t edge;
    while (take(walk, t, WIO_ORDER_IN, walk->threads[t].op, &edge)) {
        if (!counts(walk, edge)) {
            continue;
        }
        WIO_TRY(wio_alloc_room(&walk->alloc, (void **)&walk->in, &walk->in_room, count + 1,
                               sizeof(*walk->in)));
        const struct wio_edge *e = &walk->keys.edges->edges[edge];
        walk->in[count++] = (struct wio_order_in){
            .edge = edge, .from = {e->from_op, e->from_thread}, .clock = walk->sources[edge]};
    }
    *count_out = count;
    return WIO_OK;
}

static void pass_out(struct wio_order_walk *walk, uint32_t t)
{
    struct wio_order_thread *thread = &walk->threads[t];
    uint32_t edge;
    while (take(walk, t, WIO_ORDER_OUT, thread->op, &edge)) {
        if (!counts(walk, edge)) {
            continue;
        }
        walk->sources[edge] = thread->clock;
        thread->clock->refs++;
        struct wio_order_thread *to = &walk->threads[walk->keys.edges->edges[edge].to_thread];
        if (to->blocked_edge == edge) {
            to->blocked_edge = WIO_NO_INDEX;
            push(walk, walk->keys.edges->edges[edge].to_thread);
        }
    }
}

static enum wio_status pass(struct wio_order_walk *walk, uint32_t t)
{
    struct wio_order_thread *thread = &walk->threads[t];
    uint32_t collective = WIO_ORDER_NONE;
    WIO_TRY(leave_collectives(walk, t, &collective));
    size_t in_count;
    WIO_TRY(collect_in(walk, t, &in_count));
    struct wio_order_stop stop = {.point = {thread->op, t},
                                  .clock = thread->clock,
                                  .in = walk->in,
                                  .in_count = in_count,
                                  .collective = collective};
    if (walk->visit != NULL) {
        WIO_TRY(walk->visit(walk->context, &stop));
    }
    for (size_t i = 0; i < in_count; i++) {
        const struct wio_order_in *in = &walk->in[i];
        WIO_TRY(wio_order_clock_join(&walk->clocks, &thread->clock, in->clock,
                                     (struct wio_point){in->from.op + 1, in->from.thread}));
        wio_order_clock_put(&walk->clocks, walk->sources[in->edge]);
        walk->sources[in->edge] = NULL;
    }
    pass_out(walk, t);
    return WIO_OK;
}

/* Until the thread is blocked or at its end. */
static enum wio_status run(struct wio_order_walk *walk, uint32_t t)
{
    struct wio_order_thread *thread = &walk->threads[t];
    while (next_stop(walk, t, &thread->op)) {
        uint32_t member;
        while (take(walk, t, WIO_ORDER_ENTER, thread->op, &member)) {
            WIO_TRY(enter(walk, t, member));
        }
        if (!can_pass(walk, t)) {
            return WIO_OK;
        }
        WIO_TRY(pass(walk, t));
    }
    wio_order_clock_put(&walk->clocks, thread->clock);
    thread->clock = NULL;
    return WIO_OK;
}

static enum wio_status init_threads(struct wio_order_walk *walk)
{
    uint32_t threads = walk->keys.edges->threads;
    struct wio_order_clock *nothing = wio_order_clock_get(&walk->clocks);
    if (nothing == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t t = 0; t < threads; t++) {
        struct wio_order_thread *thread = &walk->threads[t];
        thread->blocked_edge = WIO_NO_INDEX;
        thread->blocked_collective = WIO_NO_INDEX;
        thread->clock = nothing;
        nothing->refs++;
        for (unsigned r = 0; r < WIO_ORDER_REASON_COUNT; r++) {
            thread->next[r] = walk->index[r].start[t];
        }
        push(walk, t);
    }
    wio_order_clock_put(&walk->clocks, nothing);
    return WIO_OK;
}

static void init_hubs(struct wio_order_walk *walk)
{
    const struct wio_edges *edges = walk->keys.edges;
    for (size_t c = 0; c < edges->collective_count; c++) {
        const struct wio_collective *collective = &edges->collectives[c];
        for (size_t i = collective->first; i < collective->first + collective->count; i++) {
            walk->collective_of[i] = (uint32_t)c;
            walk->hubs[c].givers_missing += edges->members[i].gives ? 1 : 0;
            walk->hubs[c].takers_left += edges->members[i].takes ? 1 : 0;
        }
    }
}

static enum wio_status init(struct wio_order_walk *walk)
{
    const struct wio_edges *edges = walk->keys.edges;
    const struct wio_alloc *alloc = &walk->alloc;
    wio_order_clocks_init(&walk->clocks, alloc, edges->threads);
    walk->threads = wio_alloc_array(alloc, edges->threads, sizeof(*walk->threads));
    walk->ready = wio_alloc_array(alloc, edges->threads, sizeof(*walk->ready));
    walk->hubs = wio_alloc_array(alloc, edges->collective_count, sizeof(*walk->hubs));
    walk->sources = wio_alloc_array(alloc, edges->edge_count, sizeof(void *));
    walk->collective_of = wio_alloc_array(alloc, edges->member_count, sizeof(*walk->collective_of));
    walk->has_entered = wio_alloc_array(alloc, edges->member_count, sizeof(*walk->has_entered));
    if (walk->threads == NULL || walk->ready == NULL || walk->hubs == NULL ||
        walk->sources == NULL || walk->collective_of == NULL || walk->has_entered == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (unsigned r = 0; r < WIO_ORDER_REASON_COUNT; r++) {
        WIO_TRY(wio_order_index_init(&walk->index[r], &walk->keys, (enum wio_order_reason)r));
    }
    init_hubs(walk);
    return init_threads(walk);
}

/* After an early end clocks may still be referred to by edges, threads and hubs. */
static void put_clocks(struct wio_order_walk *walk)
{
    const struct wio_edges *edges = walk->keys.edges;
    for (uint32_t t = 0; walk->threads != NULL && t < edges->threads; t++) {
        wio_order_clock_put(&walk->clocks, walk->threads[t].clock);
    }
    for (size_t c = 0; walk->hubs != NULL && c < edges->collective_count; c++) {
        wio_order_clock_put(&walk->clocks, walk->hubs[c].clock);
    }
    for (size_t e = 0; walk->sources != NULL && e < edges->edge_count; e++) {
        wio_order_clock_put(&walk->clocks, walk->sources[e]);
    }
}

static void fini(struct wio_order_walk *walk)
{
    const struct wio_alloc *alloc = &walk->alloc;
    put_clocks(walk);
    wio_order_clocks_fini(&walk->clocks);
    for (unsigned r = 0; r < WIO_ORDER_REASON_COUNT; r++) {
        wio_order_index_fini(&walk->index[r], alloc);
    }
    alloc->put(alloc->context, walk->threads);
    alloc->put(alloc->context, walk->ready);
    alloc->put(alloc->context, walk->hubs);
    alloc->put(alloc->context, walk->sources);
    alloc->put(alloc->context, walk->collective_of);
    alloc->put(alloc->context, walk->has_entered);
    alloc->put(alloc->context, walk->in);
}

static enum wio_status run_ready(struct wio_order_walk *walk)
{
    uint32_t threads = walk->keys.edges->threads;
    while (walk->ready_count > 0) {
        uint32_t t = walk->ready[walk->ready_first];
        walk->ready_first = (walk->ready_first + 1) % threads;
        walk->ready_count--;
        WIO_TRY(run(walk, t));
    }
    return WIO_OK;
}

static bool is_any_blocked(const struct wio_order_walk *walk)
{
    for (uint32_t t = 0; t < walk->keys.edges->threads; t++) {
        if (walk->threads[t].blocked_edge != WIO_NO_INDEX ||
            walk->threads[t].blocked_collective != WIO_NO_INDEX) {
            return true;
        }
    }
    return false;
}

/* Its thread goes on without it. */
static void leave_out(struct wio_order_walk *walk, uint32_t edge)
{
    const uint32_t t = walk->keys.edges->edges[edge].to_thread;
    walk->left_out[edge] = true;
    walk->left_out_count++;
    walk->threads[t].blocked_edge = WIO_NO_INDEX;
    push(walk, t);
}

static enum wio_status walk_all(struct wio_order_walk *walk, struct wio_error *err)
{
    WIO_TRY(run_ready(walk));
    while (is_any_blocked(walk)) {
        uint32_t edge = walk->left_out != NULL ? wio_order_weakest_edge(walk) : WIO_NO_INDEX;
        if (edge == WIO_NO_INDEX) {
            return wio_order_report_cycle(walk, err);
        }
        leave_out(walk, edge);
        WIO_TRY(run_ready(walk));
    }
    return WIO_OK;
}

static enum wio_status walk_once(struct wio_order_walk *walk, struct wio_error *err)
{
    enum wio_status status = init(walk);
    if (status == WIO_OK) {
        status = walk_all(walk, err);
    }
    if (status == WIO_ERR_NOMEM) {
        return wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET,
                             "out of memory while ordering edges");
    }
    return status;
}

enum wio_status wio_order_walk(const struct wio_edges *edges, unsigned classes,
                               wio_order_visit *visit, void *context, struct wio_error *err)
{
    struct wio_order_walk walk WIO_CLEANUP(fini) = {
        .keys = {edges, classes}, .alloc = edges->alloc, .visit = visit, .context = context};
    return walk_once(&walk, err);
}

enum wio_status wio_order_break_cycles(const struct wio_edges *edges, bool *left_out,
                                       size_t *count_out, struct wio_error *err)
{
    struct wio_order_walk walk WIO_CLEANUP(fini) = {
        .keys = {edges, WIO_EDGE_ALL}, .alloc = edges->alloc, .left_out = left_out};
    enum wio_status status = walk_once(&walk, err);
    *count_out = walk.left_out_count;
    return status;
}
