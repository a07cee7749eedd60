/* SPDX-License-Identifier: Apache-2.0 */
#include "report/edges.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "report/edges_waits.h"
#include "report/line.h"

#define PROGRESS_EVERY 65536u

struct edges_writer {
    const struct wio_trace *trace;
    const struct wio_edge_file *file;
    const struct wio_edges_report *report;
    struct wio_line line;
    uint64_t done;
};

static void writer_fini(struct edges_writer *writer)
{
    wio_line_fini(&writer->line);
}

static void cursor_cleanup(struct wio_edge_cursor **cursor)
{
    wio_edge_cursor_destroy(*cursor);
}

/* `"rank": 0, "pid": 7, "tid": 7, "seq": 3` */
static void put_point(struct edges_writer *writer, uint32_t stream, uint64_t seq)
{
    struct wio_line *line = &writer->line;
    const struct wio_stream_info *info = wio_trace_stream(writer->trace, stream);
    const struct wio_process_info *process = wio_trace_process(writer->trace, info->process);

    WIO_LINE_LITERAL(line, "\"rank\": ");
    if (process->rank >= 0) {
        wio_line_i64(line, process->rank);
    } else {
        WIO_LINE_LITERAL(line, "null");
    }
    WIO_LINE_LITERAL(line, ", \"pid\": ");
    wio_line_i64(line, process->pid);
    WIO_LINE_LITERAL(line, ", \"tid\": ");
    wio_line_i64(line, info->tid);
    WIO_LINE_LITERAL(line, ", \"seq\": ");
    wio_line_u64(line, seq);
}

static void put_class(struct edges_writer *writer, unsigned edge_class, unsigned evidence,
                      uint32_t object)
{
    struct wio_line *line = &writer->line;
    const char *text = wio_edge_file_object(writer->file, object);

    WIO_LINE_LITERAL(line, "\"class\": \"");
    wio_line_text(line, wio_edge_class_name(edge_class));
    WIO_LINE_LITERAL(line, "\", \"evidence\": \"");
    wio_line_text(line, wio_evidence_name(evidence));
    WIO_LINE_LITERAL(line, "\", \"object\": ");
    if (text[0] != '\0') {
        wio_line_json(line, text, strlen(text));
    } else {
        WIO_LINE_LITERAL(line, "null");
    }
}

static void put_edge_json(struct edges_writer *writer, const struct wio_edge_row *row)
{
    struct wio_line *line = &writer->line;

    WIO_LINE_LITERAL(line, "{\"schema\": \"whyio.edges/1\", \"from\": {");
    put_point(writer, row->from.stream, row->from.seq);
    WIO_LINE_LITERAL(line, "}, \"to\": {");
    put_point(writer, row->to.stream, row->to.seq);
    WIO_LINE_LITERAL(line, "}, ");
    put_class(writer, row->edge_class, row->evidence, row->object);
    WIO_LINE_LITERAL(line, ", \"implied\": ");
    wio_line_text(line, row->is_implied ? "true}\n" : "false}\n");
}

static void put_member_json(struct edges_writer *writer, const struct wio_member_row *row)
{
    struct wio_line *line = &writer->line;

    WIO_LINE_LITERAL(line, "{");
    put_point(writer, row->stream, row->enter_seq);
    WIO_LINE_LITERAL(line, ", \"leave_seq\": ");
    wio_line_u64(line, row->leave_seq);
    WIO_LINE_LITERAL(line, ", \"gives\": ");
    wio_line_text(line, row->gives ? "true" : "false");
    WIO_LINE_LITERAL(line, ", \"takes\": ");
    wio_line_text(line, row->takes ? "true}" : "false}");
}

/* "rank 3 thread 4711 operation 12" */
static void put_point_text(struct edges_writer *writer, uint32_t stream, uint64_t seq)
{
    struct wio_line *line = &writer->line;
    const struct wio_stream_info *info = wio_trace_stream(writer->trace, stream);
    const struct wio_process_info *process = wio_trace_process(writer->trace, info->process);

    if (process->rank >= 0) {
        WIO_LINE_LITERAL(line, "rank ");
        wio_line_i64(line, process->rank);
        WIO_LINE_LITERAL(line, " ");
    }
    WIO_LINE_LITERAL(line, "thread ");
    wio_line_i64(line, info->tid);
    WIO_LINE_LITERAL(line, " operation ");
    wio_line_u64(line, seq);
}

static void put_class_text(struct edges_writer *writer, unsigned edge_class, unsigned evidence,
                           uint32_t object)
{
    struct wio_line *line = &writer->line;
    const char *text = wio_edge_file_object(writer->file, object);

    wio_line_left(line, wio_edge_class_name(edge_class), 11);
    if (text[0] != '\0') {
        wio_line_left(line, wio_evidence_name(evidence), 8);
        wio_line_plain(line, text);
    } else {
        wio_line_text(line, wio_evidence_name(evidence));
    }
    wio_line_byte(line, '\n');
}

static void put_edge_text(struct edges_writer *writer, const struct wio_edge_row *row)
{
    put_point_text(writer, row->from.stream, row->from.seq);
    WIO_LINE_LITERAL(&writer->line, " -> ");
    put_point_text(writer, row->to.stream, row->to.seq);
    wio_line_text(&writer->line, row->is_implied ? "  implied  " : "  ");
    put_class_text(writer, row->edge_class, row->evidence, row->object);
}

static void report_progress(struct edges_writer *writer)
{
    const struct wio_edges_report *report = writer->report;
    struct wio_edge_info info;

    if (++writer->done % PROGRESS_EVERY == 0 && report->progress != NULL) {
        wio_edge_file_get_info(writer->file, &info);
        report->progress(report->progress_arg, writer->done, info.edges + info.members, "edges");
    }
}

static enum wio_status put_edges(struct edges_writer *writer, struct wio_error *err)
{
    WIO_CLEANUP(cursor_cleanup) struct wio_edge_cursor *cursor = NULL;
    const struct wio_edge_filter filter = {
        .struct_size = sizeof(filter), .kind = WIO_EDGES_IN, .has_implied = writer->report->is_raw};
    const struct wio_edge_row *row = NULL;
    enum wio_status status;

    WIO_TRY(wio_edge_cursor_create(writer->file, &filter, &cursor, err));
    while ((status = wio_edge_cursor_next(cursor, &row, err)) == WIO_OK) {
        if (writer->report->is_text) {
            put_edge_text(writer, row);
        } else {
            put_edge_json(writer, row);
        }
        report_progress(writer);
        if (ferror(writer->line.out)) {
            return WIO_OK;
        }
    }
    return status == WIO_END ? WIO_OK : status;
}

static void begin_collective(struct edges_writer *writer, const struct wio_member_row *row)
{
    if (writer->report->is_text) {
        WIO_LINE_LITERAL(&writer->line, "all of");
        return;
    }
    WIO_LINE_LITERAL(&writer->line, "{\"schema\": \"whyio.edges/1\", ");
    put_class(writer, WIO_EDGE_COLLECTIVE, row->evidence, row->object);
    WIO_LINE_LITERAL(&writer->line, ", \"members\": [");
}

static void put_member(struct edges_writer *writer, const struct wio_member_row *row, bool is_first)
{
    if (writer->report->is_text) {
        wio_line_text(&writer->line, is_first ? " " : ", ");
        put_point_text(writer, row->stream, row->enter_seq);
        return;
    }
    wio_line_text(&writer->line, is_first ? "" : ", ");
    put_member_json(writer, row);
}

static void end_collective(struct edges_writer *writer, const struct wio_member_row *row)
{
    if (writer->report->is_text) {
        WIO_LINE_LITERAL(&writer->line, "  ");
        put_class_text(writer, WIO_EDGE_COLLECTIVE, row->evidence, row->object);
        return;
    }
    WIO_LINE_LITERAL(&writer->line, "]}\n");
}

static enum wio_status put_collectives(struct edges_writer *writer, struct wio_error *err)
{
    WIO_CLEANUP(cursor_cleanup) struct wio_edge_cursor *cursor = NULL;
    const struct wio_edge_filter filter = {.struct_size = sizeof(filter),
                                           .kind = WIO_EDGES_COLLECTIVES};
    const struct wio_member_row *row = NULL;
    struct wio_member_row last = {0};
    bool is_open = false;
    enum wio_status status;

    WIO_TRY(wio_edge_cursor_create(writer->file, &filter, &cursor, err));
    while ((status = wio_edge_cursor_next_member(cursor, &row, err)) == WIO_OK) {
        bool is_first = !is_open || row->collective != last.collective;
        if (is_first && is_open) {
            end_collective(writer, &last);
        }
        if (is_first) {
            begin_collective(writer, row);
        }
        put_member(writer, row, is_first);
        last = *row;
        is_open = true;
        report_progress(writer);
        if (ferror(writer->line.out)) {
            return WIO_OK;
        }
    }
    if (is_open) {
        end_collective(writer, &last);
    }
    return status == WIO_END ? WIO_OK : status;
}

static void put_totals(struct wio_json *json, const char *key, const struct wio_edge_totals *totals,
                       unsigned count, const char *(*name)(unsigned), bool is_raw)
{
    wio_json_object_begin(json, key);
    for (unsigned i = 0; i < count; i++) {
        uint64_t shown = totals[i].all - (is_raw ? 0 : totals[i].implied);
        if (totals[i].all > 0) {
            wio_json_u64(json, name(i), shown);
        }
    }
    wio_json_object_end(json);
}

static uint64_t implied_of(const struct wio_edge_info *info)
{
    uint64_t implied = 0;
    for (unsigned i = 0; i < WIO_EDGE_CLASS_COUNT; i++) {
        implied += info->by_class[i].implied;
    }
    return implied;
}

static void put_summary(struct edges_writer *writer)
{
    const char *notes = wio_edge_file_notes(writer->file);
    bool is_raw = writer->report->is_raw;
    struct wio_edge_info info;
    struct wio_json json;

    wio_line_flush(&writer->line);
    wio_edge_file_get_info(writer->file, &info);
    wio_json_init(&json, writer->line.out);
    wio_json_object_begin(&json, NULL);
    wio_json_string(&json, "schema", "whyio.edges/1");
    wio_json_u64(&json, "edges", info.edges - (is_raw ? 0 : implied_of(&info)));
    wio_json_u64(&json, "implied", implied_of(&info));
    wio_json_u64(&json, "collectives", info.collectives);
    wio_json_u64(&json, "waits", info.waits);
    put_totals(&json, "by_class", info.by_class, WIO_EDGE_CLASS_COUNT, wio_edge_class_name, is_raw);
    put_totals(&json, "by_evidence", info.by_evidence, WIO_EVIDENCE_COUNT, wio_evidence_name,
               is_raw);
    wio_json_object_begin(&json, "unmatched");
    wio_json_u64(&json, "sends", info.unmatched_sends);
    wio_json_u64(&json, "receives", info.unmatched_receives);
    wio_json_u64(&json, "read_bytes", info.unmatched_read_bytes);
    wio_json_u64(&json, "collectives", info.unmatched_collectives);
    wio_json_object_end(&json);
    if (notes[0] == '\0') {
        wio_json_null(&json, "notes");
    } else {
        wio_json_string(&json, "notes", notes);
    }
    wio_json_object_end(&json);
    wio_json_line(&json);
}

static void print_totals(FILE *out, const char *what, const struct wio_edge_totals *totals,
                         unsigned count, const char *(*name)(unsigned))
{
    char all[WIO_TEXT_MAX];
    char implied[WIO_TEXT_MAX];

    for (unsigned i = 0; i < count; i++) {
        if (totals[i].all > 0) {
            fprintf(out, "%14s %14s  %s %s\n", wio_format_count(all, totals[i].all),
                    wio_format_count(implied, totals[i].implied), what, name(i));
        }
    }
}

static void print_count(FILE *out, uint64_t count, const char *one, const char *many)
{
    char text[WIO_TEXT_MAX];

    if (count > 0) {
        fprintf(out, "%14s %s\n", wio_format_count(text, count), count == 1 ? one : many);
    }
}

static void print_unmatched(FILE *out, const struct wio_edge_info *info)
{
    print_count(out, info->waits, "wait for a file to be there", "waits for a file to be there");
    print_count(out, info->unmatched_sends, "message that was not received",
                "messages that were not received");
    print_count(out, info->unmatched_receives, "message whose sender was not recorded",
                "messages whose sender was not recorded");
    print_count(out, info->unmatched_read_bytes, "byte read whose writer was not recorded",
                "bytes read whose writer was not recorded");
    print_count(out, info->unmatched_collectives, "collective with members not recorded",
                "collectives with members not recorded");
}

/* A file says it: what is no plain text does not reach a terminal. */
static void print_notes(FILE *out, const char *notes)
{
    while (*notes != '\0') {
        size_t bytes = strcspn(notes, "\n");
        char *line = strndup(notes, bytes);
        fputs("note: ", out);
        wio_print_plain(out, line != NULL ? line : "no memory");
        fputc('\n', out);
        free(line);
        notes += bytes + (notes[bytes] == '\n' ? 1 : 0);
    }
}

static void print_heading(struct edges_writer *writer, FILE *out)
{
    struct wio_edge_info info;
    char edges[WIO_TEXT_MAX];
    char implied[WIO_TEXT_MAX];
    char collectives[WIO_TEXT_MAX];

    wio_edge_file_get_info(writer->file, &info);
    wio_print_plain(out, writer->report->name);
    fprintf(out, ": %s %s, of which others imply %s, and %s %s\n",
            wio_format_count(edges, info.edges), info.edges == 1 ? "edge" : "edges",
            wio_format_count(implied, implied_of(&info)),
            wio_format_count(collectives, info.collectives),
            info.collectives == 1 ? "collective" : "collectives");
    if (info.edges + info.collectives > 0) {
        fprintf(out, "\n%14s %14s\n", "count", "implied");
        print_totals(out, "class", info.by_class, WIO_EDGE_CLASS_COUNT, wio_edge_class_name);
        print_totals(out, "evidence", info.by_evidence, WIO_EVIDENCE_COUNT, wio_evidence_name);
    }
    print_unmatched(out, &info);
    print_notes(out, wio_edge_file_notes(writer->file));
    if (info.edges + info.collectives > 0) {
        fputc('\n', out);
    }
}

enum wio_status wio_report_edges(const struct wio_trace *trace,
                                 const struct wio_edges_report *report, FILE *out,
                                 struct wio_error *err)
{
    WIO_CLEANUP(writer_fini)
    struct edges_writer writer = {.trace = trace, .file = wio_trace_edges(trace), .report = report};

    WIO_PRE(writer.file != NULL);
    if (report->is_text) {
        print_heading(&writer, out);
    }
    if (report->is_text && !report->is_raw) {
        return wio_report_waits(trace, report, out, err);
    }
    WIO_TRY(wio_line_init(&writer.line, out, err));
    WIO_TRY(put_edges(&writer, err));
    WIO_TRY(put_collectives(&writer, err));
    if (!report->is_text) {
        put_summary(&writer);
    }
    return WIO_OK;
}
