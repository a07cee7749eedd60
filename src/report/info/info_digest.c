/* SPDX-License-Identifier: Apache-2.0 */
#include "report/info/info_digest.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "report/explanation/explain.h"
#include "report/line.h"

/* In the order in which they are shown. */
static const struct {
    enum wio_step_kind kind;
    const char *key;
    const char *words;
} kinds[] = {
    {WIO_STEP_IO, "io_s", "I/O"},
    {WIO_STEP_WAIT, "wait_s", "waiting"},
    {WIO_STEP_COMPUTE, "compute_s", "computing"},
    {WIO_STEP_CPU_WAIT, "cpu_wait_s", "waiting for a processor"},
    {WIO_STEP_SLEPT, "slept_s", "standing between operations"},
};

/* ---- JSON ---- */

static void put_split(struct wio_json *json, const struct wio_digest *digest)
{
    wio_json_object_begin(json, "time");
    wio_json_double(json, "threads_s", (double)digest->threads_ns / 1e9);
    for (size_t i = 0; i < WIO_ARRAY_SIZE(kinds); i++) {
        wio_json_double(json, kinds[i].key, (double)digest->time_ns[kinds[i].kind] / 1e9);
    }
    wio_json_object_end(json);
}

static void put_sums(struct wio_json *json, const struct wio_digest_sums *sums)
{
    wio_json_u64(json, "count", sums->count);
    wio_json_u64(json, "bytes_read", sums->bytes_read);
    wio_json_u64(json, "bytes_written", sums->bytes_written);
    wio_json_double(json, "time_s", (double)sums->time_ns / 1e9);
    wio_json_u64(json, "errors", sums->errors);
}

static void put_files(struct wio_json *json, const struct wio_digest *digest)
{
    wio_json_array_begin(json, "top_files");
    for (uint32_t i = 0; i < digest->file_count; i++) {
        size_t bytes = 0;
        const char *path = wio_trace_string(digest->trace, digest->files[i].path, &bytes);
        wio_json_object_begin(json, NULL);
        wio_json_text(json, "path", path, bytes);
        put_sums(json, &digest->files[i].sums);
        wio_json_object_end(json);
    }
    wio_json_array_end(json);
}

static void put_lines(struct wio_json *json, const struct wio_report_info *info)
{
    const struct wio_digest *digest = info->digest;

    wio_json_array_begin(json, "top_lines");
    for (uint32_t i = 0; i < digest->line_count; i++) {
        const struct wio_digest_line *line = &digest->lines[i];
        struct wio_report_place place;
        wio_report_place_of(digest->trace, info->sources, line->source, line->frame, &place);
        wio_json_object_begin(json, NULL);
        wio_json_known(json, "function", place.function);
        wio_json_known(json, "file", place.file);
        if (place.file[0] != '\0') {
            wio_json_u64(json, "line", place.line);
        } else {
            wio_json_null(json, "line");
        }
        wio_json_known(json, "library", place.library);
        put_sums(json, &line->sums);
        wio_json_object_end(json);
    }
    wio_json_array_end(json);
}

void wio_report_digest_json(struct wio_json *json, const struct wio_report_info *info)
{
    if (info->digest == NULL) {
        wio_json_null(json, "operations");
        wio_json_null(json, "time");
        wio_json_null(json, "top_files");
        wio_json_null(json, "top_lines");
        return;
    }
    wio_json_u64(json, "operations", info->digest->operations);
    put_split(json, info->digest);
    put_files(json, info->digest);
    put_lines(json, info);
}

/* ---- text ---- */

void wio_report_split_text(const struct wio_report_info *info, FILE *out)
{
    const struct wio_digest *digest = info->digest;
    char text[WIO_TEXT_MAX];

    if (digest == NULL || digest->threads_ns == 0) {
        return;
    }
    if (digest->threads == 1) {
        (void)fprintf(out, "\n%14s of the thread, from its first event to its last:\n",
                      wio_format_time(text, digest->threads_ns));
    } else {
        (void)fprintf(out, "\n%14s of %u threads, each from its first event to its last:\n",
                      wio_format_time(text, digest->threads_ns), digest->threads);
    }
    for (size_t i = 0; i < WIO_ARRAY_SIZE(kinds); i++) {
        uint64_t ns = digest->time_ns[kinds[i].kind];
        double percent = 100 * (double)ns / (double)digest->threads_ns;
        if (ns > 0 || kinds[i].kind == WIO_STEP_IO || kinds[i].kind == WIO_STEP_COMPUTE) {
            (void)fprintf(out, "%14s %3.0f %%  %s\n", wio_format_time(text, ns), percent,
                          kinds[i].words);
        }
    }
}

static void print_heading(const char *what, FILE *out)
{
    (void)fprintf(out, "\n%11s %9s %9s %8s %7s  %s\n", "count", "read", "written", "time", "errors",
                  what);
}

static void print_sums(const struct wio_digest_sums *sums, FILE *out)
{
    char text[5][WIO_TEXT_MAX];

    (void)fprintf(out, "%11s %9s %9s %8s %7s  ", wio_format_count(text[0], sums->count),
                  sums->bytes_read > 0 ? wio_format_size(text[1], sums->bytes_read) : "-",
                  sums->bytes_written > 0 ? wio_format_size(text[2], sums->bytes_written) : "-",
                  wio_format_time(text[3], sums->time_ns), wio_format_count(text[4], sums->errors));
}

static void print_more(uint32_t shown, uint32_t seen, const char *what, FILE *out)
{
    char text[WIO_TEXT_MAX];

    if (seen > shown) {
        (void)fprintf(out, "%11s more %s%s (--top=N)\n", wio_format_count(text, seen - shown), what,
                      seen - shown == 1 ? "" : "s");
    }
}

static void print_line(const struct wio_report_info *info, const struct wio_digest_line *line,
                       FILE *out)
{
    struct wio_report_place place;

    wio_report_place_of(info->digest->trace, info->sources, line->source, line->frame, &place);
    print_sums(&line->sums, out);
    if (place.file[0] != '\0') {
        wio_print_plain(out, place.file);
        (void)fprintf(out, ":%u  ", place.line);
    }
    wio_print_plain(out, place.function);
    (void)fputc('\n', out);
}

void wio_report_top_text(const struct wio_report_info *info, FILE *out)
{
    const struct wio_digest *digest = info->digest;

    if (digest == NULL) {
        return;
    }
    if (digest->file_count > 0) {
        print_heading("file", out);
    }
    for (uint32_t i = 0; i < digest->file_count; i++) {
        print_sums(&digest->files[i].sums, out);
        wio_print_plain(out, wio_trace_string(digest->trace, digest->files[i].path, NULL));
        (void)fputc('\n', out);
    }
    print_more(digest->file_count, digest->files_seen, "file", out);
    if (digest->line_count > 0) {
        print_heading("line of the program", out);
    }
    for (uint32_t i = 0; i < digest->line_count; i++) {
        print_line(info, &digest->lines[i], out);
    }
    print_more(digest->line_count, digest->lines_seen, "line", out);
}
