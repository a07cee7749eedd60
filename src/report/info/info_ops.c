/* SPDX-License-Identifier: Apache-2.0 */
#include "report/info/info_ops.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/histogram.h"
#include "base/text.h"
#include "ops/calls.h"

#define NS_PER_S 1e9
#define BAR 40u

/* One line of the table: an operation, or its part on pipes and the like. */
struct op_row {
    const char *name;
    const char *suffix;
    enum wio_step_kind kind;
    struct wio_op_total total;
    const struct wio_digest_op *op; /* NULL: not known */
};

struct op_rows {
    struct op_row *rows;
    size_t count;
};

/* ---- JSON ---- */

static void put_time_buckets(struct wio_json *json, const struct wio_histogram *histogram)
{
    uint64_t counts[WIO_HISTOGRAM_POWERS];
    unsigned used = wio_histogram_powers(histogram, counts);

    wio_json_array_begin(json, "histogram");
    for (unsigned i = 0; i < used; i++) {
        if (counts[i] > 0) {
            wio_json_object_begin(json, NULL);
            wio_json_double(json, "below_s", (double)(UINT64_C(1) << i) * 2 / NS_PER_S);
            wio_json_u64(json, "count", counts[i]);
            wio_json_object_end(json);
        }
    }
    wio_json_array_end(json);
}

static void put_size_buckets(struct wio_json *json, const struct wio_histogram *histogram)
{
    uint64_t counts[WIO_HISTOGRAM_POWERS];
    unsigned used = wio_histogram_powers(histogram, counts);

    wio_json_array_begin(json, "histogram");
    for (unsigned i = 0; i < used; i++) {
        if (counts[i] > 0) {
            wio_json_object_begin(json, NULL);
            wio_json_double(json, "below", (double)(UINT64_C(1) << i) * 2);
            wio_json_u64(json, "count", counts[i]);
            wio_json_object_end(json);
        }
    }
    wio_json_array_end(json);
}

static void put_latency(struct wio_json *json, const struct wio_histogram *histogram)
{
    if (histogram == NULL) {
        wio_json_null(json, "latency");
        return;
    }
    wio_json_object_begin(json, "latency");
    wio_json_u64(json, "count", histogram->count);
    wio_json_double(json, "p50_s", wio_histogram_quantile(histogram, 0.50) / NS_PER_S);
    wio_json_double(json, "p90_s", wio_histogram_quantile(histogram, 0.90) / NS_PER_S);
    wio_json_double(json, "p99_s", wio_histogram_quantile(histogram, 0.99) / NS_PER_S);
    wio_json_double(json, "max_s", (double)histogram->max / NS_PER_S);
    put_time_buckets(json, histogram);
    wio_json_object_end(json);
}

static void put_size(struct wio_json *json, const struct wio_histogram *histogram)
{
    if (histogram == NULL) {
        wio_json_null(json, "size");
        return;
    }
    wio_json_object_begin(json, "size");
    wio_json_u64(json, "count", histogram->count);
    wio_json_double(json, "p50", wio_histogram_quantile(histogram, 0.50));
    wio_json_double(json, "p90", wio_histogram_quantile(histogram, 0.90));
    wio_json_double(json, "p99", wio_histogram_quantile(histogram, 0.99));
    wio_json_u64(json, "max", histogram->max);
    put_size_buckets(json, histogram);
    wio_json_object_end(json);
}

/* Both sides of an operation as one; NULL where neither has any, or memory is short. `room` is
 * used where both have. */
static const struct wio_histogram *join(const struct wio_histogram *a,
                                        const struct wio_histogram *b, struct wio_histogram *room)
{
    if (a == NULL || b == NULL) {
        return a != NULL ? a : b;
    }
    if (room == NULL) {
        return NULL;
    }
    *room = *a;
    wio_histogram_merge(room, b);
    return room;
}

static void put_channel(struct wio_json *json, const struct wio_digest_op *op)
{
    wio_json_object_begin(json, "channel");
    wio_json_u64(json, "count", op->sums.count);
    wio_json_u64(json, "bytes", op->sums.bytes_read + op->sums.bytes_written);
    wio_json_double(json, "time_s", (double)op->sums.time_ns / NS_PER_S);
    wio_json_u64(json, "errors", op->sums.errors);
    wio_json_object_end(json);
}

static void put_samples(struct wio_json *json, const struct wio_report_info *info, unsigned op)
{
    const struct wio_digest *digest = info->digest;
    struct wio_histogram *room = NULL;

    if (digest == NULL) {
        wio_json_null(json, "latency");
        wio_json_null(json, "size");
        wio_json_null(json, "channel");
        return;
    }
    const struct wio_digest_op *files = &digest->ops[WIO_DIGEST_FILES][op];
    const struct wio_digest_op *channels = &digest->ops[WIO_DIGEST_CHANNELS][op];
    if (files->sums.count > 0 && channels->sums.count > 0) {
        room = malloc(sizeof(*room));
    }
    put_latency(json, join(files->time, channels->time, room));
    put_size(json, join(files->size, channels->size, room));
    put_channel(json, channels);
    free(room);
}

static const char *kind_name(enum wio_step_kind kind)
{
    return kind == WIO_STEP_IO ? "io" : kind == WIO_STEP_WAIT ? "wait" : "other";
}

void wio_report_ops_json(struct wio_json *json, const struct wio_report_info *info)
{
    const struct wio_summary *summary = info->summary;

    wio_json_object_begin(json, "ops");
    for (size_t i = 0; i < summary->op_count; i++) {
        const struct wio_summary_op *op = &summary->ops[i];
        wio_json_object_begin(json, op->name);
        wio_json_u64(json, "count", op->total.count);
        wio_json_u64(json, "bytes", op->total.bytes);
        wio_json_double(json, "time_s", (double)op->total.time_ns / NS_PER_S);
        wio_json_u64(json, "errors", op->total.errors);
        wio_json_string(json, "kind", kind_name(wio_step_kind_of(op->op, false)));
        put_samples(json, info, op->op);
        wio_json_object_end(json);
    }
    wio_json_object_end(json);
}

/* ---- text ---- */

static void add_side(struct op_rows *rows, const struct wio_summary_op *op,
                     const struct wio_digest_op *side, bool is_channel)
{
    const struct wio_digest_sums *sums = &side->sums;

    if (sums->count > 0) {
        rows->rows[rows->count++] = (struct op_row){
            .name = op->name,
            .suffix = is_channel ? " (pipe, socket)" : "",
            .kind = wio_step_kind_of(op->op, is_channel),
            .total = {sums->count, sums->bytes_read + sums->bytes_written, sums->time_ns,
                      sums->errors},
            .op = side,
        };
    }
}

static int by_kind_and_time(const void *a, const void *b)
{
    static const unsigned char order[WIO_STEP_KINDS] = {
        [WIO_STEP_WAIT] = 1, [WIO_STEP_COMPUTE] = 2};
    const struct op_row *left = a;
    const struct op_row *right = b;

    if (left->kind != right->kind) {
        return order[left->kind] < order[right->kind] ? -1 : 1;
    }
    if (left->total.time_ns != right->total.time_ns) {
        return left->total.time_ns < right->total.time_ns ? 1 : -1;
    }
    return (left->total.count < right->total.count) - (left->total.count > right->total.count);
}

/* False: no memory. */
static bool make_rows(const struct wio_report_info *info, struct op_rows *rows)
{
    const struct wio_summary *summary = info->summary;

    *rows = (struct op_rows){calloc(2 * summary->op_count + 1, sizeof(*rows->rows)), 0};
    if (rows->rows == NULL) {
        return false;
    }
    for (size_t i = 0; i < summary->op_count; i++) {
        const struct wio_summary_op *op = &summary->ops[i];
        if (info->digest != NULL) {
            add_side(rows, op, &info->digest->ops[WIO_DIGEST_FILES][op->op], false);
            add_side(rows, op, &info->digest->ops[WIO_DIGEST_CHANNELS][op->op], true);
        } else {
            rows->rows[rows->count++] =
                (struct op_row){op->name, "", wio_step_kind_of(op->op, false), op->total, NULL};
        }
    }
    if (rows->count > 1) {
        qsort(rows->rows, rows->count, sizeof(*rows->rows), by_kind_and_time);
    }
    return true;
}

static const char *quantile_text(char *text, const struct wio_digest_op *op, double share)
{
    if (op == NULL || op->time == NULL) {
        return "-";
    }
    return wio_format_time(text, share < 1 ? (uint64_t)wio_histogram_quantile(op->time, share)
                                           : op->time->max);
}

static void print_row(const struct op_row *row, FILE *out)
{
    char text[7][WIO_TEXT_MAX];

    (void)fprintf(
        out, "%11s %9s %8s %8s %8s %8s %7s  %s%s\n", wio_format_count(text[0], row->total.count),
        row->total.bytes > 0 ? wio_format_size(text[1], row->total.bytes) : "-",
        wio_format_time(text[2], row->total.time_ns), quantile_text(text[3], row->op, 0.5),
        quantile_text(text[4], row->op, 0.99), quantile_text(text[5], row->op, 1),
        wio_format_count(text[6], row->total.errors), row->name, row->suffix);
}

/* The longest of a kind, as many as the report has rows; one line for the others. */
static void print_kind(const struct op_rows *rows, enum wio_step_kind kind, uint32_t most,
                       const char *heading, FILE *out)
{
    char text[2][WIO_TEXT_MAX];
    uint64_t left_ns = 0;
    uint32_t left = 0;
    uint32_t shown = 0;

    for (size_t i = 0; i < rows->count; i++) {
        if (rows->rows[i].kind == kind && shown < most) {
            (void)fputs(shown == 0 ? heading : "", out);
            print_row(&rows->rows[i], out);
            shown++;
        } else if (rows->rows[i].kind == kind) {
            left_ns += rows->rows[i].total.time_ns;
            left++;
        }
    }
    if (left > 0) {
        (void)fprintf(out, "%11s more operation%s, %s (--top=N)\n", wio_format_count(text[0], left),
                      left == 1 ? "" : "s", wio_format_time(text[1], left_ns));
    }
}

void wio_report_ops_text(const struct wio_report_info *info, FILE *out)
{
    struct op_rows rows;

    if (info->summary->op_count == 0) {
        return;
    }
    (void)fprintf(out, "\n%11s %9s %8s %8s %8s %8s %7s  operation\n", "count", "bytes", "time",
                  "p50", "p99", "max", "errors");
    if (!make_rows(info, &rows)) {
        (void)fputs("              (no memory to list them)\n", out);
        return;
    }
    print_kind(&rows, WIO_STEP_IO, info->rows, "", out);
    print_kind(&rows, WIO_STEP_WAIT, info->rows, "  waiting:\n", out);
    print_kind(&rows, WIO_STEP_COMPUTE, info->rows, "  processes and threads:\n", out);
    free(rows.rows);
}

/* ---- histograms ---- */

/* The least value of a power of two. */
static const char *bound_text(char *text, unsigned power, bool is_time)
{
    uint64_t from = power > 0 ? UINT64_C(1) << power : 0;

    return is_time ? wio_format_time(text, from) : wio_format_size(text, from);
}

static void print_bars(const struct wio_histogram *histogram, bool is_time, FILE *out)
{
    uint64_t counts[WIO_HISTOGRAM_POWERS];
    unsigned used = wio_histogram_powers(histogram, counts);
    unsigned first = 0;
    uint64_t most = 0;

    for (unsigned i = used; i-- > 0;) {
        most = counts[i] > most ? counts[i] : most;
        first = counts[i] > 0 ? i : first;
    }
    for (unsigned i = first; i < used; i++) {
        char bound[WIO_TEXT_MAX];
        char count[WIO_TEXT_MAX];
        unsigned bar = most > 0 ? (unsigned)((double)counts[i] * BAR / (double)most + 0.5) : 0;
        (void)fprintf(out, "     from %10s %14s ", bound_text(bound, i, is_time),
                      wio_format_count(count, counts[i]));
        for (unsigned k = 0; k < bar || (k == 0 && counts[i] > 0); k++) {
            (void)fputs(k == 0 ? " #" : "#", out);
        }
        (void)fputc('\n', out);
    }
}

static void print_histogram(const struct op_row *row, const struct wio_histogram *histogram,
                            bool is_time, FILE *out)
{
    char text[4][WIO_TEXT_MAX];
    static const double shares[] = {0.5, 0.9, 0.99};

    if (histogram == NULL) {
        return;
    }
    for (unsigned i = 0; i < 3; i++) {
        uint64_t value = (uint64_t)wio_histogram_quantile(histogram, shares[i]);
        (void)(is_time ? wio_format_time(text[i], value) : wio_format_size(text[i], value));
    }
    (void)(is_time ? wio_format_time(text[3], histogram->max)
                   : wio_format_size(text[3], histogram->max));
    (void)fprintf(out, "\n%s%s, %s: p50 %s, p90 %s, p99 %s, max %s\n", row->name, row->suffix,
                  is_time ? "time" : "size", text[0], text[1], text[2], text[3]);
    print_bars(histogram, is_time, out);
}

void wio_report_histograms_text(const struct wio_report_info *info, FILE *out)
{
    struct op_rows rows;

    if (info->digest == NULL || !make_rows(info, &rows)) {
        return;
    }
    for (size_t i = 0; i < rows.count; i++) {
        print_histogram(&rows.rows[i], rows.rows[i].op->time, true, out);
        print_histogram(&rows.rows[i], rows.rows[i].op->size, false, out);
    }
    free(rows.rows);
}
