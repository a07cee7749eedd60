/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/critical_path/timeline.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/pick.h"
#include "explain/accounts/step_kind.h"
#include "ops/calls.h"

/* ---- the tables ---- */

static enum wio_status init_threads(struct wio_timeline *timeline, const struct wio_trace *trace)
{
    uint32_t processes = wio_trace_process_count(trace);

    timeline->threads = calloc((size_t)timeline->streams + 1, sizeof(*timeline->threads));
    timeline->first_streams = calloc((size_t)processes + 1, sizeof(*timeline->first_streams));
    timeline->process_requests = calloc((size_t)processes + 1, sizeof(*timeline->process_requests));
    if (timeline->threads == NULL || timeline->first_streams == NULL ||
        timeline->process_requests == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < processes; i++) {
        timeline->first_streams[i] = WIO_NOTHING;
    }
    for (uint32_t i = 0; i < timeline->streams; i++) {
        const struct wio_stream_info *info = wio_trace_stream(trace, i);
        timeline->threads[i] = (struct wio_thread_time){.poll_end_seq = UINT64_MAX,
                                                        .requested = UINT64_MAX,
                                                        .leave_seq = UINT64_MAX,
                                                        .open = WIO_NO_STEP,
                                                        .requests = WIO_NOTHING,
                                                        .leaves = WIO_NOTHING,
                                                        .events_left = info->events};
        timeline->threads[i].wait.release.stream = WIO_NOTHING;
        timeline->threads[i].wait.collective = WIO_NOTHING;
        if (timeline->first_streams[info->process] == WIO_NOTHING) {
            timeline->first_streams[info->process] = i;
        }
    }
    return WIO_OK;
}

enum wio_status wio_timeline_init(struct wio_timeline *timeline, const struct wio_trace *trace,
                                  struct wio_steps *steps, struct wio_error *err)
{
    const struct wio_edge_file *file = wio_trace_edges(trace);

    timeline->trace = trace;
    timeline->steps = steps;
    timeline->streams = wio_trace_stream_count(trace);
    timeline->has_edges = file != NULL;
    timeline->free_request = timeline->free_leave = timeline->free_gathering = WIO_NOTHING;
    if (init_threads(timeline, trace) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for %u threads", timeline->streams);
    }
    WIO_TRY(wio_edge_rows_init(&timeline->edges, file, WIO_EDGES_IN, timeline->streams, 0, err));
    WIO_TRY(
        wio_edge_rows_init(&timeline->members, file, WIO_EDGES_MEMBERS, timeline->streams, 0, err));
    return wio_edge_rows_init(&timeline->polls, file, WIO_EDGES_WAITS, timeline->streams, 0, err);
}

void wio_timeline_fini(struct wio_timeline *timeline)
{
    for (uint32_t i = 0; timeline->threads != NULL && i < timeline->streams; i++) {
        wio_path_unref(timeline->threads[i].path);
        wio_path_unref(timeline->threads[i].wait.before);
        wio_path_unref(timeline->threads[i].rest.before);
        wio_path_unref(timeline->threads[i].wait.release.path);
    }
    for (uint32_t i = 0; i < timeline->gathering_count; i++) {
        wio_path_unref(timeline->gatherings[i].release.path);
    }
    free(timeline->threads);
    free(timeline->first_streams);
    free(timeline->process_requests);
    free(timeline->requests);
    free(timeline->leaves);
    free(timeline->gatherings);
    free(timeline->endings);
    free(timeline->parts);
    wio_map_fini(&timeline->gathering_index);
    wio_edge_rows_fini(&timeline->edges);
    wio_edge_rows_fini(&timeline->members);
    wio_edge_rows_fini(&timeline->polls);
}

/* ---- the end of operations ---- */

static void add_operation(struct wio_timeline *timeline, uint32_t stream,
                          const struct wio_under_way *top)
{
    struct wio_thread_time *thread = &timeline->threads[stream];
    uint64_t from_ns = thread->cur_ns;
    uint64_t left_ns = top->end_ns > from_ns ? top->end_ns - from_ns : 0;
    uint64_t idle_ns = top->cpu_wait_ns < left_ns ? top->cpu_wait_ns : left_ns;

    wio_async_add(timeline, stream, top, from_ns, wio_larger(top->end_ns - idle_ns, from_ns));
    if (idle_ns > 0) {
        wio_time_add(timeline, stream, top->cpu_step, top->end_ns - idle_ns, top->end_ns);
    }
    if (top->end_ns > thread->cur_ns) {
        thread->cur_ns = top->end_ns;
    }
}

static enum wio_status end_top(struct wio_timeline *timeline, uint32_t stream)
{
    struct wio_thread_time *thread = &timeline->threads[stream];
    struct wio_under_way top = thread->stack[thread->depth - 1];
    bool is_wait = thread->wait.is_active && thread->wait.seq == top.seq;

    if (is_wait && !thread->wait.is_poll) {
        WIO_TRY(wio_wait_end(timeline, stream, top.end_ns));
    }
    add_operation(timeline, stream, &top);
    if (is_wait && thread->wait.is_poll) {
        WIO_TRY(wio_wait_end(timeline, stream, top.end_ns));
    }
    thread->depth--;
    if (thread->requested <= top.seq) {
        WIO_TRY(wio_wait_release_end(timeline, stream, top.seq, thread->cur_ns));
    }
    if (thread->events_left == 0 && thread->depth == 0) {
        WIO_TRY(wio_wait_release(timeline, stream, UINT64_MAX, thread->cur_ns));
    }
    return WIO_OK;
}

/* End the operations of a thread that end up to `ns`. */
static enum wio_status settle(struct wio_timeline *timeline, uint32_t stream, uint64_t ns)
{
    struct wio_thread_time *thread = &timeline->threads[stream];

    while (thread->depth > 0 && thread->stack[thread->depth - 1].end_ns <= ns) {
        WIO_TRY(end_top(timeline, stream));
    }
    return WIO_OK;
}

static enum wio_status settle_others(struct wio_timeline *timeline, uint64_t ns)
{
    uint64_t end_ns = 0;
    uint32_t stream;

    while ((stream = wio_wait_next_end(timeline, ns, &end_ns)) != WIO_NOTHING) {
        WIO_TRY(settle(timeline, stream, end_ns));
    }
    return WIO_OK;
}

/* ---- the begin of a thread ---- */

/* The thread that made this one, WIO_NOTHING where it is not known or of no account. */
static uint32_t parent_of(const struct wio_timeline *timeline, uint32_t stream, uint64_t seq)
{
    const struct wio_stream_info *info = wio_trace_stream(timeline->trace, stream);
    const struct wio_process_info *process = wio_trace_process(timeline->trace, info->process);
    const struct wio_edge_link *link = wio_edge_rows_peek(&timeline->edges, stream);
    const struct wio_stream_info *other;
    uint32_t parent = WIO_NOTHING;

    if (link != NULL && link->seq == seq && link->other < timeline->streams &&
        (link->evidence == WIO_EVIDENCE_THREAD || link->evidence == WIO_EVIDENCE_PROCESS)) {
        parent = link->other;
    } else if (timeline->first_streams[info->process] != stream) {
        parent = timeline->first_streams[info->process];
    } else if (process->parent < wio_trace_process_count(timeline->trace)) {
        parent = timeline->first_streams[process->parent];
    }
    if (parent == WIO_NOTHING || parent == stream || !timeline->threads[parent].has_begun) {
        return WIO_NOTHING;
    }
    other = wio_trace_stream(timeline->trace, parent);
    if (process->rank >= 0 && wio_trace_process(timeline->trace, other->process)->rank < 0) {
        return WIO_NOTHING; /* the launcher */
    }
    return parent;
}

static enum wio_status begin_thread(struct wio_timeline *timeline, const struct wio_event *event)
{
    struct wio_thread_time *thread = &timeline->threads[event->stream];
    uint32_t parent = parent_of(timeline, event->stream, event->seq);
    struct wio_step_key key = {
        .stream = event->stream, .op = WIO_OP_START, .kind = WIO_STEP_COMPUTE};
    uint32_t step;

    thread->has_begun = true;
    thread->cur_ns = timeline->origin_ns;
    if (parent != WIO_NOTHING) {
        struct wio_path *path = NULL;
        WIO_TRY(settle(timeline, parent, event->t_ns));
        WIO_TRY(wio_time_path(timeline, parent, &path));
        thread->path = path;
        thread->jumps = path != NULL ? path->jumps : 0;
        thread->cur_ns = timeline->threads[parent].cur_ns;
    }
    thread->released_ns = thread->cur_ns;
    WIO_TRY(wio_steps_find(timeline->steps, &key, &step));
    wio_time_add(timeline, event->stream, step, thread->cur_ns, event->t_ns);
    thread->cur_ns = event->t_ns;
    return WIO_OK;
}

/* ---- between operations ---- */

static enum wio_status find_own(struct wio_timeline *timeline, const struct wio_event *event,
                                uint16_t op, uint8_t kind, uint32_t *step_out)
{
    struct wio_step_key key = {
        .stream = event->stream, .source = event->source, .op = op, .kind = kind};

    return wio_steps_find(timeline->steps, &key, step_out);
}

/* The step of computing before operations of `step`. */
static enum wio_status find_computing(struct wio_timeline *timeline, const struct wio_event *event,
                                      uint32_t step, uint32_t *computing_out)
{
    *computing_out = timeline->steps->steps[step].gap;
    if (*computing_out != WIO_NO_STEP) {
        return WIO_OK;
    }
    WIO_TRY(find_own(timeline, event, WIO_OP_COMPUTE, WIO_STEP_COMPUTE, computing_out));
    timeline->steps->steps[step].gap = *computing_out;
    return WIO_OK;
}

/* What the thread did since its operation before: computing, unless it had no processor. */
static enum wio_status add_gap(struct wio_timeline *timeline, const struct wio_event *event,
                               uint32_t step)
{
    struct wio_thread_time *thread = &timeline->threads[event->stream];
    uint64_t from_ns = thread->cur_ns;
    uint64_t busy_ns = event->t_ns - from_ns;
    uint32_t own;

    if (event->gap_cpu_ns != 0 && event->gap_cpu_ns < busy_ns) {
        busy_ns = event->gap_cpu_ns;
        WIO_TRY(event->gap_slept
                    ? find_own(timeline, event, WIO_OP_SLEPT, WIO_STEP_SLEPT, &own)
                    : find_own(timeline, event, WIO_OP_CPU_WAIT, WIO_STEP_CPU_WAIT, &own));
        wio_time_add(timeline, event->stream, own, from_ns + busy_ns, event->t_ns);
    }
    WIO_TRY(find_computing(timeline, event, step, &own));
    wio_time_add(timeline, event->stream, own, from_ns, from_ns + busy_ns);
    return WIO_OK;
}

/* Account the thread's time up to the begin of the event. */
static enum wio_status come_to(struct wio_timeline *timeline, const struct wio_event *event,
                               uint32_t step)
{
    struct wio_thread_time *thread = &timeline->threads[event->stream];

    if (event->t_ns <= thread->cur_ns) {
        return WIO_OK;
    }
    if (thread->depth > 0) {
        wio_async_add(timeline, event->stream, &thread->stack[thread->depth - 1], thread->cur_ns,
                      event->t_ns);
    } else {
        WIO_TRY(add_gap(timeline, event, step));
    }
    thread->cur_ns = event->t_ns;
    return WIO_OK;
}

/* ---- operations ---- */

static bool is_channel(const struct wio_timeline *timeline, uint32_t path)
{
    return path < timeline->path_count && timeline->is_not_a_file != NULL &&
           timeline->is_not_a_file[path] != 0;
}

static enum wio_status step_of(struct wio_timeline *timeline, const struct wio_event *event,
                               uint32_t *step_out)
{
    struct wio_thread_time *thread = &timeline->threads[event->stream];
    bool is_caused = (event->flags & WIO_EVENT_CAUSED) != 0;
    bool is_other = is_channel(timeline, event->path);
    struct wio_step_key key = {
        .stream = event->stream, .source = event->source, .path = event->path, .op = event->op};

    if (is_other) {
        key.outer = WIO_OUTER_CHANNEL;
    } else if (thread->depth > 0) {
        key.outer = thread->stack[thread->depth - 1].op;
    } else if (is_caused) {
        key.outer = thread->last_op;
    }
    if (thread->depth > 0) { /* a library's call within the program's */
        key.source = thread->stack[thread->depth - 1].source;
    }
    if (!is_caused) {
        thread->last_op = event->op;
    }
    key.kind = (uint8_t)wio_step_kind_of(event->op, is_other);
    thread->last_class = (uint16_t)wio_op_class(event->op);
    return wio_steps_find(timeline->steps, &key, step_out);
}

static enum wio_status put_under_way(struct wio_timeline *timeline, const struct wio_event *event,
                                     uint32_t step)
{
    struct wio_thread_time *thread = &timeline->threads[event->stream];
    struct wio_under_way top = {.end_ns = event->t_ns + event->dur_ns,
                                .seq = event->seq,
                                .step = step,
                                .source = event->source,
                                .op = event->op};
    bool is_io = timeline->steps->sites[timeline->steps->steps[step].site].kind == WIO_STEP_IO;
    bool is_watched = thread->requested <= event->seq || thread->events_left == 0 ||
                      (thread->wait.is_active && thread->wait.seq == event->seq);

    top.cpu_wait_ns = is_io ? wio_step_cpu_wait_ns(event) : 0;
    if (top.cpu_wait_ns > 0) {
        WIO_TRY(find_own(timeline, event, WIO_OP_CPU_WAIT, WIO_STEP_CPU_WAIT, &top.cpu_step));
    }
    if (thread->depth > 0) {
        top.source = thread->stack[thread->depth - 1].source;
    }
    thread->stack[thread->depth++] = top;
    return is_watched ? wio_wait_look_at(timeline, event->stream, top.end_ns) : WIO_OK;
}

static enum wio_status pass_by(struct wio_timeline *timeline, const struct wio_event *event)
{
    struct wio_thread_time *thread = &timeline->threads[event->stream];

    if (thread->wait.is_active && thread->wait.seq == event->seq) {
        WIO_TRY(wio_wait_end(timeline, event->stream, event->t_ns + event->dur_ns));
    }
    if (thread->requested <= event->seq) {
        WIO_TRY(wio_wait_release_end(timeline, event->stream, event->seq, thread->cur_ns));
    }
    return thread->events_left == 0 && thread->depth == 0
               ? wio_wait_release(timeline, event->stream, UINT64_MAX, thread->cur_ns)
               : WIO_OK;
}

enum wio_status wio_timeline_event(struct wio_timeline *timeline, const struct wio_event *event,
                                   uint32_t *step_out, struct wio_error *err)
{
    struct wio_thread_time *thread = &timeline->threads[event->stream];

    WIO_TRY(settle_others(timeline, event->t_ns));
    WIO_TRY(thread->has_begun ? settle(timeline, event->stream, event->t_ns)
                              : begin_thread(timeline, event));
    WIO_TRY(step_of(timeline, event, step_out));
    WIO_TRY(come_to(timeline, event, *step_out));
    if (thread->requested <= event->seq) {
        WIO_TRY(wio_wait_release(timeline, event->stream, event->seq, event->t_ns));
    }
    thread->events_left -= thread->events_left > 0;
    if (timeline->has_edges) {
        WIO_TRY(wio_rest_see(timeline, event, *step_out));
        WIO_TRY(wio_wait_begin(timeline, event, *step_out, err));
    }
    thread->last_seq = event->seq;
    wio_async_see(timeline, event, *step_out);
    if (wio_step_is_timeless(event) || thread->depth == WIO_NEST_MAX) {
        return pass_by(timeline, event);
    }
    return put_under_way(timeline, event, *step_out);
}

enum wio_status wio_timeline_end(struct wio_timeline *timeline, uint32_t stream,
                                 struct wio_error *err)
{
    struct wio_path *path = NULL;

    (void)err;
    WIO_TRY(settle_others(timeline, UINT64_MAX));
    for (uint32_t i = 0; i < timeline->streams; i++) {
        WIO_TRY(settle(timeline, i, UINT64_MAX));
    }
    if (stream >= timeline->streams) {
        return WIO_OK;
    }
    WIO_TRY(wio_time_path(timeline, stream, &path));
    for (const struct wio_path *node = path; node != NULL; node = node->parent) {
        for (uint32_t i = 0; i < node->count; i++) {
            timeline->steps->steps[node->parts[i].step].critical_ns += node->parts[i].ns;
        }
    }
    wio_path_unref(path);
    return WIO_OK;
}
