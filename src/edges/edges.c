/* SPDX-License-Identifier: Apache-2.0 */
#include "edges/edges.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "causal/order/order.h"
#include "causal/order/reduce.h"
#include "edges/edges_internal.h"
#include "seal/seal.h"
#include "trace/format/trust.h"

static enum wio_status no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "no memory to find edges");
}

/* Points of the trace are (stream, seq), those of edges (first stream of the thread, seq). */
static enum wio_status add_held(const struct wio_trace *trace, const struct wio_join_tables *tables,
                                struct wio_join_result *result, struct wio_error *err)
{
    for (size_t i = 0; i < result->held->count; i++) {
        const struct wio_held_edge *held = &result->held->edges[i];
        const struct wio_edge edge = {.from_thread = tables->streams[held->from.stream].thread,
                                      .from_op = held->from.seq,
                                      .to_thread = tables->streams[held->to.stream].thread,
                                      .to_op = held->to.seq,
                                      .class = WIO_EDGE_HARD,
                                      .evidence = WIO_EVIDENCE_HELD};
        enum wio_status status = wio_edges_add(&result->edges, &edge);
        if (status != WIO_OK) {
            return wio_join_failed(trace, status, err);
        }
    }
    return WIO_OK;
}

/* What is derived may be wrong here and there; a cycle shows it. The other edges are as good as
 * they were. */
static enum wio_status leave_out_cycles(struct wio_join_result *result, struct wio_error *err)
{
    struct wio_error first = WIO_ERROR_INIT;
    size_t count = 0;
    bool *left_out = calloc(result->edges.edge_count + 1, sizeof(*left_out));
    if (left_out == NULL) {
        return no_memory(err);
    }
    enum wio_status status = wio_order_walk(&result->edges, WIO_EDGE_ALL, NULL, NULL, &first);
    if (status == WIO_ERR_FORMAT) {
        status = wio_order_break_cycles(&result->edges, left_out, &count, err);
    }
    if (status == WIO_OK) {
        wio_edges_compact(&result->edges, left_out);
        (void)snprintf(
            result->cycle_note, sizeof(result->cycle_note), "%zu wait%s out: %.400s\n", count,
            count == 1 ? " contradicts others and is left" : "s contradict others and are left",
            first.message);
    }
    free(left_out);
    return status;
}

static enum wio_status find_implied(struct wio_join_result *result, struct wio_error *err)
{
    struct wio_error cycle = WIO_ERROR_INIT;
    enum wio_status status = wio_edges_find_implied(&result->edges, result->is_implied, &cycle);
    if (status != WIO_ERR_FORMAT) {
        return status == WIO_OK ? WIO_OK : wio_error_pass(err, &cycle);
    }
    WIO_TRY(leave_out_cycles(result, err));
    memset(result->is_implied, 0, result->edges.edge_count * sizeof(bool));
    return wio_edges_find_implied(&result->edges, result->is_implied, err);
}

static enum wio_status derive(struct wio_trace *trace, const struct wio_join_params *params,
                              struct wio_join_tables *tables, struct wio_clock_row *clocks,
                              struct wio_join_result *result, struct wio_error *err)
{
    if (tables->hosts > 1) {
        WIO_TRY(wio_join_clocks(trace, params, tables, clocks, result->clock_note, err));
        WIO_TRY(wio_trace_set_clocks(trace, clocks, tables->hosts, err));
        result->clocks = clocks;
        result->clock_count = tables->hosts;
    }
    WIO_TRY(wio_join_events(trace, params, tables, NULL, result, err));
    WIO_TRY(add_held(trace, tables, result, err));
    result->is_implied = calloc(result->edges.edge_count + 1, sizeof(bool));
    if (result->is_implied == NULL) {
        return no_memory(err);
    }
    return find_implied(result, err);
}

static enum wio_status take(struct wio_trace *trace, int fd, struct wio_error *err)
{
    struct wio_edge_file *file = NULL;
    bool is_current = false;
    WIO_TRY(wio_edge_file_open(trace, fd, WIO_EDGES_NAME " (in memory)", &file, &is_current, err));
    return wio_trace_take_edges(trace, file, err);
}

static enum wio_status store_in_memory(struct wio_trace *trace,
                                       const struct wio_join_tables *tables,
                                       const struct wio_join_result *result, struct wio_error *err)
{
    struct wio_edge_writer *writer = NULL;
    int fd = memfd_create("whyio-edges", MFD_CLOEXEC);
    if (fd < 0) {
        return wio_error_sys(err, NULL, "cannot keep edges in memory");
    }
    WIO_TRY(wio_edge_writer_create_fd(trace, fd, &writer, err));
    enum wio_status status = wio_join_store(trace, tables, result, writer, err);
    if (status != WIO_OK) {
        wio_edge_writer_abandon(writer);
        return status;
    }
    WIO_TRY(wio_edge_writer_finish(writer, &fd, err));
    return take(trace, fd, err);
}

/* Edges are written into directories of this user only: another one's are derived for this once. */
static bool is_own(const struct wio_trace *trace)
{
    struct stat st;
    return fstat(wio_trace_directory(trace), &st) == 0 && wio_trust_is_own(&st);
}

/* What was found by holding is data: it is safe before what can be derived again is written. */
static enum wio_status keep_held(const struct wio_trace *trace,
                                 const struct wio_join_params *params,
                                 const struct wio_join_result *result, struct wio_error *err)
{
    const struct wio_held *held = params->held;
    return held != NULL ? wio_held_file_write(trace, held->edges, held->count, held->is_only, err)
                        : wio_held_file_keep(trace, result->held, err);
}

static enum wio_status still_runs(const struct wio_trace *trace, struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_BUSY, wio_trace_path(trace), WIO_ERROR_NO_OFFSET,
                         "cannot store what was found by holding: processes of the program still "
                         "run, and the trace changes");
}

/* WIO_ERR_IO: the directory cannot be written, or has no room. */
static enum wio_status store_in_directory(struct wio_trace *trace,
                                          const struct wio_join_tables *tables,
                                          const struct wio_join_result *result,
                                          struct wio_error *err)
{
    struct wio_edge_writer *writer = NULL;
    struct wio_error cause = WIO_ERROR_INIT;
    enum wio_status status = wio_edge_writer_create(trace, &writer, &cause);
    if (status == WIO_OK) {
        status = wio_join_store(trace, tables, result, writer, &cause);
        if (status != WIO_OK) {
            wio_edge_writer_abandon(writer);
        }
    }
    status = status == WIO_OK ? wio_edge_writer_finish(writer, NULL, &cause) : status;
    if (status == WIO_ERR_IO) {
        return status;
    }
    return status == WIO_OK ? wio_trace_find_edges(trace, err) : wio_error_pass(err, &cause);
}

/* New ones are those of the trace that this process has made: whose its directory is does not
 * matter, as some file systems make all files one user's. */
static enum wio_status store(struct wio_trace *trace, const struct wio_join_params *params,
                             const struct wio_join_tables *tables,
                             const struct wio_join_result *result, struct wio_error *err)
{
    struct wio_trace_info info;
    wio_trace_get_info(trace, &info);
    bool is_wanted = !params->in_memory && !params->observed_only;
    bool is_stored = is_wanted && !info.live && is_own(trace);
    if (is_wanted && info.live && params->held != NULL) {
        return still_runs(trace, err);
    }
    bool is_kept = is_stored || (is_wanted && params->held != NULL);
    enum wio_status kept = is_kept ? keep_held(trace, params, result, err) : WIO_OK;
    if (kept != WIO_OK && params->held != NULL) {
        return kept; /* they would be lost */
    }
    if (is_stored && kept == WIO_OK) {
        enum wio_status status = store_in_directory(trace, tables, result, err);
        if (status != WIO_ERR_IO) {
            return status;
        }
    }
    return store_in_memory(trace, tables, result, err);
}

/* Without the events that were dropped a release may be missing, and another one be taken for it.
 */
static enum wio_status check_evidence(const struct wio_trace *trace, struct wio_error *err)
{
    struct wio_trace_info info;
    wio_trace_get_info(trace, &info);
    if (info.dropped == 0) {
        return WIO_OK;
    }
    return wio_error_set(err, WIO_ERR_FORMAT, wio_trace_path(trace), WIO_ERROR_NO_OFFSET,
                         "expected a trace with all its events, found that %" PRIu64
                         " were dropped: it does not tell which operation waited for which",
                         info.dropped);
}

static enum wio_status join(struct wio_trace *trace, const struct wio_join_params *params,
                            struct wio_join_tables *tables, struct wio_error *err)
{
    static const struct wio_alloc heap = {wio_alloc_heap_get, wio_alloc_heap_put, NULL};
    struct wio_join_result result = {0};
    struct wio_clock_row *clocks = calloc((size_t)tables->hosts + 1, sizeof(*clocks));
    if (clocks == NULL) {
        return no_memory(err);
    }
    wio_edges_init(&result.edges, &heap, wio_trace_stream_count(trace));
    result.edges.name_point = wio_join_name_point;
    result.edges.name_context = trace;
    result.held = params->held != NULL ? params->held : &result.own;
    enum wio_status status = params->held != NULL || params->observed_only
                                 ? WIO_OK
                                 : wio_held_file_read(trace, &result.own, err);
    status = status == WIO_OK ? derive(trace, params, tables, clocks, &result, err) : status;
    status = status == WIO_OK ? store(trace, params, tables, &result, err) : status;
    wio_join_result_fini(&result);
    wio_trace_forget_clocks(trace, clocks);
    free(clocks);
    return status;
}

static enum wio_status find_and_join(struct wio_trace *trace, const struct wio_join_params *params,
                                     struct wio_join_tables *tables, struct wio_error *err)
{
    WIO_TRY(wio_join_find_paths(tables, trace, err));
    WIO_TRY(wio_join_find_fifos(tables, trace, err));
    return join(trace, params, tables, err);
}

enum wio_status wio_join(struct wio_trace *trace, const struct wio_join_params *params,
                         struct wio_error *err)
{
    if (wio_trace_edges(trace) != NULL) {
        return WIO_OK;
    }
    /* Edges that were found by holding cannot be derived anew: what is damaged is not replaced. */
    WIO_TRY(wio_trace_edges_fault(trace, err));
    WIO_TRY(check_evidence(trace, err));
    struct wio_join_tables tables;
    enum wio_status status = wio_join_tables_init(&tables, trace);
    if (status != WIO_OK) {
        status = no_memory(err);
    } else if (!params->clocks_only || tables.hosts > 1) {
        status = find_and_join(trace, params, &tables, err);
    }
    wio_join_tables_fini(&tables);
    return status;
}

enum wio_status wio_join_directory(const char *dir, const struct wio_join_params *params,
                                   struct wio_error *err)
{
    struct wio_seal_survey survey;
    struct wio_trace *trace = NULL;
    WIO_TRY(wio_seal_survey(dir, &survey, err));
    if (survey.is_going_on) {
        return WIO_OK;
    }
    WIO_TRY(wio_trace_open(dir, &trace, err));
    enum wio_status status = wio_join(trace, params, err);
    wio_trace_close(trace);
    return status;
}
