/* SPDX-License-Identifier: Apache-2.0 */
#include "render_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/grow.h"
#include "base/json.h"
#include "base/text.h"
#include "options.h"
#include "report/line.h"

#define SECOND_NS INT64_C(1000000000)

uint32_t cmd_store_umask(void)
{
    mode_t mask = umask(0);
    (void)umask(mask);
    return (uint32_t)mask;
}

/* ---- results ------------------------------------------------------------------------------- */

static void lines_fini(struct cmd_store_line *lines, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free(lines[i].path);
        free(lines[i].message);
    }
    free(lines);
}

void cmd_store_result_fini(struct cmd_store_result *result)
{
    lines_fini(result->entries, result->entry_count);
    lines_fini(result->failures, result->failure_count);
}

enum wio_status cmd_store_entry(struct cmd_store_result *result, const char *path,
                                const struct wio_store_attr *attr, struct wio_error *err)
{
    char *copy = strdup(path);
    if (copy == NULL || wio_grow((void **)&result->entries, sizeof(*result->entries),
                                 &result->entry_room, result->entry_count + 1) != WIO_OK) {
        free(copy);
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    result->entries[result->entry_count++] = (struct cmd_store_line){.path = copy, .attr = *attr};
    return WIO_OK;
}

void cmd_store_failure(struct cmd_store_result *result, const struct wio_error *err)
{
    char *path = strdup(err->file);
    char *message = strdup(err->message);
    if (path == NULL || message == NULL ||
        wio_grow((void **)&result->failures, sizeof(*result->failures), &result->failure_room,
                 result->failure_count + 1) != WIO_OK) {
        free(path);
        free(message);
        return;
    }
    result->failures[result->failure_count++] =
        (struct cmd_store_line){.path = path, .message = message};
}

/* ---- words --------------------------------------------------------------------------------- */

static const char *type_of(uint32_t mode)
{
    return S_ISDIR(mode) ? "directory" : S_ISLNK(mode) ? "link" : "file";
}

static void mode_text(char text[11], uint32_t mode)
{
    static const char letters[] = "rwxrwxrwx";
    text[0] = S_ISDIR(mode) ? 'd' : S_ISLNK(mode) ? 'l' : '-';
    for (unsigned i = 0; i < 9; i++) {
        text[i + 1] = (mode >> (8 - i) & 1) != 0 ? letters[i] : '-';
    }
    text[10] = '\0';
}

static void time_text(char text[32], int64_t ns)
{
    time_t seconds = (time_t)(ns / SECOND_NS - (ns % SECOND_NS < 0 ? 1 : 0));
    struct tm parts;
    if (localtime_r(&seconds, &parts) == NULL ||
        strftime(text, 32, "%Y-%m-%d %H:%M:%S", &parts) == 0) {
        (void)snprintf(text, 32, "%" PRId64 " s", ns / SECOND_NS);
    }
}

/* ---- text ---------------------------------------------------------------------------------- */

static void print_entry(const struct cmd_store_line *line)
{
    char mode[11];
    char time[32];
    char size[WIO_TEXT_MAX];
    mode_text(mode, line->attr.mode);
    time_text(time, line->attr.mtime_ns);
    printf("%s %5" PRIu32 " %5" PRIu32 " %12s %s ", mode, line->attr.uid, line->attr.gid,
           wio_format_size(size, line->attr.size), time);
    wio_print_plain(stdout, line->path);
    printf("\n");
}

static void print_stat(const struct cmd_store_line *line)
{
    const struct wio_store_attr *attr = &line->attr;
    char time[32];
    char unit[WIO_TEXT_MAX];
    time_text(time, attr->mtime_ns);
    wio_print_plain(stdout, line->path);
    printf("\n    %s %" PRIu64 ", mode %04o, uid %" PRIu32 ", gid %" PRIu32 "\n",
           type_of(attr->mode), attr->file, attr->mode & 07777, attr->uid, attr->gid);
    printf("    %" PRIu64 " B, modified %s\n", attr->size, time);
    if (S_ISREG(attr->mode)) {
        printf("    %" PRIu32 " segments, stripe unit %s\n", attr->segments,
               wio_format_size(unit, attr->stripe_unit));
    }
}

static void print_space(const struct wio_store_space *space)
{
    char total[WIO_TEXT_MAX];
    char used[WIO_TEXT_MAX];
    char left[WIO_TEXT_MAX];
    printf("%" PRIu32 " targets, %s used of %s, %s free\n", space->targets,
           wio_format_size(used, space->used_bytes), wio_format_size(total, space->total_bytes),
           wio_format_size(left, space->total_bytes > space->used_bytes
                                     ? space->total_bytes - space->used_bytes
                                     : 0));
}

static void print_counts(const struct cmd_store_result *result, const char *verb)
{
    const struct wio_stage_counts *counts = &result->counts;
    char bytes[WIO_TEXT_MAX];
    char rate[WIO_TEXT_MAX];
    bool has_bytes = strcmp(verb, "put") == 0 || strcmp(verb, "get") == 0;
    printf("%" PRIu64 " files, %" PRIu64 " directories, %" PRIu64 " links", counts->files,
           counts->directories, counts->links);
    if (has_bytes) {
        printf(
            ", %s in %.2f s (%s)", wio_format_size(bytes, counts->bytes), result->time_s,
            wio_format_rate(rate, result->time_s > 0 ? (double)counts->bytes / result->time_s : 0));
    }
    if (counts->skipped > 0) {
        printf("; %" PRIu64 " were there", counts->skipped);
    }
    if (counts->failed > 0) {
        printf("; %" PRIu64 " failed", counts->failed);
    }
    printf("\n");
}

static void render_text(const struct cmd_store_result *result, const char *verb,
                        enum cmd_store_output output, bool is_quiet)
{
    for (uint32_t i = 0; i < result->entry_count; i++) {
        if (output == CMD_STORE_STATS) {
            print_stat(&result->entries[i]);
        } else {
            print_entry(&result->entries[i]);
        }
    }
    if (output == CMD_STORE_SPACE) {
        print_space(&result->space);
    } else if (output == CMD_STORE_COUNTS && !is_quiet) {
        print_counts(result, verb);
    }
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void json_entries(struct wio_json *json, const struct cmd_store_result *result)
{
    wio_json_array_begin(json, "entries");
    for (uint32_t i = 0; i < result->entry_count; i++) {
        const struct wio_store_attr *attr = &result->entries[i].attr;
        wio_json_object_begin(json, NULL);
        wio_json_string(json, "path", result->entries[i].path);
        wio_json_string(json, "type", type_of(attr->mode));
        wio_json_u64(json, "size", attr->size);
        wio_json_u64(json, "mode", attr->mode & 07777);
        wio_json_u64(json, "uid", attr->uid);
        wio_json_u64(json, "gid", attr->gid);
        wio_json_u64(json, "file", attr->file);
        wio_json_i64(json, "mtime_unix_ns", attr->mtime_ns);
        if (S_ISREG(attr->mode)) {
            wio_json_u64(json, "segments", attr->segments);
            wio_json_u64(json, "stripe_unit", attr->stripe_unit);
        } else {
            wio_json_null(json, "segments");
            wio_json_null(json, "stripe_unit");
        }
        wio_json_object_end(json);
    }
    wio_json_array_end(json);
}

static void json_failures(struct wio_json *json, const struct cmd_store_result *result)
{
    wio_json_u64(json, "failed", result->counts.failed);
    wio_json_array_begin(json, "failures");
    for (uint32_t i = 0; i < result->failure_count; i++) {
        wio_json_object_begin(json, NULL);
        wio_json_string(json, "path", result->failures[i].path);
        wio_json_string(json, "message", result->failures[i].message);
        wio_json_object_end(json);
    }
    wio_json_array_end(json);
}

static void json_space(struct wio_json *json, const struct wio_store_space *space)
{
    wio_json_u64(json, "targets", space->targets);
    wio_json_u64(json, "total_bytes", space->total_bytes);
    wio_json_u64(json, "used_bytes", space->used_bytes);
}

static void render_json(const struct cmd_store_result *result, const char *verb,
                        enum cmd_store_output output)
{
    struct wio_json json;
    wio_json_init(&json, stdout);
    wio_json_object_begin(&json, NULL);
    wio_json_string(&json, "schema", "whyio.store/1");
    wio_json_string(&json, "command", verb);
    if (output == CMD_STORE_SPACE) {
        json_space(&json, &result->space);
    } else if (output == CMD_STORE_COUNTS) {
        wio_json_u64(&json, "files", result->counts.files);
        wio_json_u64(&json, "directories", result->counts.directories);
        wio_json_u64(&json, "links", result->counts.links);
        wio_json_u64(&json, "bytes", result->counts.bytes);
        wio_json_u64(&json, "skipped", result->counts.skipped);
    } else {
        json_entries(&json, result);
    }
    json_failures(&json, result);
    wio_json_double(&json, "time_s", result->time_s);
    wio_json_object_end(&json);
    wio_json_line(&json);
}

void cmd_store_render(const struct cmd_store_result *result, const char *verb,
                      enum cmd_store_output output, bool is_json, bool is_quiet)
{
    if (is_json) {
        render_json(result, verb, output);
    } else {
        render_text(result, verb, output, is_quiet);
    }
}
