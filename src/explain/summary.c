/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/summary.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "ops/calls.h"
#include "ops/image_end.h"

/* What is needed only while counting. */
struct summary_counter {
    struct wio_summary *summary;
    const struct wio_trace *trace;
    struct wio_strtab jobs;
    struct wio_strtab hosts;
    struct wio_map processes; /* (host, pid) -> 1 */
    struct wio_map threads;   /* (host, tid) -> 1 */
    struct wio_map ranks;     /* rank -> index into summary->ranks */
    uint64_t *unseen;         /* by kind */
    uint32_t unseen_kinds;
};

void wio_summary_destroy(struct wio_summary *summary)
{
    if (summary == NULL) {
        return;
    }
    free(summary->jobs);
    free(summary->hosts);
    free(summary->ops);
    free(summary->ranks);
    free(summary->unseen);
    free(summary->losses);
    free(summary);
}

static void counter_fini(struct summary_counter *counter)
{
    wio_strtab_fini(&counter->jobs);
    wio_strtab_fini(&counter->hosts);
    wio_map_fini(&counter->processes);
    wio_map_fini(&counter->threads);
    wio_map_fini(&counter->ranks);
    free(counter->unseen);
}

/* Enter `text` into the list, which has room, if it is new; its id in *id_out (0 for ""). */
static enum wio_status add_text(struct wio_strtab *known, const char **list, size_t *count,
                                const char *text, uint32_t *id_out)
{
    *id_out = 0;
    if (text[0] == '\0') {
        return WIO_OK;
    }
    WIO_TRY(wio_strtab_add(known, text, strlen(text), id_out));
    if (*id_out > *count) {
        list[(*count)++] = text;
    }
    return WIO_OK;
}

/* The ranks' table has room for one row per process image. */
static enum wio_status find_rank(struct summary_counter *counter, int32_t rank,
                                 struct wio_summary_rank **row_out)
{
    struct wio_summary *summary = counter->summary;
    const uint64_t *at = wio_map_get(&counter->ranks, (uint32_t)rank);

    if (at != NULL) {
        *row_out = &summary->ranks[*at];
        return WIO_OK;
    }
    WIO_TRY(wio_map_put(&counter->ranks, (uint32_t)rank, summary->rank_count));
    *row_out = &summary->ranks[summary->rank_count++];
    **row_out = (struct wio_summary_rank){.rank = rank, .first_ns = UINT64_MAX};
    return WIO_OK;
}

static enum wio_status count_unseen(struct summary_counter *counter,
                                    const struct wio_process_info *process)
{
    if (process->unseen_count > counter->unseen_kinds) {
        uint64_t *grown = reallocarray(counter->unseen, process->unseen_count, sizeof(*grown));
        if (grown == NULL) {
            return WIO_ERR_NOMEM;
        }
        memset(grown + counter->unseen_kinds, 0,
               (process->unseen_count - counter->unseen_kinds) * sizeof(*grown));
        counter->unseen = grown;
        counter->unseen_kinds = process->unseen_count;
    }
    for (uint32_t i = 0; i < process->unseen_count; i++) {
        counter->unseen[i] += process->unseen[i];
    }
    return WIO_OK;
}

/* Was number `id` on `host` not there before? */
static enum wio_status see(struct wio_map *seen, uint32_t host, int32_t id, bool *is_new_out)
{
    uint64_t key = (uint64_t)host << 32 | (uint32_t)id;

    *is_new_out = wio_map_get(seen, key) == NULL;
    return wio_map_put(seen, key, 1);
}

static enum wio_status count_process(struct summary_counter *counter,
                                     const struct wio_process_info *process)
{
    struct wio_summary *summary = counter->summary;
    struct wio_summary_rank *row;
    uint32_t job;
    uint32_t host;
    bool is_new;

    WIO_TRY(add_text(&counter->jobs, summary->jobs, &summary->job_count, process->job, &job));
    WIO_TRY(add_text(&counter->hosts, summary->hosts, &summary->host_count, process->host, &host));
    WIO_TRY(find_rank(counter, process->rank, &row));
    WIO_TRY(count_unseen(counter, process));
    WIO_TRY(see(&counter->processes, host, process->pid, &is_new));
    row->processes += is_new; /* exec makes a new image, not a new process */
    row->dropped += process->dropped;
    summary->killed += process->end == WIO_END_SIGNAL;
    summary->open += process->end == WIO_END_NONE;
    return WIO_OK;
}

static enum wio_status count_processes(struct summary_counter *counter)
{
    struct wio_summary *summary = counter->summary;
    uint32_t count = wio_trace_process_count(counter->trace);

    summary->jobs = calloc((size_t)count + 1, sizeof(*summary->jobs));
    summary->hosts = calloc((size_t)count + 1, sizeof(*summary->hosts));
    summary->ranks = calloc((size_t)count + 1, sizeof(*summary->ranks));
    if (summary->jobs == NULL || summary->hosts == NULL || summary->ranks == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        WIO_TRY(count_process(counter, wio_trace_process(counter->trace, i)));
    }
    return WIO_OK;
}

static enum wio_status count_stream(struct summary_counter *counter,
                                    const struct wio_stream_info *stream)
{
    const struct wio_process_info *process = wio_trace_process(counter->trace, stream->process);
    uint32_t host = wio_strtab_find(&counter->hosts, process->host, strlen(process->host));
    struct wio_summary_rank *row;
    bool is_new;

    WIO_TRY(find_rank(counter, process->rank, &row));
    WIO_TRY(see(&counter->threads, host, stream->tid, &is_new));
    row->threads += is_new;
    row->events += stream->events;
    if (stream->events > 0) {
        row->first_ns = stream->first_ns < row->first_ns ? stream->first_ns : row->first_ns;
        row->last_ns = stream->last_ns > row->last_ns ? stream->last_ns : row->last_ns;
    }
    return WIO_OK;
}

static enum wio_status count_streams(struct summary_counter *counter)
{
    for (uint32_t i = 0; i < wio_trace_stream_count(counter->trace); i++) {
        WIO_TRY(count_stream(counter, wio_trace_stream(counter->trace, i)));
    }
    return WIO_OK;
}

static enum wio_status list_ops(struct summary_counter *counter)
{
    struct wio_summary *summary = counter->summary;

    summary->ops = calloc(WIO_OP_COUNT, sizeof(*summary->ops));
    if (summary->ops == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (unsigned op = 0; op < WIO_OP_COUNT; op++) {
        struct wio_summary_op *row = &summary->ops[summary->op_count];
        wio_trace_op_total(counter->trace, op, &row->total);
        row->name = wio_op_name(op);
        row->op = op;
        summary->op_count += row->total.count > 0;
    }
    return WIO_OK;
}

static enum wio_status list_unseen(struct summary_counter *counter)
{
    struct wio_summary *summary = counter->summary;

    summary->unseen = calloc((size_t)counter->unseen_kinds + 1, sizeof(*summary->unseen));
    if (summary->unseen == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < counter->unseen_kinds; i++) {
        if (counter->unseen[i] > 0) {
            summary->unseen[summary->unseen_count++] = (struct wio_summary_unseen){
                wio_unseen_key(i), wio_unseen_text(i), wio_unseen_remedy(i), counter->unseen[i]};
        }
    }
    return WIO_OK;
}

static int by_rank(const void *a, const void *b)
{
    const struct wio_summary_rank *left = a;
    const struct wio_summary_rank *right = b;
    return (left->rank > right->rank) - (left->rank < right->rank);
}

static void finish_ranks(struct wio_summary *summary)
{
    for (size_t i = 0; i < summary->rank_count; i++) {
        if (summary->ranks[i].events == 0) {
            summary->ranks[i].first_ns = 0;
        }
    }
    if (summary->rank_count > 1) {
        qsort(summary->ranks, summary->rank_count, sizeof(*summary->ranks), by_rank);
    }
}

static int by_loss(const void *a, const void *b)
{
    const struct wio_process_info *left = *(const struct wio_process_info *const *)a;
    const struct wio_process_info *right = *(const struct wio_process_info *const *)b;
    if (left->dropped != right->dropped) {
        return left->dropped > right->dropped ? -1 : 1;
    }
    return (left->pid > right->pid) - (left->pid < right->pid);
}

static enum wio_status list_losses(struct summary_counter *counter)
{
    struct wio_summary *summary = counter->summary;
    const uint32_t count = wio_trace_process_count(counter->trace);

    summary->losses = calloc((size_t)count + 1, sizeof(struct wio_process_info *));
    if (summary->losses == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct wio_process_info *process = wio_trace_process(counter->trace, i);
        if (process->dropped > 0) {
            summary->losses[summary->loss_count++] = process;
        }
    }
    if (summary->loss_count > 1) {
        qsort(summary->losses, summary->loss_count, sizeof(struct wio_process_info *), by_loss);
    }
    return WIO_OK;
}

static enum wio_status count_all(struct summary_counter *counter)
{
    WIO_TRY(count_processes(counter));
    WIO_TRY(count_streams(counter));
    WIO_TRY(list_ops(counter));
    WIO_TRY(list_unseen(counter));
    WIO_TRY(list_losses(counter));
    finish_ranks(counter->summary);
    return WIO_OK;
}

enum wio_status wio_summary_create(const struct wio_trace *trace, struct wio_summary **summary_out,
                                   struct wio_error *err)
{
    struct wio_summary *summary = calloc(1, sizeof(*summary));
    struct summary_counter counter = {.summary = summary, .trace = trace};
    enum wio_status status = summary != NULL ? count_all(&counter) : WIO_ERR_NOMEM;

    counter_fini(&counter);
    if (status != WIO_OK) {
        wio_summary_destroy(summary);
        *summary_out = NULL;
        return wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for the summary of a trace");
    }
    summary->trace = trace;
    wio_trace_get_info(trace, &summary->info);
    summary->has_edges = wio_trace_edges(trace) != NULL;
    if (summary->has_edges) {
        wio_edge_file_get_info(wio_trace_edges(trace), &summary->edges);
    }
    *summary_out = summary;
    return WIO_OK;
}
