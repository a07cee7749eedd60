/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/explanation/explain.h"
#include "report/line.h"
#include "report/transactions/transactions.h"

#define INDENT "                     "
#define MUCH_IO_PERCENT 10

struct explanation_text {
    const struct wio_explanation *explanation;
    const struct wio_report_explain *how;
    FILE *out;
};

static double percent(const struct explanation_text *writer, double seconds)
{
    double duration = (double)writer->explanation->duration_ns / 1e9;

    return duration > 0 ? 100 * seconds / duration : 0;
}

/* ---- the answer ---- */

static void put_run(const struct explanation_text *writer)
{
    const struct wio_explanation *explanation = writer->explanation;
    char time[WIO_TEXT_MAX];

    wio_print_plain(writer->out, writer->how->dir);
    (void)fprintf(writer->out, ": %s ", wio_format_time(time, explanation->duration_ns));
    if (explanation->info.ranks > 0) {
        (void)fprintf(writer->out, "on %u rank%s.", explanation->info.ranks,
                      explanation->info.ranks == 1 ? "" : "s");
    } else {
        (void)fprintf(writer->out, "in %u process%s, %u thread%s.", explanation->info.processes,
                      explanation->info.processes == 1 ? "" : "es", explanation->info.threads,
                      explanation->info.threads == 1 ? "" : "s");
    }
    if (explanation->duration_ns == 0) {
        (void)fputc('\n', writer->out);
        return;
    }
    (void)fprintf(
        writer->out,
        " %.0f %% of the critical path is I/O, %.0f %% computing, %.0f %% waiting that no "
        "I/O caused",
        percent(writer, wio_explanation_seconds(explanation, WIO_STEP_IO)),
        percent(writer, wio_explanation_seconds(explanation, WIO_STEP_COMPUTE)),
        percent(writer, wio_explanation_seconds(explanation, WIO_STEP_WAIT)));
    double cpu_wait = percent(writer, wio_explanation_seconds(explanation, WIO_STEP_CPU_WAIT));
    if (cpu_wait >= 0.5) {
        (void)fprintf(writer->out, ", %.0f %% waiting for a processor", cpu_wait);
    }
    (void)fputs(".\n", writer->out);
}

static void put_no_events(const struct explanation_text *writer)
{
    const struct wio_txn_findings *lost = wio_report_lost(writer->how);
    char time[WIO_TEXT_MAX];

    wio_print_plain(writer->out, writer->how->dir);
    if (lost == NULL) {
        (void)fputs(": no events.\n", writer->out);
        return;
    }
    (void)fprintf(writer->out, ": %s of transactions of a store, and no recorded program.\n",
                  wio_format_time(time, (uint64_t)(lost->duration_s * 1e9)));
}

/* ---- findings ---- */

/* "rank 2 alone", "ranks 0-3, 7" */
static void put_ranks(const struct explanation_text *writer, const struct wio_finding *finding)
{
    const struct wio_rank_set *ranks = &finding->ranks;
    const char *between = "";
    unsigned shown = 0;

    if (ranks->count == 0) {
        return;
    }
    (void)fprintf(writer->out, "  rank%s ", ranks->count == 1 ? "" : "s");
    for (int32_t first = 0; (first = wio_rank_set_next(ranks, first)) >= 0 && shown < 8; shown++) {
        int32_t last = first;
        while (wio_rank_set_has(ranks, last + 1)) {
            last++;
        }
        (void)fprintf(writer->out, "%s%" PRId32, between, first);
        if (last > first) {
            (void)fprintf(writer->out, "-%" PRId32, last);
        }
        between = ", ";
        first = last + 1;
    }
    (void)fputs(shown == 8 ? " .." : "", writer->out);
    (void)fputs(finding->is_alone ? " alone" : "", writer->out);
}

/* False: there is none. */
static bool put_place(const struct explanation_text *writer, uint32_t step)
{
    struct wio_report_place place;

    wio_report_place(writer->explanation, writer->how->sources, step, &place);
    if (place.file[0] != '\0') {
        (void)fputs("  ", writer->out);
        wio_print_plain(writer->out, place.file);
        (void)fprintf(writer->out, ":%u", place.line);
    }
    if (place.function[0] != '\0') {
        (void)fputs("  ", writer->out);
        wio_print_plain(writer->out, place.function);
    }
    return place.file[0] != '\0' || place.function[0] != '\0';
}

/* The line, or the program where none is known. */
static void put_line_or_program(const struct explanation_text *writer, uint32_t step, bool has_line)
{
    const char *program = wio_report_program(writer->explanation, step);

    if ((!has_line || !put_place(writer, step)) && program[0] != '\0') {
        (void)fputs(" in ", writer->out);
        wio_print_plain(writer->out, program);
    }
}

/* The library that the program's line has called. */
static void put_library(const struct explanation_text *writer, uint32_t step)
{
    struct wio_report_place place;

    wio_report_place(writer->explanation, writer->how->sources, step, &place);
    if (place.library[0] != '\0') {
        (void)fputs(INDENT "by ", writer->out);
        wio_print_plain(writer->out, place.library);
        (void)fputs(": ", writer->out);
        wio_print_plain(writer->out, place.called);
        (void)fputc('\n', writer->out);
    }
}

static void put_finding(const struct explanation_text *writer, uint32_t at, unsigned number)
{
    const struct wio_finding *finding = &writer->explanation->findings.items[at];
    const char *path = wio_report_path(writer->explanation, finding->path);
    char time[WIO_TEXT_MAX];
    char wait[WIO_TEXT_MAX];

    (void)fprintf(writer->out, "%2u  %8s (%2.0f %%)  %-44s", number,
                  wio_format_time(time, (uint64_t)(finding->seconds * 1e9)), 100 * finding->share,
                  finding->title);
    (void)put_place(writer, finding->step);
    put_ranks(writer, finding);
    (void)fputc('\n', writer->out);
    put_library(writer, finding->step);
    if (finding->detail[0] != '\0') {
        (void)fprintf(writer->out, INDENT "%s\n", finding->detail);
    }
    if (path[0] != '\0') {
        (void)fputs(finding->path == WIO_SEVERAL_FILES ? INDENT : INDENT "file ", writer->out);
        wio_print_plain(writer->out, path);
        (void)fputc('\n', writer->out);
    }
    const char *layout = wio_report_finding_layout(writer->explanation, finding);
    if (layout[0] != '\0') {
        (void)fputs(INDENT "layout ", writer->out);
        wio_print_plain(writer->out, layout);
        (void)fputc('\n', writer->out);
    }
    if (finding->others_wait_s >= 0.05 * finding->seconds) {
        (void)fprintf(writer->out, INDENT "other threads wait %s for it, summed over them\n",
                      wio_format_time(wait, (uint64_t)(finding->others_wait_s * 1e9)));
    }
    wio_report_gain(writer->explanation, writer->how, at, writer->out);
}

static unsigned put_findings(const struct explanation_text *writer)
{
    struct wio_report_order order = {0};
    unsigned number = 0;
    bool is_txn = false;
    uint32_t at = 0;

    while (wio_report_order_next(&order, writer->explanation, writer->how, &is_txn, &at)) {
        bool is_general =
            is_txn ? wio_loss_words(wio_report_lost(writer->how)->items[at].loss)->is_general
                   : writer->explanation->findings.items[at].is_general;
        if (is_general) {
            continue;
        }
        (void)fputs(number == 0 ? "\n" : "", writer->out);
        number++;
        if (is_txn) {
            wio_report_txn_finding_text(writer->how->transactions->aborts,
                                        &wio_report_lost(writer->how)->items[at], number,
                                        writer->out);
        } else {
            put_finding(writer, at, number);
        }
    }
    return number;
}

static void put_general(const struct explanation_text *writer)
{
    const struct wio_findings *findings = &writer->explanation->findings;
    char time[WIO_TEXT_MAX];

    for (uint32_t i = 0; i < findings->count; i++) {
        const struct wio_finding *finding = &findings->items[i];
        if (!finding->is_general || !wio_report_is_shown(finding, writer->how)) {
            continue;
        }
        (void)fprintf(writer->out, "other I/O: %s (%.0f %%)  %s",
                      wio_format_time(time, (uint64_t)(finding->seconds * 1e9)),
                      100 * finding->share, finding->title);
        (void)put_place(writer, finding->step);
        put_ranks(writer, finding);
        (void)fputc('\n', writer->out);
    }
}

/* ---- waiting ---- */

/* Of what the thread that ended the wait did more: what the other did more is in JSON alone. */
static double positive_sum(const struct wio_wait_class *class)
{
    double sum = 0;

    for (uint32_t i = 0; i < class->part_count; i++) {
        sum += class->parts[i].relative > 0 ? class->parts[i].relative : 0;
    }
    return sum;
}

/* "  FILE": one line of a program may work on several. */
static void put_file_of(const struct explanation_text *writer, uint32_t step)
{
    uint32_t file = writer->explanation->steps.steps[step].path;
    const char *path = file == WIO_SEVERAL_FILES ? "" : wio_report_path(writer->explanation, file);

    if (path[0] != '\0') {
        (void)fputs("  ", writer->out);
        wio_print_plain(writer->out, path);
    }
}

static void put_part(const struct explanation_text *writer, const struct wio_wait_class *class,
                     uint32_t at)
{
    const struct wio_wait_part *part = &class->parts[at];
    const struct wio_steps *steps = &writer->explanation->steps;

    if (part->relative <= 0) {
        return;
    }
    (void)fprintf(writer->out, "      %4.0f %%  ", 100 * part->relative / positive_sum(class));
    if (part->cause == WIO_NO_STEP) {
        (void)fputs("earlier waits, through more threads than are followed\n", writer->out);
        return;
    }
    (void)fputs(wio_report_cause(writer->explanation, part->cause), writer->out);
    put_line_or_program(writer, part->cause,
                        wio_steps_cause_op(steps, part->cause) < WIO_OP_COMPUTE);
    put_file_of(writer, part->cause);
    (void)fputc('\n', writer->out);
}

static void put_waiting(const struct explanation_text *writer)
{
    const struct wio_waiting *waiting = &writer->explanation->waiting;
    uint32_t shown = wio_report_classes(writer->explanation);
    uint32_t order[WIO_WAIT_PARTS];
    char time[WIO_TEXT_MAX];

    if (waiting->total_ns < writer->explanation->duration_ns / 100 || shown == 0) {
        return;
    }
    (void)fprintf(writer->out, "\nWaiting for other threads, %s summed over all threads:\n",
                  wio_format_time(time, waiting->total_ns));
    for (uint32_t i = 0; i < shown && i < 5; i++) {
        const struct wio_wait_class *class = &waiting->classes[i];
        uint32_t parts = wio_report_parts(class, order);
        const struct wio_steps *steps = &writer->explanation->steps;
        char count[WIO_TEXT_MAX];
        (void)fprintf(writer->out, "  %8s  %s wait%s, as in %s",
                      wio_format_time(time, class->total_ns), wio_format_count(count, class->count),
                      class->count == 1 ? "" : "s",
                      wio_step_op_name(steps->sites[steps->steps[class->step].site].op));
        put_line_or_program(writer, class->step, true);
        (void)fputs(", because of\n", writer->out);
        for (uint32_t k = 0; k < parts && k < 4; k++) {
            put_part(writer, class, order[k]);
        }
    }
}

/* No finding: because nothing is slow, or because no cause is known. */
static void put_verdict(const struct explanation_text *writer)
{
    const struct wio_explanation *explanation = writer->explanation;
    double io = percent(writer, (double)explanation->critical_ns[WIO_STEP_IO] / 1e9);

    if (io >= MUCH_IO_PERCENT) {
        (void)fputs("No cause is known for the I/O of this run: no pattern of it is one that a "
                    "change would mend.\n",
                    writer->out);
    } else if (!explanation->info.complete) {
        (void)fputs("Nothing slow was seen; the notes say what was not.\n", writer->out);
    } else {
        (void)fputs("Nothing is slow here that a change of the I/O would mend.\n", writer->out);
    }
}

void wio_report_explain_text(const struct wio_explanation *explanation,
                             const struct wio_report_explain *how, FILE *out)
{
    struct explanation_text writer = {explanation, how, out};
    char time[WIO_TEXT_MAX];

    if (explanation->info.events > 0) {
        put_run(&writer);
    } else {
        put_no_events(&writer);
    }
    if (put_findings(&writer) == 0 && explanation->duration_ns > 0) {
        put_verdict(&writer);
    }
    wio_report_how_to_gain(explanation, how, out);
    put_general(&writer);
    if (percent(&writer, explanation->unexplained_s) >= 1) {
        (void)fprintf(out, "not explained: %s (%.0f %%)\n",
                      wio_format_time(time, (uint64_t)(explanation->unexplained_s * 1e9)),
                      percent(&writer, explanation->unexplained_s));
    }
    wio_report_page_cache(explanation, out);
    put_waiting(&writer);
    for (uint32_t i = 0; i < explanation->note_count; i++) {
        (void)fprintf(out, "%snote: ", i == 0 ? "\n" : "");
        wio_print_plain(out, explanation->notes[i]);
        (void)fputc('\n', out);
    }
}
