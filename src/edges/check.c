/* SPDX-License-Identifier: Apache-2.0 */
#include "edges/check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "causal/order/order.h"
#include "edges/edges_internal.h"
#include "seal/open.h"

static void edges_cleanup(struct wio_edges *edges)
{
    wio_edges_fini(edges);
}

static void cursor_cleanup(struct wio_edge_cursor **cursor)
{
    wio_edge_cursor_destroy(*cursor);
}

static enum wio_status add_edges(const struct wio_trace *trace,
                                 const struct wio_join_tables *tables, struct wio_edges *edges,
                                 struct wio_error *err)
{
    WIO_CLEANUP(cursor_cleanup) struct wio_edge_cursor *cursor = NULL;
    const struct wio_edge_filter filter = {
        .struct_size = sizeof(filter), .kind = WIO_EDGES_IN, .has_implied = true};
    const struct wio_edge_row *row = NULL;
    enum wio_status status;
    WIO_TRY(wio_edge_cursor_create(wio_trace_edges(trace), &filter, &cursor, err));
    while ((status = wio_edge_cursor_next(cursor, &row, err)) == WIO_OK) {
        WIO_TRY(wio_edges_add(
            edges, &(struct wio_edge){.from_thread = tables->streams[row->from.stream].thread,
                                      .from_op = row->from.seq,
                                      .to_thread = tables->streams[row->to.stream].thread,
                                      .to_op = row->to.seq,
                                      .object = row->object,
                                      .class = row->edge_class,
                                      .evidence = row->evidence}));
    }
    return status == WIO_END ? WIO_OK : status;
}

static enum wio_status add_collective(const struct wio_trace *trace,
                                      const struct wio_member *members, size_t count,
                                      const struct wio_member_row *row, struct wio_edges *edges,
                                      struct wio_error *err)
{
    enum wio_status status = wio_edges_add_collective(edges, members, count, row->object,
                                                      (enum wio_evidence)row->evidence);
    return status != WIO_ERR_USAGE
               ? status
               : wio_error_set(err, WIO_ERR_FORMAT, wio_edge_file_name(wio_trace_edges(trace)),
                               WIO_ERROR_NO_OFFSET,
                               "expected each thread once among the members of collective %" PRIu32,
                               row->collective);
}

/* Members of one collective follow each other; `members` has room for a trace's threads. */
static enum wio_status add_collectives(const struct wio_trace *trace,
                                       const struct wio_join_tables *tables,
                                       struct wio_member *members, struct wio_edges *edges,
                                       struct wio_error *err)
{
    WIO_CLEANUP(cursor_cleanup) struct wio_edge_cursor *cursor = NULL;
    const struct wio_edge_filter filter = {.struct_size = sizeof(filter),
                                           .kind = WIO_EDGES_COLLECTIVES};
    const struct wio_member_row *row = NULL;
    struct wio_member_row last = {0};
    size_t count = 0;
    enum wio_status status;
    WIO_TRY(wio_edge_cursor_create(wio_trace_edges(trace), &filter, &cursor, err));
    do {
        status = wio_edge_cursor_next_member(cursor, &row, err);
        bool is_next = status != WIO_OK || row->collective != last.collective;
        if (count > 0 && (is_next || count == edges->threads)) {
            WIO_TRY(add_collective(trace, members, count, &last, edges, err));
            count = 0;
        }
        if (status == WIO_OK) {
            last = *row;
            members[count++] = (struct wio_member){.enter_op = row->enter_seq,
                                                   .leave_op = row->leave_seq,
                                                   .thread = tables->streams[row->stream].thread,
                                                   .gives = row->gives,
                                                   .takes = row->takes};
        }
    } while (status == WIO_OK);
    return status == WIO_END ? WIO_OK : status;
}

enum wio_status wio_join_load(const struct wio_trace *trace, const struct wio_join_tables *tables,
                              struct wio_edges *edges, struct wio_error *err)
{
    struct wio_member *members = calloc((size_t)edges->threads + 1, sizeof(*members));
    if (members == NULL) {
        return WIO_ERR_NOMEM;
    }
    enum wio_status status = add_edges(trace, tables, edges, err);
    status = status == WIO_OK ? add_collectives(trace, tables, members, edges, err) : status;
    free(members);
    return status;
}

static enum wio_status check_order(const struct wio_trace *trace, wio_fault_fn *fault, void *arg)
{
    static const struct wio_alloc heap = {wio_alloc_heap_get, wio_alloc_heap_put, NULL};
    WIO_CLEANUP(edges_cleanup) struct wio_edges edges;
    WIO_CLEANUP(wio_join_tables_fini) struct wio_join_tables tables = {0};
    struct wio_error err = WIO_ERROR_INIT;
    wio_edges_init(&edges, &heap, wio_trace_stream_count(trace));
    edges.name_point = wio_join_name_point;
    edges.name_context = trace;
    WIO_TRY(wio_join_tables_init(&tables, trace));
    enum wio_status status = wio_join_load(trace, &tables, &edges, &err);
    status = status == WIO_OK ? wio_order_walk(&edges, WIO_EDGE_ALL, NULL, NULL, &err) : status;
    if (status == WIO_OK || status == WIO_ERR_NOMEM) {
        return status;
    }
    struct wio_error cycle = WIO_ERROR_INIT;
    (void)wio_error_set(&cycle, WIO_ERR_FORMAT, wio_edge_file_name(wio_trace_edges(trace)),
                        WIO_ERROR_NO_OFFSET, "expected edges in the order of time: %s",
                        err.message);
    fault(arg, &cycle);
    return WIO_END;
}

static void trace_cleanup(struct wio_trace **trace)
{
    wio_trace_close(*trace);
}

/* A damaged file of edges keeps a trace from being opened, so it is opened without first. */
enum wio_status wio_join_check(const char *dir, wio_fault_fn *fault, void *arg,
                               struct wio_error *err)
{
    WIO_CLEANUP(trace_cleanup) struct wio_trace *trace = NULL;
    if (wio_trace_open_events(dir, &trace, NULL) != WIO_OK) {
        return WIO_OK; /* its segments have faults, which are told elsewhere */
    }
    WIO_TRY(wio_edge_file_check(trace, fault, arg, err));
    WIO_TRY(wio_trace_find_edges(trace, err));
    if (wio_trace_edges(trace) == NULL) {
        return WIO_OK;
    }
    enum wio_status status = check_order(trace, fault, arg);
    return status == WIO_ERR_NOMEM
               ? wio_error_set(err, status, dir, WIO_ERROR_NO_OFFSET, "no memory to check edges")
               : status;
}
