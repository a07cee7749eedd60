/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/rules/store_edges.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "edges/edges.h"
#include "seal/open.h"
#include "throttle/rules/profile.h"
#include "trace/edges/edge_file.h"

static void close_trace(struct wio_trace **trace)
{
    wio_trace_close(*trace);
}

static enum wio_status no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
}

/* The event of a node's I/O. An edge may end behind the last one: then there is none. */
static bool find_point(const struct wio_run_ops *ops, uint32_t node, uint64_t op,
                       struct wio_edge_point *point_out)
{
    const struct wio_run_list *list = &ops->lists[node];
    if (op >= list->count) {
        return false;
    }
    *point_out = list->points[op];
    return true;
}

static size_t translate(const struct wio_edges *edges, const struct wio_run_ops *ops,
                        struct wio_held_edge *held)
{
    size_t count = 0;
    for (size_t i = 0; i < edges->edge_count; i++) {
        const struct wio_edge *edge = &edges->edges[i];
        bool is_there = edge->evidence == WIO_EVIDENCE_HELD &&
                        find_point(ops, edge->from_thread, edge->from_op, &held[count].from) &&
                        find_point(ops, edge->to_thread, edge->to_op, &held[count].to);
        count += is_there ? 1 : 0;
    }
    return count;
}

static uint64_t count_kept(const struct wio_trace *trace)
{
    struct wio_edge_info info;
    const struct wio_edge_file *file = wio_trace_edges(trace);
    if (file == NULL) {
        return 0;
    }
    wio_edge_file_get_info(file, &info);
    const struct wio_edge_totals *held = &info.by_evidence[WIO_EVIDENCE_HELD];
    return held->all - held->implied;
}

static enum wio_status join(const struct wio_held_params *params, const struct wio_run_ops *ops,
                            struct wio_error *err)
{
    struct wio_held held WIO_CLEANUP(wio_held_fini) = {.is_only = params->held_only};
    held.edges = calloc(params->edges->edge_count + 1, sizeof(*held.edges));
    if (held.edges == NULL) {
        return no_memory(err);
    }
    held.count = translate(params->edges, ops, held.edges);
    const struct wio_join_params join = {.struct_size = sizeof(join), .held = &held};
    return wio_join(params->trace, &join, err);
}

enum wio_status wio_held_store(const struct wio_held_params *params, uint64_t *kept_out,
                               struct wio_error *err)
{
    struct wio_run_ops ops WIO_CLEANUP(wio_run_ops_fini) = {0};
    WIO_TRY(wio_run_ops_read(params->trace, params->node_of, params->nodes, &ops, err));
    WIO_TRY(join(params, &ops, err));
    if (kept_out != NULL) {
        *kept_out = count_kept(params->trace);
    }
    return WIO_OK;
}

enum wio_status wio_held_store_run(const char *dir, const struct wio_roster *roster,
                                   const struct wio_edges *edges, bool held_only,
                                   uint64_t *kept_out, struct wio_error *err)
{
    WIO_CLEANUP(close_trace) struct wio_trace *trace = NULL;
    WIO_TRY(wio_trace_open_events(dir, &trace, err));
    uint32_t *node_of = wio_profile_nodes_of_streams(trace, roster);
    if (node_of == NULL) {
        return no_memory(err);
    }
    const struct wio_held_params params = {.trace = trace,
                                           .node_of = node_of,
                                           .nodes = roster->count,
                                           .edges = edges,
                                           .held_only = held_only};
    enum wio_status status = wio_held_store(&params, kept_out, err);
    free(node_of);
    return status;
}
