/* SPDX-License-Identifier: Apache-2.0 */
#include "report/compare/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "report/line.h"

/* Numbers before words: seven columns of numbers (71 characters), then the name. */

static void print_heading(const char *what, FILE *out)
{
    fprintf(out, "\n%9s %9s %10s %10s %9s %9s %7s  %s\n", "count a", "count b", "bytes a",
            "bytes b", "time a", "time b", "b / a", what);
}

static char *format_ratio(char *text, double ratio)
{
    if (isnan(ratio)) {
        snprintf(text, WIO_TEXT_MAX, "-");
    } else if (ratio < 99.95) {
        snprintf(text, WIO_TEXT_MAX, "%.2fx", ratio);
    } else {
        snprintf(text, WIO_TEXT_MAX, "%.0fx", ratio);
    }
    return text;
}

/* Big counts would break the columns: "12.3 M". */
static char *format_count(char *text, uint64_t count)
{
    if (count < 1000000) {
        return wio_format_count(text, count);
    }
    if (count < 1000000000) {
        snprintf(text, WIO_TEXT_MAX, "%.1f M", (double)count / 1e6);
    } else {
        snprintf(text, WIO_TEXT_MAX, "%.1f G", (double)count / 1e9);
    }
    return text;
}

/* What is not there is a dash. `text` takes the number. */
static const char *format_bytes(char *text, uint64_t bytes)
{
    return bytes > 0 ? wio_format_size(text, bytes) : "-";
}

static const char *format_time(char *text, const struct wio_tally *tally)
{
    return tally->count > 0 ? wio_format_time(text, tally->time_ns) : "-";
}

static void print_pair(const struct wio_tally *a, const struct wio_tally *b, FILE *out)
{
    char text[7][WIO_TEXT_MAX];
    bool is_in_both = a->count > 0 && b->count > 0;
    double ratio = is_in_both ? wio_compare_ratio(a->time_ns, b->time_ns) : (double)NAN;

    fprintf(out, "%9s %9s %10s %10s %9s %9s %7s  ", format_count(text[0], a->count),
            format_count(text[1], b->count), format_bytes(text[2], a->bytes),
            format_bytes(text[3], b->bytes), format_time(text[4], a), format_time(text[5], b),
            format_ratio(text[6], ratio));
}

static void print_table(const struct wio_comparison *comparison, enum wio_compare_table table,
                        const char *what, size_t top, FILE *out)
{
    const struct wio_compare_row *rows;
    size_t count = wio_compare_rows(comparison, table, &rows);
    size_t shown = top > 0 && top < count ? top : count;

    if (count == 0 || (table == WIO_COMPARE_RANKS && count == 1 && rows[0].rank < 0)) {
        return; /* no ranks: the total says the same */
    }
    print_heading(what, out);
    for (size_t i = 0; i < shown; i++) {
        print_pair(&rows[i].a, &rows[i].b, out);
        if (table != WIO_COMPARE_RANKS) {
            wio_print_plain(out, rows[i].name);
            fputc('\n', out);
        } else if (rows[i].rank >= 0) {
            fprintf(out, "%" PRIi32 "\n", rows[i].rank);
        } else {
            fprintf(out, "none\n");
        }
    }
    if (shown < count) {
        fprintf(out, "%71s and %zu more\n", "", count - shown);
    }
}

static void print_phase(const struct wio_compare_phase *phase, size_t number, FILE *out)
{
    static const struct wio_tally none = {0};

    print_pair(phase->a != NULL ? &phase->a->tally : &none,
               phase->b != NULL ? &phase->b->tally : &none, out);
    fprintf(out, "%zu %s", number, wio_phase_kind_name(phase->kind));
    if (phase->file[0] != '\0') {
        const char *slash = strrchr(phase->file, '/');
        fputc(' ', out);
        wio_print_plain(out, slash != NULL ? slash + 1 : phase->file);
    } else if (phase->is_several) {
        fprintf(out, ", several files");
    }
    fputc('\n', out);
}

static void print_phases(const struct wio_comparison *comparison, FILE *out)
{
    const struct wio_compare_phase *phases;
    size_t count = wio_compare_phases(comparison, &phases);

    if (count == 0) {
        return;
    }
    print_heading("phase", out);
    for (size_t i = 0; i < count; i++) {
        print_phase(&phases[i], i + 1, out);
    }
}

void wio_report_compare_text(const struct wio_comparison *comparison,
                             const struct wio_compare_names *names, FILE *out)
{
    struct wio_compare_total total;
    char a[WIO_TEXT_MAX];
    char b[WIO_TEXT_MAX];
    char ratio[WIO_TEXT_MAX];

    wio_compare_get_total(comparison, &total);
    fprintf(out, "a: ");
    wio_print_plain(out, names->a);
    fprintf(out, "\nb: ");
    wio_print_plain(out, names->b);
    fputc('\n', out);
    fprintf(out, "run time: %s in a, %s in b, %s\n", wio_format_time(a, total.a_duration_ns),
            wio_format_time(b, total.b_duration_ns),
            format_ratio(ratio, wio_compare_ratio(total.a_duration_ns, total.b_duration_ns)));
    if (names->causes != NULL) {
        wio_report_causes_text(names->causes, names->top, out);
    }
    if (names->transactions != NULL) {
        wio_report_txn_runs_text(names->transactions, names->top, out);
    }
    print_heading("total of file I/O", out);
    print_pair(&total.a, &total.b, out);
    fprintf(out, "all\n");
    print_table(comparison, WIO_COMPARE_OPS, "operation", names->top, out);
    print_table(comparison, WIO_COMPARE_FILES, "file", names->top, out);
    print_table(comparison, WIO_COMPARE_RANKS, "rank", names->top, out);
    print_phases(comparison, out);
}
