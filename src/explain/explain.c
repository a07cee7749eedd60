/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/explain.h"

#include <stdlib.h>

#include <whyio/edges.h>

#include "base/cleanup.h"
#include "explain/accounts/spent.h"
#include "explain/critical_path/timeline.h"
#include "explain/findings/prepare.h"
#include "explain/missing.h"

#define PROGRESS_EVENTS 65536u

/* ---- the run ---- */

static bool has_rank(const struct wio_trace *trace, uint32_t stream)
{
    return wio_trace_process(trace, wio_trace_stream(trace, stream)->process)->rank >= 0;
}

/* From the first event to the last: of the ranks where there are some. */
static uint32_t find_run(struct wio_explanation *explanation, uint64_t *end_out)
{
    const struct wio_trace *trace = explanation->trace;
    bool are_ranks = explanation->info.ranks > 0;
    uint32_t last = UINT32_MAX;
    uint64_t begin = UINT64_MAX;

    *end_out = 0;
    for (uint32_t i = 0; i < wio_trace_stream_count(trace); i++) {
        const struct wio_stream_info *stream = wio_trace_stream(trace, i);
        if (stream->events == 0 || (are_ranks && !has_rank(trace, i))) {
            continue;
        }
        begin = stream->first_ns < begin ? stream->first_ns : begin;
        if (last == UINT32_MAX || stream->last_ns > *end_out) {
            *end_out = stream->last_ns;
            last = i;
        }
    }
    explanation->begin_ns = last != UINT32_MAX ? begin : 0;
    return last;
}

/* ---- the pass over the events ---- */

static void cursor_cleanup(struct wio_cursor **cursor)
{
    wio_cursor_destroy(*cursor);
}

static enum wio_status read_events(struct wio_explanation *explanation,
                                   struct wio_timeline *timeline,
                                   const struct wio_explain_params *params, struct wio_error *err)
{
    struct wio_filter filter = {
        .struct_size = sizeof(filter),
        .order = WIO_ORDER_TIME,
        .columns = WIO_COLUMN_TIME | WIO_COLUMN_FD | WIO_COLUMN_PATH | WIO_COLUMN_SECOND |
                   WIO_COLUMN_OFFSET | WIO_COLUMN_SIZE | WIO_COLUMN_RESULT | WIO_COLUMN_ERROR |
                   WIO_COLUMN_SOURCE | WIO_COLUMN_FLAGS | WIO_COLUMN_ARGS | WIO_COLUMN_CPU};
    WIO_CLEANUP(cursor_cleanup) struct wio_cursor *cursor = NULL;
    const struct wio_event *event;
    enum wio_status status;
    uint64_t done = 0;
    uint32_t step;

    WIO_TRY(wio_cursor_create(explanation->trace, &filter, &cursor, err));
    while ((status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
        WIO_TRY(wio_timeline_event(timeline, event, &step, err));
        WIO_TRY(wio_patterns_event(&explanation->patterns, event, step));
        if (++done % PROGRESS_EVENTS == 0 && params->progress != NULL) {
            params->progress(params->progress_arg, done, explanation->info.events, "events");
        }
    }
    return status == WIO_END ? WIO_OK : status;
}

static enum wio_status pass(struct wio_explanation *explanation, struct wio_timeline *timeline,
                            const struct wio_explain_params *params, struct wio_error *err)
{
    uint64_t end_ns = 0;
    uint32_t last = find_run(explanation, &end_ns);

    WIO_TRY(wio_steps_init(&explanation->steps, explanation->trace));
    WIO_TRY(wio_patterns_init(&explanation->patterns));
    WIO_TRY(wio_timeline_init(timeline, explanation->trace, &explanation->steps, err));
    timeline->origin_ns = explanation->begin_ns;
    timeline->is_not_a_file = explanation->patterns.is_not_a_file;
    timeline->path_count = explanation->patterns.path_count;
    timeline->wait_ended = wio_waiting_add;
    timeline->wait_arg = &explanation->waiting;
    WIO_TRY(read_events(explanation, timeline, params, err));
    wio_beside_end(&explanation->patterns.beside);
    explanation->looked_ns = timeline->looked_ns;
    WIO_TRY(wio_timeline_end(timeline, last, err));
    explanation->duration_ns = end_ns - explanation->begin_ns;
    wio_waiting_sort(&explanation->waiting);
    return WIO_OK;
}

static void sum_critical(struct wio_explanation *explanation)
{
    for (uint32_t i = 0; i < explanation->steps.count; i++) {
        const struct wio_step *step = &explanation->steps.steps[i];
        explanation->critical_ns[explanation->steps.sites[step->site].kind] += step->critical_ns;
    }
}

/* ---- findings ---- */

static enum wio_status find(struct wio_explanation *explanation,
                            const struct wio_explain_params *params)
{
    struct wio_prepared prepared = {0};
    struct wio_finding_input input = {.trace = explanation->trace,
                                      .steps = &explanation->steps,
                                      .patterns = &explanation->patterns,
                                      .waiting = &explanation->waiting,
                                      .thresholds = &params->thresholds,
                                      .duration_ns = explanation->duration_ns,
                                      .ranks = explanation->info.ranks};
    enum wio_status status = wio_prepare(&input, &prepared);

    if (status == WIO_OK) {
        status = wio_findings_find(&input, &explanation->findings);
    }
    wio_prepared_fini(&prepared);
    return status;
}

/* ---- gains ---- */

static enum wio_status find_gains(struct wio_explanation *explanation,
                                  const struct wio_explain_params *params, struct wio_error *err)
{
    const struct wio_gain_input input = {.trace = explanation->trace,
                                         .steps = &explanation->steps,
                                         .findings = &explanation->findings,
                                         .progress = params->progress,
                                         .progress_arg = params->progress_arg,
                                         .progress_done = explanation->info.events,
                                         .looked_ns = explanation->looked_ns};
    struct wio_gains *gains = &explanation->gains;

    WIO_TRY(wio_gains_find(&input, &params->gains, gains, err));
    for (unsigned i = 0; i < WIO_GAIN_REMARKS; i++) {
        if (gains->remarks[i][0] != '\0') {
            wio_explanation_note(explanation, "%s", gains->remarks[i]);
        }
    }
    return WIO_OK;
}

/* ---- all of it ---- */

void wio_explanation_destroy(struct wio_explanation *explanation)
{
    if (explanation == NULL) {
        return;
    }
    wio_findings_fini(&explanation->findings);
    wio_gains_fini(&explanation->gains);
    wio_waiting_fini(&explanation->waiting);
    wio_patterns_fini(&explanation->patterns);
    wio_steps_fini(&explanation->steps);
    for (unsigned i = 0; i < WIO_SPENT_TABLES; i++) {
        free(explanation->tables[i].rows);
    }
    free(explanation);
}

double wio_explanation_seconds(const struct wio_explanation *explanation, enum wio_step_kind kind)
{
    double ns = (double)explanation->critical_ns[kind];

    if (kind == WIO_STEP_IO) {
        return explanation->findings.claimed_io_ns / 1e9;
    }
    if (kind == WIO_STEP_WAIT) {
        /* mapped pages that findings have claimed are waits, too */
        return ns / 1e9 + explanation->findings.claimed_slept_ns / 1e9;
    }
    return ns / 1e9;
}

static enum wio_status explain(struct wio_explanation *explanation,
                               const struct wio_explain_params *params, struct wio_error *err)
{
    struct wio_timeline timeline = {0};
    const struct wio_findings *findings = &explanation->findings;
    enum wio_status status = pass(explanation, &timeline, params, err);

    wio_timeline_fini(&timeline);
    WIO_TRY(status);
    sum_critical(explanation);
    WIO_TRY(find(explanation, params));
    explanation->unexplained_s =
        ((double)explanation->critical_ns[WIO_STEP_IO] - findings->claimed_io_ns +
         (double)explanation->critical_ns[WIO_STEP_SLEPT] - findings->claimed_slept_ns) /
        1e9;
    WIO_TRY(wio_spent_count(explanation));
    wio_explanation_see_missing(explanation);
    return find_gains(explanation, params, err);
}

static bool has_edges(const struct wio_trace *trace)
{
    const struct wio_edge_file *file = wio_trace_edges(trace);
    struct wio_edge_info info = {0};

    if (file != NULL) {
        wio_edge_file_get_info(file, &info);
    }
    return info.edges + info.collectives > 0;
}

enum wio_status wio_explain(const struct wio_trace *trace, const struct wio_explain_params *params,
                            struct wio_explanation **explanation_out, struct wio_error *err)
{
    struct wio_explanation *explanation = calloc(1, sizeof(*explanation));
    enum wio_status status = WIO_ERR_NOMEM;

    *explanation_out = NULL;
    if (explanation != NULL) {
        explanation->trace = trace;
        explanation->thresholds = params->thresholds;
        wio_trace_get_info(trace, &explanation->info);
        explanation->has_edges = has_edges(trace);
        explanation->waiting.steps = &explanation->steps;
        explanation->waiting.trace = trace;
        explanation->patterns.trace = trace;
        explanation->patterns.steps = &explanation->steps;
        explanation->patterns.small_bytes = (uint64_t)params->thresholds.small_request;
        status = explain(explanation, params, err);
    }
    if (status == WIO_ERR_NOMEM) {
        status = wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET,
                               "no memory for the explanation of a trace");
    }
    if (status != WIO_OK) {
        wio_explanation_destroy(explanation);
        return status;
    }
    *explanation_out = explanation;
    return WIO_OK;
}
