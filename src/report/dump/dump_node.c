/* SPDX-License-Identifier: Apache-2.0 */
#include "report/dump/dump_node.h"

#include "base/cleanup.h"
#include "report/dump/node_waits.h"
#include "report/event_text.h"
#include "report/line.h"

#define PROGRESS_EVERY 16384u

/* When the node began to compute: the main thread with its process, others with their first event.
 */
static uint64_t node_start(const struct wio_trace *trace, const struct wio_event *first)
{
    const struct wio_stream_info *stream = wio_trace_stream(trace, first->stream);
    const struct wio_process_info *process = wio_trace_process(trace, stream->process);
    bool is_main = stream->thread == 0 && stream->tid == process->pid;

    return is_main && process->start_ns < first->t_ns ? process->start_ns : first->t_ns;
}

bool wio_node_step(struct wio_node_walk *walk, const struct wio_trace *trace,
                   const struct wio_event *event, uint64_t *compute_ns_out)
{
    uint64_t end_ns = event->t_ns + event->dur_ns;
    bool is_first = walk->node != event->stream;

    if (is_first) {
        *walk = (struct wio_node_walk){event->stream, node_start(trace, event)};
    }
    /* asynchronous operations overlap: computing begins when the last one has ended */
    *compute_ns_out = event->t_ns > walk->end_ns ? event->t_ns - walk->end_ns : 0;
    walk->end_ns = end_ns > walk->end_ns ? end_ns : walk->end_ns;
    return is_first;
}

static void cursor_cleanup(struct wio_cursor **cursor)
{
    wio_cursor_destroy(*cursor);
}

static void put_node(struct wio_line *line, const struct wio_trace *trace, uint32_t node)
{
    const struct wio_stream_info *stream = wio_trace_stream(trace, node);
    const struct wio_process_info *process = wio_trace_process(trace, stream->process);

    WIO_LINE_LITERAL(line, "# node ");
    wio_line_u64(line, node);
    if (process->rank >= 0) {
        WIO_LINE_LITERAL(line, ", rank ");
        wio_line_i64(line, process->rank);
    }
    if (process->host[0] != '\0') {
        WIO_LINE_LITERAL(line, ", host ");
        wio_line_plain(line, process->host);
    }
    WIO_LINE_LITERAL(line, ", pid ");
    wio_line_i64(line, process->pid);
    WIO_LINE_LITERAL(line, ", tid ");
    wio_line_i64(line, stream->tid);
    if (process->exe[0] != '\0') {
        WIO_LINE_LITERAL(line, ": ");
        wio_line_plain(line, process->exe);
    }
    wio_line_byte(line, '\n');
}

/* What it used of a processor, where that was recorded. */
static void put_cpu(struct wio_line *line, const struct wio_event *event)
{
    if (event->gap_cpu_ns != 0) {
        WIO_LINE_LITERAL(line, "  # processor ");
        wio_line_seconds(line, event->gap_cpu_ns);
        wio_line_text(line, event->gap_slept ? ", slept" : "");
    }
}

/* An operation is printed when the next one of its node is known: what stdio or MPI did in between
 * belongs to it, and so do the waits and signals of that. */
struct nodes {
    const struct wio_trace *trace;
    struct wio_line line;
    struct wio_node_walk walk;
    struct wio_node_waits waits;
    struct wio_event event;
    bool has_event;
};

static void nodes_fini(struct nodes *nodes)
{
    wio_node_waits_fini(&nodes->waits);
    wio_line_fini(&nodes->line);
}

static enum wio_status put_step(struct nodes *nodes, uint64_t limit, struct wio_error *err)
{
    struct wio_line *line = &nodes->line;
    uint32_t node = nodes->event.stream;
    uint64_t compute_ns;

    if (wio_node_step(&nodes->walk, nodes->trace, &nodes->event, &compute_ns)) {
        put_node(line, nodes->trace, node);
    }
    if (compute_ns > 0) {
        WIO_LINE_LITERAL(line, "COMPUTE(");
        wio_line_seconds(line, compute_ns);
        wio_line_byte(line, ')');
        put_cpu(line, &nodes->event);
        wio_line_byte(line, '\n');
    }
    WIO_TRY(wio_node_put_waits(&nodes->waits, line, node, limit, err));
    wio_event_text(line, nodes->trace, &nodes->event);
    wio_line_byte(line, '\n');
    return wio_node_put_signals(&nodes->waits, line, node, limit, err);
}

static enum wio_status add_event(struct nodes *nodes, const struct wio_event *event,
                                 struct wio_error *err)
{
    if ((event->flags & WIO_EVENT_CAUSED) != 0) {
        return WIO_OK;
    }
    if (nodes->has_event) {
        bool is_same = event->stream == nodes->event.stream;
        WIO_TRY(put_step(nodes, is_same ? event->seq : WIO_NODE_END, err));
    }
    nodes->event = *event;
    nodes->has_event = true;
    return WIO_OK;
}

enum wio_status wio_report_nodes(const struct wio_trace *trace,
                                 const struct wio_dump_params *params, FILE *out,
                                 struct wio_error *err)
{
    WIO_CLEANUP(cursor_cleanup) struct wio_cursor *cursor = NULL;
    WIO_CLEANUP(nodes_fini) struct nodes nodes = {.trace = trace, .walk = {.node = WIO_NODE_NONE}};
    struct wio_filter filter = params->filter;
    struct wio_trace_info info;
    const struct wio_event *event;
    enum wio_status status;
    uint64_t done = 0;

    wio_trace_get_info(trace, &info);
    filter.struct_size = sizeof(filter);
    filter.order = WIO_ORDER_STREAM;
    WIO_TRY(wio_line_init(&nodes.line, out, err));
    WIO_TRY(wio_node_waits_init(&nodes.waits, trace, err));
    WIO_TRY(wio_cursor_create(trace, &filter, &cursor, err));
    while ((status = wio_cursor_next(cursor, &event, err)) == WIO_OK && !ferror(out)) {
        if (++done % PROGRESS_EVERY == 0 && params->progress != NULL) {
            params->progress(params->progress_arg, done, info.events, "events");
        }
        if (wio_dump_is_wanted(params, event)) {
            WIO_TRY(add_event(&nodes, event, err));
        }
    }
    if (nodes.has_event) {
        WIO_TRY(put_step(&nodes, WIO_NODE_END, err));
    }
    return status == WIO_END || status == WIO_OK ? WIO_OK : status;
}
