/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/rules/prior_edges.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "causal/order/order.h"
#include "edges/edges_internal.h"
#include "seal/open.h"
#include "throttle/rules/profile.h"
#include "throttle/rules/run_ops.h"

struct prior_edges {
    struct wio_trace *trace;
    struct wio_join_tables tables;
    struct wio_edges edges; /* between events, by thread */
    struct wio_run_ops ops; /* of nodes */
    uint32_t *node_of;      /* per thread; WIO_NO_PARTICIPANT = none */
    uint64_t *done;         /* nodes x nodes: I/Os of the other that come before, as far as told */
    bool *is_told;          /* per collective */
    struct wio_member *members; /* one per node: of the collective that is told just now */
    struct wio_hold *hold;
    uint32_t nodes;
};

static void known_fini(struct prior_edges *known)
{
    wio_edges_fini(&known->edges);
    wio_run_ops_fini(&known->ops);
    wio_join_tables_fini(&known->tables);
    wio_trace_close(known->trace);
    free(known->node_of);
    free(known->done);
    free(known->is_told);
    free(known->members);
}

static enum wio_status no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
}

/* How many I/Os of the node are among the first `events` events of its thread? */
static uint64_t count_before(const struct prior_edges *known, uint32_t node, uint64_t events)
{
    const struct wio_run_list *list = &known->ops.lists[node];
    return WIO_FIRST(i, 0, list->count, list->points[i].seq >= events);
}

static uint64_t events_before(const struct wio_order_stop *stop, uint32_t thread)
{
    uint64_t events = wio_order_before(stop, thread);
    for (size_t i = 0; i < stop->in_count; i++) {
        uint64_t done = wio_order_done(&stop->in[i], thread);
        events = done > events ? done : events;
    }
    return events;
}

/* The stop cannot end before these I/Os of the other node are done; so the next I/O cannot begin,
 * while it could itself if it is one. */
static enum wio_status tell_order(struct prior_edges *known, const struct wio_order_stop *stop,
                                  uint32_t node, uint32_t thread)
{
    uint32_t other = known->node_of[thread];
    uint64_t op = count_before(known, node, stop->point.op + 1);
    uint64_t done = count_before(known, other, events_before(stop, thread));
    uint64_t *told = &known->done[(size_t)node * known->nodes + other];
    if (done <= *told || op >= known->ops.lists[node].count) {
        return WIO_OK;
    }
    *told = done;
    return wio_hold_know(known->hold, &(struct wio_edge){.from_thread = other,
                                                         .from_op = done - 1,
                                                         .to_thread = node,
                                                         .to_op = op,
                                                         .class = WIO_EDGE_HARD,
                                                         .evidence = WIO_EVIDENCE_THREAD});
}

/* Does every member wait for every other one, and this stop know no more than the collective? */
static bool is_meeting(const struct prior_edges *known, const struct wio_order_stop *stop)
{
    if (stop->collective == WIO_ORDER_NONE || stop->in_count > 0) {
        return false;
    }
    const struct wio_collective *collective = &known->edges.collectives[stop->collective];
    for (size_t i = collective->first; i < collective->first + collective->count; i++) {
        const struct wio_member *member = &known->edges.members[i];
        bool is_own = member->thread == stop->point.thread;
        if (!member->gives || (is_own && member->enter_op != member->leave_op)) {
            return false;
        }
    }
    return true;
}

/* The I/Os of each node that precede the leaving of all members; no member takes yet. */
static void fill_row(struct prior_edges *known, const struct wio_order_stop *stop)
{
    for (uint32_t n = 0; n < known->nodes; n++) {
        known->members[n] = (struct wio_member){.thread = n};
    }
    for (uint32_t t = 0; t < known->edges.threads; t++) {
        uint32_t node = known->node_of[t];
        if (node != WIO_NO_PARTICIPANT) {
            uint64_t done = count_before(known, node, wio_order_before(stop, t));
            known->members[node].enter_op = done;
            known->members[node].leave_op = done;
            known->members[node].gives = done > 0;
        }
    }
}

/* Members with an I/O behind it take. False where no member learns of a new predecessor. */
static bool fill_takers(struct prior_edges *known, const struct wio_collective *collective)
{
    bool is_new = false;
    for (size_t i = collective->first; i < collective->first + collective->count; i++) {
        const struct wio_member *member = &known->edges.members[i];
        uint32_t node = known->node_of[member->thread];
        uint64_t op =
            node == WIO_NO_PARTICIPANT ? 0 : count_before(known, node, member->leave_op + 1);
        if (node == WIO_NO_PARTICIPANT || !member->takes || op >= known->ops.lists[node].count) {
            continue;
        }
        known->members[node].takes = true;
        known->members[node].leave_op = op;
        uint64_t *told = &known->done[(size_t)node * known->nodes];
        for (uint32_t n = 0; n < known->nodes; n++) {
            bool is_more = n != node && known->members[n].enter_op > told[n];
            told[n] = is_more ? known->members[n].enter_op : told[n];
            is_new = is_new || is_more;
        }
    }
    return is_new;
}

/* A collective is told once, not by each member of each other one. */
static enum wio_status tell_meeting(struct prior_edges *known, const struct wio_order_stop *stop)
{
    if (known->is_told[stop->collective]) {
        return WIO_OK;
    }
    known->is_told[stop->collective] = true;
    fill_row(known, stop);
    return fill_takers(known, &known->edges.collectives[stop->collective])
               ? wio_hold_know_collective(known->hold, known->members, known->nodes)
               : WIO_OK;
}

static enum wio_status tell_stop(void *context, const struct wio_order_stop *stop)
{
    struct prior_edges *known = context;
    uint32_t node = known->node_of[stop->point.thread];
    if (is_meeting(known, stop)) {
        return tell_meeting(known, stop);
    }
    for (uint32_t t = 0; node != WIO_NO_PARTICIPANT && t < known->edges.threads; t++) {
        if (t != stop->point.thread && known->node_of[t] != WIO_NO_PARTICIPANT) {
            WIO_TRY(tell_order(known, stop, node, t));
        }
    }
    return WIO_OK;
}

/* A thread is all streams of it along exec; so is a node. */
static enum wio_status find_nodes(struct prior_edges *known, const uint32_t *node_of_stream,
                                  struct wio_error *err)
{
    uint32_t streams = wio_trace_stream_count(known->trace);
    known->node_of = calloc((size_t)streams + 1, sizeof(*known->node_of));
    known->done = calloc((size_t)known->nodes * known->nodes + 1, sizeof(*known->done));
    known->is_told = calloc(known->edges.collective_count + 1, sizeof(*known->is_told));
    known->members = calloc((size_t)known->nodes + 1, sizeof(*known->members));
    if (known->node_of == NULL || known->done == NULL || known->is_told == NULL ||
        known->members == NULL) {
        return no_memory(err);
    }
    for (uint32_t s = 0; s < streams; s++) {
        known->node_of[s] = WIO_NO_PARTICIPANT;
    }
    for (uint32_t s = 0; s < streams; s++) {
        if (node_of_stream[s] != WIO_NO_PARTICIPANT) {
            known->node_of[known->tables.streams[s].thread] = node_of_stream[s];
        }
    }
    return wio_run_ops_read(known->trace, node_of_stream, known->nodes, &known->ops, err);
}

static enum wio_status load(struct prior_edges *known, const char *dir,
                            const struct wio_roster *roster, struct wio_error *err)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    const struct wio_join_params join = {.struct_size = sizeof(join), .observed_only = true};
    WIO_TRY(wio_trace_open_events(dir, &known->trace, err));
    WIO_TRY(wio_join(known->trace, &join, err));
    if (wio_join_tables_init(&known->tables, known->trace) != WIO_OK) {
        return no_memory(err);
    }
    wio_edges_init(&known->edges, &heap, wio_trace_stream_count(known->trace));
    WIO_TRY(wio_join_load(known->trace, &known->tables, &known->edges, err));
    uint32_t *node_of_stream = wio_profile_nodes_of_streams(known->trace, roster);
    if (node_of_stream == NULL) {
        return no_memory(err);
    }
    enum wio_status status = find_nodes(known, node_of_stream, err);
    free(node_of_stream);
    return status;
}

enum wio_status wio_known_tell(const char *dir, const struct wio_roster *roster,
                               struct wio_hold *hold, bool *more_out, struct wio_error *err)
{
    struct prior_edges known WIO_CLEANUP(known_fini) = {.hold = hold, .nodes = roster->count};
    WIO_TRY(load(&known, dir, roster, err));
    for (uint32_t n = 0; n < known.nodes; n++) {
        if (wio_hold_expect(hold, n, known.ops.lists[n].count) != WIO_OK) {
            return no_memory(err);
        }
    }
    WIO_TRY(wio_order_walk(&known.edges, WIO_EDGE_FIRM, tell_stop, &known, err));
    return wio_hold_plan(hold, more_out) == WIO_OK ? WIO_OK : no_memory(err);
}
