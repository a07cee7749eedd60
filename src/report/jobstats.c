/* SPDX-License-Identifier: Apache-2.0 */
#include "report/jobstats.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/text.h"
#include "report/line.h"

#define NS_PER_S 1e9
#define NS_PER_US 1000u
#define TWO_TO_64 18446744073709551616.0

/* ---- JSON ---- */

static void put_counter_json(struct wio_json *json, unsigned op,
                             const struct wio_job_counter *counter)
{
    const double squares = (double)counter->squares[1] * TWO_TO_64 + (double)counter->squares[0];
    wio_json_object_begin(json, wio_job_op_name(op));
    wio_json_u64(json, "samples", counter->samples);
    wio_json_string(json, "unit", wio_job_op_unit(op));
    wio_json_u64(json, "min", counter->least);
    wio_json_u64(json, "max", counter->greatest);
    wio_json_u64(json, "sum", counter->sum);
    wio_json_double(json, "sumsq", squares);
    wio_json_array_begin(json, "hist");
    for (unsigned i = 0; i < counter->bucket_count; i++) {
        if (counter->buckets[i] != 0) {
            wio_json_object_begin(json, NULL);
            wio_json_u64(json, "at_most", wio_job_bucket_most(counter->bucket_first + i));
            wio_json_u64(json, "samples", counter->buckets[i]);
            wio_json_object_end(json);
        }
    }
    wio_json_array_end(json);
    wio_json_object_end(json);
}

static void put_job_json(struct wio_json *json, const struct wio_job_accounts *accounts,
                         const struct wio_job_row *row)
{
    size_t bytes;
    const char *name = wio_job_names_text(accounts->names, row->job, &bytes);
    wio_json_object_begin(json, NULL);
    if (bytes > 0) {
        wio_json_text(json, "job_id", name, bytes);
    } else {
        wio_json_null(json, "job_id");
    }
    wio_json_u64(json, "snapshot_unix_ns", row->last_ns);
    wio_json_u64(json, "start_unix_ns", row->first_ns);
    wio_json_double(json, "elapsed_s", (double)(row->last_ns - row->first_ns) / NS_PER_S);
    wio_json_u64(json, "errors", wio_job_accounts_errors(accounts, row->job));
    wio_json_object_begin(json, "ops");
    for (unsigned op = 0; op < WIO_JOB_OP_COUNT; op++) {
        const struct wio_job_counter *counter = wio_job_stats_counter(accounts->stats, row, op);
        if (counter != NULL) {
            put_counter_json(json, op, counter);
        }
    }
    wio_json_object_end(json);
    wio_json_object_end(json);
}

static void report_json(const struct wio_job_accounts *accounts,
                        const struct wio_job_output *output, FILE *out)
{
    struct wio_json json;
    const struct wio_job_row *row;
    wio_json_init(&json, out);
    wio_json_object_begin(&json, NULL);
    wio_json_string(&json, "schema", "whyio.jobstats/1");
    wio_json_u64(&json, "jobs_total", wio_job_stats_count(accounts->stats));
    wio_json_array_begin(&json, "jobs");
    for (size_t i = 0; (row = wio_job_output_row(output, i)) != NULL; i++) {
        put_job_json(&json, accounts, row);
    }
    wio_json_array_end(&json);
    wio_json_object_end(&json);
    wio_json_line(&json);
}

/* ---- text ---- */

struct totals {
    uint64_t read;
    uint64_t written;
    uint64_t data; /* samples */
    uint64_t metadata;
    uint64_t time_us;
};

static struct totals totals_of(const struct wio_job_stats *stats, const struct wio_job_row *row)
{
    struct totals totals = {0};
    for (unsigned op = 0; op < WIO_JOB_OP_COUNT; op++) {
        const struct wio_job_counter *counter = wio_job_stats_counter(stats, row, op);
        if (counter == NULL || op == WIO_JOB_OP_SAMEDIR_RENAME ||
            op == WIO_JOB_OP_CROSSDIR_RENAME) { /* renames once more */
            continue;
        }
        if (op == WIO_JOB_OP_READ_BYTES) {
            totals.read = counter->sum;
        } else if (op == WIO_JOB_OP_WRITE_BYTES) {
            totals.written = counter->sum;
        } else {
            const bool is_data = op == WIO_JOB_OP_READ || op == WIO_JOB_OP_WRITE;
            *(is_data ? &totals.data : &totals.metadata) += counter->samples;
            totals.time_us += counter->sum;
        }
    }
    return totals;
}

static void print_job(const struct wio_job_accounts *accounts, const struct wio_job_row *row,
                      FILE *out)
{
    const struct totals totals = totals_of(accounts->stats, row);
    const char *name = wio_job_names_text(accounts->names, row->job, NULL);
    char text[7][WIO_TEXT_MAX];
    fprintf(out, "%10s %10s %10s %10s %8s %9s %9s  ", wio_format_size(text[0], totals.read),
            wio_format_size(text[1], totals.written), wio_format_count(text[2], totals.data),
            wio_format_count(text[3], totals.metadata),
            wio_format_count(text[4], wio_job_accounts_errors(accounts, row->job)),
            wio_format_time(text[5], totals.time_us * NS_PER_US),
            wio_format_time(text[6], row->last_ns - row->first_ns));
    wio_print_plain(out, name[0] != '\0' ? name : "(no job)");
    fputc('\n', out);
}

static void report_text(const struct wio_job_accounts *accounts,
                        const struct wio_job_output *output, FILE *out)
{
    const struct wio_job_row *row;
    fprintf(out, "%10s %10s %10s %10s %8s %9s %9s  %s\n", "read", "written", "transfers",
            "metadata", "errors", "I/O time", "elapsed", "job");
    for (size_t i = 0; (row = wio_job_output_row(output, i)) != NULL; i++) {
        print_job(accounts, row, out);
    }
}

/* ---- all ---- */

static void put_text(void *context, const char *text, size_t bytes)
{
    /* a failure stays in the stream */
    (void)!fwrite(text, 1, bytes, context);
}

static void report(const struct wio_job_accounts *accounts, const struct wio_job_output *output,
                   enum wio_report_jobstats_format format, FILE *out)
{
    const struct wio_job_sink sink = {put_text, out};
    switch (format) {
    case WIO_JOBSTATS_JSON:
        report_json(accounts, output, out);
        break;
    case WIO_JOBSTATS_TEXT:
        report_text(accounts, output, out);
        break;
    case WIO_JOBSTATS_PROMETHEUS:
        wio_job_stats_prometheus(output, &sink);
        break;
    case WIO_JOBSTATS_YAML:
    default:
        wio_job_stats_yaml(output, &sink);
        break;
    }
}

enum wio_status wio_report_jobstats(const struct wio_job_accounts *accounts,
                                    enum wio_report_jobstats_format format, size_t top, bool is_all,
                                    FILE *out, struct wio_error *err)
{
    const size_t count = wio_job_stats_count(accounts->stats);
    const struct wio_job_row **rows = NULL;
    struct wio_job_output output = {
        .stats = accounts->stats, .names = accounts->names, .is_all = is_all};
    if (top > 0) {
        output.row_count = top < count ? top : count;
        rows = calloc(output.row_count + 1, sizeof(struct wio_job_row *));
        if (rows == NULL) {
            return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                                 "no memory to sort jobs");
        }
        output.row_count = wio_job_stats_top(accounts->stats, rows, output.row_count);
        output.rows = rows;
    }
    report(accounts, &output, format, out);
    free(rows);
    return WIO_OK;
}
