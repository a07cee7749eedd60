/* SPDX-License-Identifier: Apache-2.0 */
/* One pass of //TRACE over all nodes: a run for each that is to be throttled, and their merge. */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "throttle/merge/merge_runs.h"
#include "throttle/rules/store_edges.h"
#include "throttle/rules/throttle_internal.h"

enum wio_status wio_traced_add_run(struct wio_traced *traced, struct wio_error *err)
{
    char(*runs)[PATH_MAX] =
        reallocarray(traced->runs, (size_t)traced->count + 1, sizeof(*traced->runs));
    if (runs == NULL) {
        return wio_throttle_no_memory(err);
    }
    traced->runs = runs;
    wio_throttle_name_run(traced->t, traced->dir, traced->runs[traced->count]);
    traced->count++;
    return WIO_OK;
}

static enum wio_status store_edges(const struct wio_traced *traced, const struct wio_hold *hold,
                                   struct wio_error *err)
{
    struct wio_throttle_session *t = traced->t;
    struct wio_roster seated WIO_CLEANUP(wio_roster_fini) = {0};
    if (wio_roster_reseat(&t->roster, t->board.board, &seated) != WIO_OK) {
        return wio_throttle_no_memory(err);
    }
    const struct wio_edges *edges = wio_hold_borrow_edges(hold);
    t->result->found += edges->edge_count;
    return wio_held_store_run(traced->runs[traced->count - 1], &seated, edges, true, NULL, err);
}

/* *good_out: the run can be used. One that went other ways can: merging tells where. */
static enum wio_status throttle_node(struct wio_traced *traced, uint32_t n, bool *good_out,
                                     struct wio_error *err)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_throttle_session *t = traced->t;
    struct wio_hold *hold = NULL;
    enum wio_throttle_use use = WIO_THROTTLE_USE_NOTHING;
    const struct wio_hold_params params = {.method = WIO_HOLD_TRACE,
                                           .nodes = t->roster.count,
                                           .period = traced->period,
                                           .limit_ns = UINT64_MAX};
    WIO_TRY(wio_traced_add_run(traced, err));
    if (wio_hold_create(&params, &heap, &hold) != WIO_OK) {
        return wio_throttle_no_memory(err);
    }
    const struct wio_throttle_run run = {.dir = traced->runs[traced->count - 1],
                                         .hold = hold,
                                         .throttled = n,
                                         .period = traced->period};
    enum wio_status status = wio_throttle_run_held(t, &run, &use, err);
    if (status == WIO_OK && use == WIO_THROTTLE_USE_ALL) {
        status = store_edges(traced, hold, err);
    }
    wio_hold_destroy(hold);
    *good_out = use != WIO_THROTTLE_USE_NOTHING;
    return status;
}

/* With a larger period the node waits now and then, so that not all its think time is computing. */
static bool is_all_computing(const struct wio_traced *traced)
{
    enum wio_throttle_compute compute = traced->t->params->compute;
    return compute == WIO_COMPUTE_THINK ||
           (compute == WIO_COMPUTE_BY_PERIOD && traced->period == 1);
}

static enum wio_status merge(struct wio_traced *traced, struct wio_error *err)
{
    struct wio_throttle_result *result = traced->t->result;
    struct wio_merge_result merged;
    const char **runs = calloc((size_t)traced->count + 1, sizeof(*runs));
    if (runs == NULL) {
        return wio_throttle_no_memory(err);
    }
    for (uint32_t i = 0; i < traced->count; i++) {
        runs[i] = traced->runs[i];
    }
    const struct wio_merge_params params = {.struct_size = sizeof(params),
                                            .dir = traced->dir,
                                            .runs = runs,
                                            .count = traced->count,
                                            .without_sync = is_all_computing(traced),
                                            .progress = traced->t->record.progress,
                                            .progress_arg = traced->t->record.progress_arg};
    enum wio_status status = wio_merge(&params, &merged, err);
    free(runs);
    WIO_TRY(status);
    result->difference = merged.difference;
    result->edges = merged.edges;
    bool is_told = merged.is_same || merged.difference.turns[0] != '\0';
    result->end = is_told ? WIO_THROTTLE_MERGED : WIO_THROTTLE_DIFFERS;
    return WIO_OK;
}

void wio_traced_remove_runs(struct wio_traced *traced, uint32_t from)
{
    for (uint32_t i = from; i < traced->count; i++) {
        wio_throttle_remove_run(traced->runs[i]);
    }
    traced->count = traced->count < from ? traced->count : from;
}

enum wio_status wio_traced_run_pass(struct wio_traced *traced, struct wio_error *err)
{
    struct wio_throttle_session *t = traced->t;
    uint32_t begun = 0;
    t->result->end = WIO_THROTTLE_FAILED;
    t->result->found = 0;
    t->result->period = traced->period;
    for (uint32_t n = 0; n < t->roster.count && begun < t->runs_most; n++) {
        bool is_good = false;
        if (!traced->is_wanted[n]) {
            continue;
        }
        begun++;
        WIO_TRY(throttle_node(traced, n, &is_good, err));
        if (!is_good || t->interrupt != 0) {
            return WIO_OK;
        }
    }
    return merge(traced, err);
}
