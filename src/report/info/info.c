/* SPDX-License-Identifier: Apache-2.0 */
#include "report/info/info.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/text.h"
#include "report/explanation/layouts.h"
#include "report/info/info_bound.h"
#include "report/info/info_digest.h"
#include "report/info/info_machines.h"
#include "report/info/info_ops.h"
#include "report/line.h"

#define NS_PER_S 1e9
#define RANKS_SHOWN 16u
#define REMARKS_SHOWN 8u
#define LINE_BYTES 2048u

static void put_texts(struct wio_json *json, const char *key, const char *const *texts,
                      size_t count)
{
    wio_json_array_begin(json, key);
    for (size_t i = 0; i < count; i++) {
        wio_json_string(json, NULL, texts[i]);
    }
    wio_json_array_end(json);
}

static void put_ranks(struct wio_json *json, const struct wio_summary *summary)
{
    wio_json_array_begin(json, "per_rank");
    for (size_t i = 0; i < summary->rank_count; i++) {
        const struct wio_summary_rank *rank = &summary->ranks[i];
        wio_json_object_begin(json, NULL);
        if (rank->rank >= 0) {
            wio_json_i64(json, "rank", rank->rank);
        } else {
            wio_json_null(json, "rank");
        }
        wio_json_u64(json, "processes", rank->processes);
        wio_json_u64(json, "threads", rank->threads);
        wio_json_u64(json, "events", rank->events);
        wio_json_u64(json, "dropped", rank->dropped);
        wio_json_double(json, "first_s", (double)rank->first_ns / NS_PER_S);
        wio_json_double(json, "last_s", (double)rank->last_ns / NS_PER_S);
        wio_json_object_end(json);
    }
    wio_json_array_end(json);
}

/* The lines of a text one by one; NULL behind the last. `line` is cut where it is too long. */
static const char *next_line(const char *text, char *line, size_t size)
{
    size_t bytes = strcspn(text, "\n");
    if (bytes == 0) {
        return NULL;
    }
    snprintf(line, size, "%.*s", (int)bytes, text);
    return text + bytes + (text[bytes] == '\n');
}

static void put_remarks(struct wio_json *json, const char *remarks)
{
    char line[LINE_BYTES];
    wio_json_array_begin(json, "remarks");
    while ((remarks = next_line(remarks, line, sizeof(line))) != NULL) {
        wio_json_string(json, NULL, line);
    }
    wio_json_array_end(json);
}

/* What "unseen" counts, with words. */
static void put_unseen(struct wio_json *json, const struct wio_summary *summary)
{
    wio_json_array_begin(json, "not_seen");
    for (size_t i = 0; i < summary->unseen_count; i++) {
        const struct wio_summary_unseen *unseen = &summary->unseen[i];
        wio_json_object_begin(json, NULL);
        wio_json_string(json, "kind", unseen->key);
        wio_json_u64(json, "count", unseen->count);
        wio_json_string(json, "text", unseen->text);
        wio_json_string(json, "remedy", unseen->remedy);
        wio_json_object_end(json);
    }
    wio_json_array_end(json);
}

static void put_additions(struct wio_json *json, const struct wio_summary *summary)
{
    const struct wio_trace_info *info = &summary->info;

    wio_json_u64(json, "images", info->images);
    wio_json_u64(json, "killed", summary->killed);
    wio_json_u64(json, "open", summary->open);
    wio_json_bool(json, "live", info->live);
    wio_json_object_begin(json, "unseen");
    for (size_t i = 0; i < summary->unseen_count; i++) {
        wio_json_u64(json, summary->unseen[i].key, summary->unseen[i].count);
    }
    wio_json_object_end(json);
    wio_json_string(json, "command", info->command[0] != '\0' ? info->command : NULL);
    wio_json_string(json, "version", info->version[0] != '\0' ? info->version : NULL);
    put_ranks(json, summary);
    put_remarks(json, info->remarks);
    wio_report_machines(json, summary->trace);
    wio_report_layouts_json(json, summary->trace);
    put_unseen(json, summary);
}

/* Without those that others imply; nothing where none are stored. */
static void put_totals(struct wio_json *json, const char *key, const struct wio_edge_totals *totals,
                       unsigned count, const char *(*name)(unsigned))
{
    wio_json_object_begin(json, key);
    for (unsigned i = 0; i < count; i++) {
        if (totals[i].all > 0) {
            wio_json_u64(json, name(i), totals[i].all - totals[i].implied);
        }
    }
    wio_json_object_end(json);
}

static void put_edges(struct wio_json *json, const struct wio_summary *summary)
{
    const struct wio_edge_info *edges = &summary->edges;
    wio_json_object_begin(json, "edges");
    put_totals(json, "by_class", edges->by_class, WIO_EDGE_CLASS_COUNT, wio_edge_class_name);
    put_totals(json, "by_evidence", edges->by_evidence, WIO_EVIDENCE_COUNT, wio_evidence_name);
    wio_json_object_end(json);
}

void wio_report_info_json(const struct wio_report_info *report, FILE *out)
{
    const struct wio_summary *summary = report->summary;
    const struct wio_trace_info *info = &summary->info;
    struct wio_json json;

    wio_json_init(&json, out);
    wio_json_object_begin(&json, NULL);
    wio_json_string(&json, "schema", "whyio.info/1");
    wio_json_u64(&json, "ranks", info->ranks);
    wio_json_u64(&json, "processes", info->processes);
    wio_json_u64(&json, "threads", info->threads);
    wio_json_u64(&json, "events", info->events);
    wio_json_u64(&json, "dropped", info->dropped);
    wio_report_bound_json(&json, report);
    wio_json_u64(&json, "files", info->files);
    wio_json_u64(&json, "bytes_read", info->bytes_read);
    wio_json_u64(&json, "bytes_written", info->bytes_written);
    wio_json_u64(&json, "start_unix_ns", info->start_unix_ns);
    wio_json_double(&json, "duration_s", (double)info->duration_ns / NS_PER_S);
    wio_json_bool(&json, "complete", info->complete);
    put_texts(&json, "jobs", summary->jobs, summary->job_count);
    put_texts(&json, "hosts", summary->hosts, summary->host_count);
    wio_report_ops_json(&json, report);
    put_edges(&json, summary);
    put_additions(&json, summary);
    wio_report_digest_json(&json, report);
    wio_json_object_end(&json);
    wio_json_line(&json);
}

/* "2026-11-20 16:05:12 UTC" */
static void print_start(uint64_t unix_ns, FILE *out)
{
    time_t seconds = (time_t)(unix_ns / 1000000000u);
    struct tm parts;
    char text[64];

    if (gmtime_r(&seconds, &parts) == NULL ||
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &parts) == 0) {
        return;
    }
    fprintf(out, "  started    %s\n", text);
}

static void print_list(const char *what, const char *const *texts, size_t count, FILE *out)
{
    if (count == 0) {
        return;
    }
    fprintf(out, "  %-9s ", what);
    for (size_t i = 0; i < count && i < RANKS_SHOWN; i++) {
        fputs(i > 0 ? ", " : " ", out);
        wio_print_plain(out, texts[i]);
    }
    if (count > RANKS_SHOWN) {
        fprintf(out, ", and %zu more", count - RANKS_SHOWN);
    }
    fputc('\n', out);
}

static void print_count(uint64_t count, const char *one, const char *many, FILE *out)
{
    char text[WIO_TEXT_MAX];
    fprintf(out, "%14s %s\n", wio_format_count(text, count), count == 1 ? one : many);
}

static void print_counts(const struct wio_report_info *report, FILE *out)
{
    const struct wio_summary *summary = report->summary;
    const struct wio_trace_info *info = &summary->info;
    char text[WIO_TEXT_MAX];

    print_count(info->ranks, "rank", "ranks", out);
    print_count(info->processes, "process", "processes", out);
    print_count(info->threads, "thread", "threads", out);
    print_count(info->files, "file", "files", out);
    print_count(info->events, "event", "events", out);
    if (report->digest != NULL) {
        print_count(report->digest->operations, "operation on files", "operations on files", out);
    }
    print_count(info->dropped, "event dropped", "events dropped", out);
    wio_report_bound_text(summary, out);
    fprintf(out, "%14s read\n", wio_format_size(text, info->bytes_read));
    fprintf(out, "%14s written\n", wio_format_size(text, info->bytes_written));
    fprintf(out, "%14s from start to end\n", wio_format_time(text, info->duration_ns));
}

static void print_ranks(const struct wio_summary *summary, FILE *out)
{
    size_t shown = summary->rank_count < RANKS_SHOWN ? summary->rank_count : RANKS_SHOWN;
    char events[WIO_TEXT_MAX];
    char first[WIO_TEXT_MAX];
    char last[WIO_TEXT_MAX];

    if (summary->info.ranks == 0) {
        return;
    }
    fprintf(out, "\n%14s %12s %12s %12s  rank\n", "events", "threads", "first at", "last at");
    for (size_t i = 0; i < shown; i++) {
        const struct wio_summary_rank *rank = &summary->ranks[i];
        fprintf(out, "%14s %12" PRIu32 " %12s %12s  ", wio_format_count(events, rank->events),
                rank->threads, wio_format_time(first, rank->first_ns),
                wio_format_time(last, rank->last_ns));
        if (rank->rank >= 0) {
            fprintf(out, "%" PRIi32 "\n", rank->rank);
        } else {
            fprintf(out, "none\n");
        }
    }
    if (shown < summary->rank_count) {
        fprintf(out, "%14s %zu more ranks\n", "", summary->rank_count - shown);
    }
}

/* "6 waits told by mpi" */
static void print_edges(const struct wio_summary *summary, FILE *out)
{
    char text[WIO_TEXT_MAX];
    for (unsigned i = 0; i < WIO_EVIDENCE_COUNT; i++) {
        const struct wio_edge_totals *totals = &summary->edges.by_evidence[i];
        uint64_t count = totals->all - totals->implied;
        if (count > 0) {
            fprintf(out, "%14s %s: %s\n", wio_format_count(text, count),
                    count == 1 ? "wait between threads" : "waits between threads",
                    wio_evidence_name(i));
        }
    }
}

/* And nothing else tells that of the processes. */
static bool lost_its_recorder(const struct wio_summary *summary)
{
    const struct wio_trace_info *info = &summary->info;
    bool is_told = summary->killed > 0 || summary->open > 0 || info->dropped > 0;
    return !info->ended && !info->live && !is_told;
}

static void print_gaps(const struct wio_summary *summary, FILE *out)
{
    char text[WIO_TEXT_MAX];
    if (lost_its_recorder(summary) && summary->info.command[0] == '\0') {
        fprintf(out, "%14s waited for the end of all processes (WHYIO_TRACE)\n", "no recorder");
    } else if (lost_its_recorder(summary)) {
        fprintf(out, "%14s did not see the end of all that the command started\n", "the recorder");
    }
    if (summary->killed > 0) {
        print_count(summary->killed, "process ended by a signal", "processes ended by a signal",
                    out);
    }
    if (summary->open > 0) {
        print_count(summary->open, "process whose end is not known",
                    "processes whose end is not known", out);
    }
    for (size_t i = 0; i < summary->unseen_count; i++) {
        const struct wio_summary_unseen *unseen = &summary->unseen[i];
        fprintf(out, "%14s%s %s\n", wio_format_count(text, unseen->count),
                unseen->count == 1 ? " time:" : " times:", unseen->text);
        fprintf(out, "%14s remedy: %s\n", "", unseen->remedy);
    }
}

static void print_remarks(const char *remarks, FILE *out)
{
    char line[LINE_BYTES];
    for (unsigned i = 0; (remarks = next_line(remarks, line, sizeof(line))) != NULL; i++) {
        if (i == REMARKS_SHOWN) {
            fprintf(out, "%14s more with --format=json\n", "..");
            return;
        }
        fprintf(out, "%14s ", "note:");
        wio_print_plain(out, line);
        fputc('\n', out);
    }
}

static const char *kind_of(const struct wio_trace_info *info)
{
    if (info->live) {
        return "a trace that is being recorded";
    }
    return info->complete ? "a complete trace" : "an incomplete trace";
}

void wio_report_info_text(const struct wio_report_info *report, FILE *out)
{
    const struct wio_summary *summary = report->summary;
    const struct wio_trace_info *info = &summary->info;

    wio_print_plain(out, report->name);
    fprintf(out, ": %s\n", kind_of(info));
    if (info->command[0] != '\0') {
        fputs("  command    ", out);
        wio_print_plain(out, info->command);
        fputc('\n', out);
    }
    print_start(info->start_unix_ns, out);
    print_list("hosts", summary->hosts, summary->host_count, out);
    print_list("jobs", summary->jobs, summary->job_count, out);
    fputc('\n', out);
    print_counts(report, out);
    wio_report_layouts_text(summary->trace, out);
    print_edges(summary, out);
    print_gaps(summary, out);
    print_remarks(info->remarks, out);
    wio_report_split_text(report, out);
    wio_report_ops_text(report, out);
    wio_report_top_text(report, out);
    print_ranks(summary, out);
    if (report->has_histograms) {
        wio_report_histograms_text(report, out);
    }
    if (info->events > 0) {
        fputs("\n`whyio explain` says where the time went, and why.\n", out);
    }
}
