/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/merge/merge_runs.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "causal/order/signals.h"
#include "seal/open.h"
#include "throttle/merge/merge_internal.h"
#include "throttle/merge/merge_place.h"
#include "throttle/rules/store_edges.h"
#include "trace/edges/edge_file.h"

static void close_trace(struct wio_trace **trace)
{
    wio_trace_close(*trace);
}

/* Did all runs do the same? If so: their edges together. */
static enum wio_status unite(struct wio_merge *merge, struct wio_merge_result *result,
                             struct wio_error *err)
{
    struct wio_run_difference found;
    struct wio_run *runs = calloc(merge->params->count, sizeof(*runs));
    if (runs == NULL) {
        return wio_merge_no_memory(err);
    }
    for (uint32_t r = 0; r < merge->params->count; r++) {
        runs[r] = (struct wio_run){merge->runs[r].ops.nodes, &merge->runs[r].edges, UINT32_MAX};
    }
    enum wio_status status = wio_runs_merge(runs, merge->params->count, &merge->edges, &found, err);
    free(runs);
    WIO_TRY(status);
    result->is_same = !found.found;
    const struct wio_differ_run sides[] = {
        {merge->runs[0].trace, &merge->runs[0].ops},
        {merge->runs[found.run].trace, &merge->runs[found.run].ops}};
    return found.found ? wio_differ_describe(&found, sides, &result->difference, err) : WIO_OK;
}

/* The first run that throttled the node, else the first. What runs did that share out the work
 * differently makes no whole: then all are from the first. */
static enum wio_status choose_sources(struct wio_merge *merge, struct wio_error *err)
{
    merge->source = calloc((size_t)merge->nodes + 1, sizeof(*merge->source));
    if (merge->source == NULL) {
        return wio_merge_no_memory(err);
    }
    for (uint32_t n = 0; n < merge->nodes && !merge->first_only; n++) {
        for (uint32_t r = merge->params->count; r-- > 0;) {
            merge->source[n] = merge->runs[r].holds[n].count > 0 ? r : merge->source[n];
        }
    }
    return WIO_OK;
}

static enum wio_status store_edges(struct wio_merge *merge, const char *dir,
                                   struct wio_merge_result *result, struct wio_error *err)
{
    WIO_CLEANUP(close_trace) struct wio_trace *trace = NULL;
    WIO_TRY(wio_trace_open_events(dir, &trace, err));
    const struct wio_held_params params = {.trace = trace,
                                           .node_of = merge->runs[0].node_of,
                                           .nodes = merge->nodes,
                                           .edges = &merge->edges,
                                           .held_only = !merge->first_only};
    return wio_held_store(&params, &result->edges, err);
}

/* All of it, and then its name. */
static enum wio_status write_trace(struct wio_merge *merge, struct wio_merge_result *result,
                                   struct wio_error *err)
{
    struct wio_merge_place place WIO_CLEANUP(wio_merge_place_fini) = {.dir_fd = -1, .lock_fd = -1};
    size_t dropped = 0;
    if (wio_edges_drop_repeated_signals(&merge->edges, &dropped) != WIO_OK) {
        return wio_merge_no_memory(err);
    }
    result->dropped = dropped;
    WIO_TRY(choose_sources(merge, err));
    WIO_TRY(wio_merge_time(merge, err));
    WIO_TRY(wio_merge_place_begin(&place, merge->params->dir, err));
    result->has_cleaned = place.has_cleaned;
    WIO_TRY(wio_merge_write(merge, place.work, &result->events, err));
    WIO_TRY(store_edges(merge, place.work, result, err));
    return wio_merge_place_publish(&place, err);
}

enum wio_status wio_merge(const struct wio_merge_params *params,
                          struct wio_merge_result *result_out, struct wio_error *err)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_merge merge WIO_CLEANUP(wio_merge_fini) = {.params = params};
    *result_out = (struct wio_merge_result){0};
    if (params->count == 0) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "expected at least one run");
    }
    merge.runs = calloc(params->count, sizeof(*merge.runs));
    if (merge.runs == NULL) {
        return wio_merge_no_memory(err);
    }
    WIO_TRY(wio_merge_load(&merge, err));
    wio_edges_init(&merge.edges, &heap, merge.nodes);
    WIO_TRY(unite(&merge, result_out, err));
    merge.first_only = result_out->difference.turns[0] != '\0';
    bool is_told = result_out->is_same || merge.first_only;
    return is_told ? write_trace(&merge, result_out, err) : WIO_OK;
}
