/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "ops/calls.h"
#include "throttle/merge/merge_internal.h"
#include "trace/edges/held_file.h"

static enum wio_status refuse(const struct wio_merge_run *run, struct wio_error *err,
                              const char *what, const char *expected, const char *found)
{
    return wio_error_set(err, WIO_ERR_FORMAT, run->dir, WIO_ERROR_NO_OFFSET,
                         "no run of the same program: expected %s %s as in the first run, found %s",
                         what, expected, found);
}

static enum wio_status refuse_count(const struct wio_merge_run *run, struct wio_error *err,
                                    const char *what, uint64_t expected, uint64_t found)
{
    char texts[2][24];
    snprintf(texts[0], sizeof(texts[0]), "%" PRIu64, expected);
    snprintf(texts[1], sizeof(texts[1]), "%" PRIu64, found);
    return refuse(run, err, what, texts[0], texts[1]);
}

/* Ranks first: the command line of a launcher tells them too, but says less. */
static enum wio_status check_program(const struct wio_merge_run *first,
                                     const struct wio_merge_run *run, struct wio_error *err)
{
    struct wio_trace_info a;
    struct wio_trace_info b;
    wio_trace_get_info(first->trace, &a);
    wio_trace_get_info(run->trace, &b);
    if (b.dropped > 0) {
        return wio_error_set(err, WIO_ERR_FORMAT, run->dir, WIO_ERROR_NO_OFFSET,
                             "%" PRIu64 " events were dropped: such a run is no evidence",
                             b.dropped);
    }
    if (a.ranks != b.ranks) {
        return refuse_count(run, err, "ranks", a.ranks, b.ranks);
    }
    if (strcmp(a.version, b.version) != 0) {
        return refuse(run, err, "whyio", a.version, b.version);
    }
    if (strcmp(a.command, b.command) != 0) {
        return refuse(run, err, "command", a.command, b.command);
    }
    if (a.processes != b.processes) {
        return refuse_count(run, err, "processes", a.processes, b.processes);
    }
    if (a.threads != b.threads) {
        return refuse_count(run, err, "threads", a.threads, b.threads);
    }
    return WIO_OK;
}

static enum wio_status match_nodes(struct wio_merge *merge, struct wio_merge_run *run,
                                   struct wio_error *err)
{
    uint32_t streams = wio_trace_stream_count(run->trace);
    run->node_of = calloc((size_t)streams + 1, sizeof(*run->node_of));
    run->holds = calloc((size_t)merge->nodes + 1, sizeof(*run->holds));
    run->birth_ns = calloc((size_t)merge->nodes + 1, sizeof(*run->birth_ns));
    if (run->node_of == NULL || run->holds == NULL || run->birth_ns == NULL) {
        return wio_merge_no_memory(err);
    }
    for (uint32_t s = 0; s < streams; s++) {
        uint32_t own = run->identity.node_of[s];
        run->node_of[s] = wio_identity_match(&run->identity, own, &merge->runs[0].identity);
        if (run->node_of[s] == UINT32_MAX) {
            const struct wio_stream_info *stream = wio_trace_stream(run->trace, s);
            const struct wio_process_info *process = wio_trace_process(run->trace, stream->process);
            return wio_error_set(err, WIO_ERR_FORMAT, run->dir, WIO_ERROR_NO_OFFSET,
                                 "no run of the same program: thread %d of process %d (%s) is not "
                                 "in the first run",
                                 (int)stream->tid, (int)process->pid, process->argv);
        }
    }
    for (uint32_t s = streams; s-- > 0;) {
        run->birth_ns[run->node_of[s]] = wio_trace_stream(run->trace, s)->first_ns;
    }
    return WIO_OK;
}

static enum wio_status add_hold(struct wio_merge_holds *holds, const struct wio_event *event)
{
    void *items = holds->items;
    WIO_TRY(wio_make_room(&items, sizeof(*holds->items), &holds->room, holds->count + 1));
    holds->items = items;
    WIO_PRE(holds->items != NULL);
    const struct wio_merge_hold *last = holds->count > 0 ? &holds->items[holds->count - 1] : NULL;
    uint64_t before_ns = last != NULL ? last->before_ns + (last->end_ns - last->begin_ns) : 0;
    holds->items[holds->count++] =
        (struct wio_merge_hold){event->t_ns, event->t_ns + event->dur_ns, before_ns};
    return WIO_OK;
}

static enum wio_status read_holds(struct wio_merge_run *run, struct wio_error *err)
{
    static const uint16_t hold = WIO_OP_hold;
    struct wio_cursor *cursor;
    const struct wio_event *event;
    const struct wio_filter filter = {.struct_size = sizeof(filter),
                                      .order = WIO_ORDER_STREAM,
                                      .ops = &hold,
                                      .op_count = 1,
                                      .columns = WIO_COLUMN_TIME};
    WIO_TRY(wio_cursor_create(run->trace, &filter, &cursor, err));
    enum wio_status status;
    while ((status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
        if (add_hold(&run->holds[run->node_of[event->stream]], event) != WIO_OK) {
            status = wio_merge_no_memory(err);
            break;
        }
    }
    wio_cursor_destroy(cursor);
    return status == WIO_END ? WIO_OK : status;
}

/* How many-th I/O of its node an event is. */
static bool find_io(const struct wio_merge_run *run, struct wio_edge_point point, uint32_t *node,
                    uint64_t *op)
{
    *node = run->node_of[point.stream];
    const struct wio_run_list *list = &run->ops.lists[*node];
    *op = WIO_FIRST(i, 0, list->count, list->points[i].seq >= point.seq);
    return *op < list->count && list->points[*op].seq == point.seq;
}

static enum wio_status read_edge(struct wio_merge_run *run, const struct wio_held_edge *held,
                                 struct wio_error *err)
{
    struct wio_edge edge = {.class = WIO_EDGE_HARD, .evidence = WIO_EVIDENCE_HELD};
    if (!find_io(run, held->from, &edge.from_thread, &edge.from_op) ||
        !find_io(run, held->to, &edge.to_thread, &edge.to_op)) {
        return wio_error_set(err, WIO_ERR_FORMAT, run->dir, WIO_ERROR_NO_OFFSET,
                             "expected held edges between I/Os that could be held");
    }
    return wio_edges_add(&run->edges, &edge) == WIO_OK ? WIO_OK : wio_merge_no_memory(err);
}

static enum wio_status read_edges(struct wio_merge_run *run, struct wio_error *err)
{
    WIO_CLEANUP(wio_held_fini) struct wio_held held = {0};
    WIO_TRY(wio_held_file_read(run->trace, &held, err));
    if (held.lost > 0) {
        return wio_error_set(err, WIO_ERR_FORMAT, run->dir, WIO_ERROR_NO_OFFSET,
                             "expected the segments in which edges were found by holding, found "
                             "that %" PRIu64 " edges lead to others",
                             held.lost);
    }
    for (size_t i = 0; i < held.count; i++) {
        WIO_TRY(read_edge(run, &held.edges[i], err));
    }
    return WIO_OK;
}

static bool has_io(const struct wio_run_ops *ops)
{
    for (uint32_t n = 0; n < ops->count; n++) {
        if (ops->lists[n].count > 0) {
            return true;
        }
    }
    return false;
}

static enum wio_status load_run(struct wio_merge *merge, struct wio_merge_run *run,
                                struct wio_error *err)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    WIO_TRY(match_nodes(merge, run, err));
    wio_edges_init(&run->edges, &heap, merge->nodes);
    WIO_TRY(wio_run_ops_read(run->trace, run->node_of, merge->nodes, &run->ops, err));
    if (!has_io(&run->ops)) {
        return wio_error_set(err, WIO_ERR_FORMAT, run->dir, WIO_ERROR_NO_OFFSET,
                             "expected a run of record --causal=throttle, found no operation by "
                             "which a thread could be held");
    }
    WIO_TRY(read_holds(run, err));
    return read_edges(run, err);
}

enum wio_status wio_merge_load(struct wio_merge *merge, struct wio_error *err)
{
    for (uint32_t r = 0; r < merge->params->count; r++) {
        struct wio_merge_run *run = &merge->runs[r];
        run->dir = merge->params->runs[r];
        WIO_TRY(wio_trace_open(run->dir, &run->trace, err));
        WIO_TRY(check_program(&merge->runs[0], run, err));
        WIO_TRY(wio_identity_find(run->trace, &run->identity, err));
        merge->nodes = r == 0 ? run->identity.count : merge->nodes;
        WIO_TRY(load_run(merge, run, err));
    }
    return WIO_OK;
}
