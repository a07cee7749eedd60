/* SPDX-License-Identifier: Apache-2.0 */
#include "report/dump/dump.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "explain/account.h"
#include "explain/event_sort.h"
#include "ops/calls.h"
#include "report/dump/dump_fields.h"
#include "report/dump/dump_node.h"
#include "report/dump/dump_text.h"
#include "report/dump/node_waits.h"
#include "report/line.h"
#include "report/rendered.h"

#define PROGRESS_EVERY 16384u

struct dump {
    const struct wio_trace *trace;
    const struct wio_dump_params *params;
    struct wio_line line;
    struct wio_rendered rendered;
    struct wio_tally tally;
    uint64_t events;
    uint64_t read; /* events, wanted or not */
    uint64_t errors;
    struct wio_node_walk walk; /* annotated */
    struct wio_node_waits waits;
    struct wio_event event; /* not printed before the next one of its node is known */
    bool has_event;
};

static void dump_fini(struct dump *dump)
{
    wio_node_waits_fini(&dump->waits);
    wio_line_fini(&dump->line);
    wio_rendered_fini(&dump->rendered);
}

static void cursor_cleanup(struct wio_cursor **cursor)
{
    wio_cursor_destroy(*cursor);
}

static void put_rendered(struct wio_line *line, const struct wio_rendered_text *text)
{
    wio_line_bytes(line, text->text, text->bytes);
}

static void put_flags(struct wio_line *line, unsigned flags)
{
    const char *names[8];
    unsigned count = wio_dump_flags(flags, names);

    wio_line_byte(line, '[');
    for (unsigned i = 0; i < count; i++) {
        wio_line_text(line, i > 0 ? ", \"" : "\"");
        wio_line_text(line, names[i]);
        wio_line_byte(line, '"');
    }
    wio_line_byte(line, ']');
}

static void put_i64_or_null(struct wio_line *line, int64_t value, int64_t none)
{
    if (value == none) {
        WIO_LINE_LITERAL(line, "null");
    } else {
        wio_line_i64(line, value);
    }
}

static void put_u64_or_null(struct wio_line *line, uint64_t value, bool is_known)
{
    if (!is_known) {
        WIO_LINE_LITERAL(line, "null");
    } else {
        wio_line_u64(line, value);
    }
}

/* The fields that every version of whyio has, in the order of the manual page. */
static void put_basics(struct dump *dump, const struct wio_event *event)
{
    struct wio_line *line = &dump->line;
    struct wio_rendered *rendered = &dump->rendered;

    WIO_LINE_LITERAL(line, "{\"schema\": \"whyio.dump/1\", ");
    put_rendered(line, wio_rendered_stream(rendered, event->stream));
    WIO_LINE_LITERAL(line, ", \"seq\": ");
    wio_line_u64(line, event->seq);
    WIO_LINE_LITERAL(line, ", \"t_ns\": ");
    wio_line_u64(line, event->t_ns);
    WIO_LINE_LITERAL(line, ", \"dur_ns\": ");
    put_u64_or_null(line, event->dur_ns, wio_dump_has_duration(event));
    WIO_LINE_LITERAL(line, ", \"op\": \"");
    wio_line_text(line, wio_op_name(event->op));
    WIO_LINE_LITERAL(line, "\", \"path\": ");
    put_rendered(line, wio_rendered_path(rendered, event->path));
    WIO_LINE_LITERAL(line, ", \"path2\": ");
    put_rendered(line, wio_rendered_path(rendered, event->path2));
    WIO_LINE_LITERAL(line, ", \"fd\": ");
    put_i64_or_null(line, event->fd, WIO_NO_FD);
    WIO_LINE_LITERAL(line, ", \"offset\": ");
    put_i64_or_null(line, event->offset, WIO_NO_OFFSET);
    WIO_LINE_LITERAL(line, ", \"size\": ");
    put_u64_or_null(line, event->size, event->size != WIO_NO_SIZE);
    WIO_LINE_LITERAL(line, ", \"result\": ");
    put_i64_or_null(line, event->result, WIO_RESULT_PENDING);
    WIO_LINE_LITERAL(line, ", \"errno\": ");
    put_u64_or_null(line, event->error, event->result != WIO_RESULT_PENDING);
    WIO_LINE_LITERAL(line, ", ");
    put_rendered(line, wio_rendered_job(rendered, event->stream));
    WIO_LINE_LITERAL(line, ", ");
    put_rendered(line, wio_rendered_source(rendered, event->source));
    WIO_LINE_LITERAL(line, ", \"own_source\": ");
    put_rendered(line, wio_rendered_own_source(rendered, event->stream, event->source));
}

/* Processor time of the gap before the event, or of its duration. */
static void put_cpu(struct wio_line *line, const char *name, uint64_t cpu_ns, bool has_slept)
{
    WIO_LINE_LITERAL(line, ", \"");
    wio_line_text(line, name);
    WIO_LINE_LITERAL(line, "_cpu_ns\": ");
    put_u64_or_null(line, cpu_ns, cpu_ns != 0);
    WIO_LINE_LITERAL(line, ", \"");
    wio_line_text(line, name);
    WIO_LINE_LITERAL(line, "_slept\": ");
    wio_line_text(line, cpu_ns == 0 ? "null" : has_slept ? "true" : "false");
}

/* The fields that came later. */
static void put_additions(struct dump *dump, const struct wio_event *event)
{
    struct wio_line *line = &dump->line;
    const char *error = event->error != 0 ? strerrorname_np(event->error) : NULL;

    WIO_LINE_LITERAL(line, ", \"errno_name\": ");
    if (error != NULL) {
        wio_line_byte(line, '"');
        wio_line_text(line, error);
        wio_line_byte(line, '"');
    } else {
        WIO_LINE_LITERAL(line, "null");
    }
    WIO_LINE_LITERAL(line, ", \"call\": \"");
    wio_line_text(line, wio_call_name(event->call));
    WIO_LINE_LITERAL(line, "\", \"fd2\": ");
    put_i64_or_null(line, event->fd2, WIO_NO_FD);
    WIO_LINE_LITERAL(line, ", \"offset2\": ");
    put_i64_or_null(line, event->offset2, WIO_NO_OFFSET);
    WIO_LINE_LITERAL(line, ", \"args\": [");
    for (size_t i = 0; i < WIO_ARRAY_SIZE(event->arg); i++) {
        if (i > 0) {
            WIO_LINE_LITERAL(line, ", ");
        }
        wio_line_i64(line, event->arg[i]);
    }
    WIO_LINE_LITERAL(line, "], \"caused\": ");
    wio_line_text(line, (event->flags & WIO_EVENT_CAUSED) != 0 ? "true" : "false");
    WIO_LINE_LITERAL(line, ", \"flags\": ");
    put_flags(line, event->flags);
    put_cpu(line, "gap", event->gap_cpu_ns, event->gap_slept);
    put_cpu(line, "dur", event->dur_cpu_ns, event->dur_slept);
}

/* The event's node, its compute time before, and its WAIT and SIGNAL edges up to its operation
 * `limit`. */
static enum wio_status put_annotation(struct dump *dump, const struct wio_event *event,
                                      uint64_t limit, struct wio_error *err)
{
    struct wio_line *line = &dump->line;
    uint64_t compute_ns;

    (void)wio_node_step(&dump->walk, dump->trace, event, &compute_ns);
    WIO_LINE_LITERAL(line, ", \"node\": ");
    wio_line_u64(line, event->stream);
    WIO_LINE_LITERAL(line, ", \"compute_s\": ");
    wio_line_seconds(line, compute_ns);
    return wio_node_put_json(&dump->waits, line, event->stream, limit, err);
}

static void put_event(struct dump *dump, const struct wio_event *event)
{
    if (dump->params->is_text) {
        wio_dump_text(&dump->line, dump->trace, dump->rendered.sources, event);
        return;
    }
    if (dump->params->is_csv) {
        wio_dump_fields_put_csv(dump->params->fields, &dump->line, &dump->rendered, event);
        return;
    }
    if (dump->params->fields != NULL) {
        wio_dump_fields_put_json(dump->params->fields, &dump->line, &dump->rendered, event);
        return;
    }
    put_basics(dump, event);
    put_additions(dump, event);
    WIO_LINE_LITERAL(&dump->line, "}\n");
}

/* The event that was kept back, now that `next` is known (NULL: there is none). */
static enum wio_status put_kept(struct dump *dump, const struct wio_event *next,
                                struct wio_error *err)
{
    if (dump->has_event) {
        bool is_same = next != NULL && next->stream == dump->event.stream;
        put_basics(dump, &dump->event);
        put_additions(dump, &dump->event);
        WIO_TRY(put_annotation(dump, &dump->event, is_same ? next->seq : WIO_NODE_END, err));
        WIO_LINE_LITERAL(&dump->line, "}\n");
    }
    dump->has_event = next != NULL;
    if (next != NULL) {
        dump->event = *next;
    }
    return WIO_OK;
}

/* Bytes and time of a stdio call are those of the operations that it caused. */
static void count_event(struct dump *dump, const struct wio_event *event)
{
    dump->events++;
    dump->errors += event->error != 0;
    if (!wio_account_is_buffered(event->op)) {
        wio_tally_add(&dump->tally, event);
    }
}

static void report_progress(struct dump *dump)
{
    struct wio_trace_info info;

    if (++dump->read % PROGRESS_EVERY == 0 && dump->params->progress != NULL) {
        wio_trace_get_info(dump->trace, &info);
        dump->params->progress(dump->params->progress_arg, dump->read, info.events, "events");
    }
}

/* One event of the pass, which is wanted. */
static enum wio_status take(struct dump *dump, const struct wio_event *event,
                            struct wio_event_sort *sort, struct wio_error *err)
{
    if (sort != NULL) {
        return wio_event_sort_add(sort, event, err);
    }
    if (dump->params->is_annotated) {
        WIO_TRY(put_kept(dump, event, err));
    } else {
        put_event(dump, event);
    }
    count_event(dump, event);
    return WIO_OK;
}

/* The events in the order of the cursor go to `sort`, or where that is NULL into lines. */
static enum wio_status read_events(struct dump *dump, struct wio_event_sort *sort,
                                   struct wio_error *err)
{
    WIO_CLEANUP(cursor_cleanup) struct wio_cursor *cursor = NULL;
    const struct wio_dump_params *params = dump->params;
    struct wio_filter filter = params->filter;
    const struct wio_event *event;
    enum wio_status status;

    filter.struct_size = sizeof(filter);
    filter.order = params->is_annotated ? WIO_ORDER_STREAM : WIO_ORDER_TIME;
    WIO_TRY(wio_cursor_create(dump->trace, &filter, &cursor, err));
    while ((status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
        report_progress(dump);
        if (params->to_ns != 0 && event->t_ns >= params->to_ns && !params->is_annotated) {
            return WIO_OK;
        }
        if (params->is_annotated && (event->flags & WIO_EVENT_CAUSED) != 0) {
            continue; /* part of the stdio call before it */
        }
        if (!wio_dump_is_wanted(params, event)) {
            continue;
        }
        WIO_TRY(take(dump, event, sort, err));
        if (ferror(dump->line.out)) {
            return WIO_OK;
        }
    }
    if (params->is_annotated) {
        WIO_TRY(put_kept(dump, NULL, err));
    }
    return status == WIO_END ? WIO_OK : status;
}

static void sort_cleanup(struct wio_event_sort **sort)
{
    wio_event_sort_destroy(*sort);
}

static enum wio_status put_events(struct dump *dump, struct wio_error *err)
{
    WIO_CLEANUP(sort_cleanup) struct wio_event_sort *sort = NULL;
    const struct wio_event *event;
    enum wio_status status;

    if (!dump->params->is_by_duration) {
        return read_events(dump, NULL, err);
    }
    WIO_TRY(wio_event_sort_create(0, &sort, err));
    WIO_TRY(read_events(dump, sort, err));
    WIO_TRY(wio_event_sort_finish(sort, err));
    while ((status = wio_event_sort_next(sort, &event, err)) == WIO_OK && !ferror(dump->line.out)) {
        put_event(dump, event);
        count_event(dump, event);
    }
    return status == WIO_END ? WIO_OK : status;
}

static void put_summary(struct dump *dump)
{
    struct wio_trace_info info;
    struct wio_json json;

    wio_line_flush(&dump->line);
    wio_trace_get_info(dump->trace, &info);
    wio_json_init(&json, dump->line.out);
    wio_json_object_begin(&json, NULL);
    wio_json_string(&json, "schema", "whyio.dump/1");
    wio_json_u64(&json, "events", dump->events);
    wio_json_u64(&json, "bytes", dump->tally.bytes);
    wio_json_double(&json, "time_s", (double)dump->tally.time_ns / 1e9);
    wio_json_u64(&json, "errors", dump->errors);
    wio_json_u64(&json, "dropped", info.dropped);
    wio_json_u64(&json, "start_unix_ns", info.start_unix_ns);
    wio_json_bool(&json, "complete", info.complete);
    wio_json_object_end(&json);
    wio_json_line(&json);
}

enum wio_status wio_report_dump(const struct wio_trace *trace, const struct wio_dump_params *params,
                                FILE *out, struct wio_error *err)
{
    WIO_CLEANUP(dump_fini)
    struct dump dump = {.trace = trace, .params = params, .walk = {.node = WIO_NODE_NONE}};

    if (params->is_annotated && params->is_text) {
        return wio_report_nodes(trace, params, out, err);
    }
    WIO_TRY(wio_line_init(&dump.line, out, err));
    WIO_TRY(wio_rendered_init(&dump.rendered, trace, err));
    WIO_TRY(wio_node_waits_init(&dump.waits, trace, err));
    if (params->is_text) {
        wio_dump_text_heading(&dump.line);
        return put_events(&dump, err);
    }
    if (params->is_csv) {
        wio_dump_fields_put_heading(params->fields, &dump.line);
        return put_events(&dump, err);
    }
    WIO_TRY(put_events(&dump, err));
    put_summary(&dump);
    return WIO_OK;
}
