/* SPDX-License-Identifier: Apache-2.0 */
#include "report/compare/compare_causes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/explanation/explain.h"
#include "report/line.h"

#define LEAST_SHARE 0.01

/* ---- both sides ---- */

/* Of each finding. */
struct functions {
    char **texts;
    uint32_t count;
};

static void functions_fini(struct functions *functions)
{
    for (uint32_t i = 0; functions->texts != NULL && i < functions->count; i++) {
        free(functions->texts[i]);
    }
    free(functions->texts);
}

static enum wio_status find_functions(const struct wio_report_run *run, struct functions *out)
{
    const struct wio_findings *findings = &run->explanation->findings;
    struct wio_report_place place;

    out->count = findings->count;
    out->texts = calloc((size_t)findings->count + 1, sizeof(*out->texts));
    for (uint32_t i = 0; out->texts != NULL && i < findings->count; i++) {
        wio_report_place(run->explanation, run->sources, findings->items[i].step, &place);
        out->texts[i] = strdup(place.function);
        if (out->texts[i] == NULL) {
            return WIO_ERR_NOMEM;
        }
    }
    return out->texts != NULL ? WIO_OK : WIO_ERR_NOMEM;
}

enum wio_status wio_report_causes_find(struct wio_report_causes *causes)
{
    WIO_CLEANUP(functions_fini) struct functions a = {0};
    WIO_CLEANUP(functions_fini) struct functions b = {0};

    WIO_TRY(find_functions(&causes->a, &a));
    WIO_TRY(find_functions(&causes->b, &b));
    const struct wio_cause_side of_a = {causes->a.explanation, (const char *const *)a.texts,
                                        causes->a.root};
    const struct wio_cause_side of_b = {causes->b.explanation, (const char *const *)b.texts,
                                        causes->b.root};
    return wio_causes_compare(&of_a, &of_b, &causes->causes);
}

/* Where the finding is now; of one that is gone, where it was. */
static const struct wio_finding *finding_of(const struct wio_report_causes *causes,
                                            const struct wio_cause *cause,
                                            const struct wio_report_run **run_out)
{
    bool is_in_b = cause->b != WIO_NO_FINDING;
    uint32_t at = is_in_b ? cause->b : cause->a;

    *run_out = is_in_b ? &causes->b : &causes->a;
    return cause->rest == WIO_CAUSE_FINDING ? &(*run_out)->explanation->findings.items[at] : NULL;
}

static const char *rest_text(enum wio_cause_rest rest)
{
    static const char *const texts[WIO_CAUSE_RESTS] = {
        "", "computing", "waiting that no I/O caused", "waiting for a processor", "not explained"};

    return texts[rest];
}

static const char *rest_kind(enum wio_cause_rest rest)
{
    static const char *const kinds[WIO_CAUSE_RESTS] = {"", "computing", "waiting", "cpu_waiting",
                                                       "unexplained"};

    return kinds[rest];
}

/* ---- text ---- */

static const char *format_side(char *text, double seconds)
{
    return seconds > 0 ? wio_format_time(text, (uint64_t)(seconds * 1e9)) : "-";
}

static const char *format_change(char *text, double seconds)
{
    char time[WIO_TEXT_MAX];

    (void)snprintf(text, WIO_TEXT_MAX, "%c%s", seconds < 0 ? '-' : '+',
                   wio_format_time(time, (uint64_t)(fabs(seconds) * 1e9)));
    return text;
}

static void put_place(const struct wio_report_run *run, const struct wio_finding *finding,
                      FILE *out)
{
    struct wio_report_place place;

    wio_report_place(run->explanation, run->sources, finding->step, &place);
    if (place.file[0] != '\0') {
        (void)fputs("  ", out);
        wio_print_plain(out, place.file);
        (void)fprintf(out, ":%u", place.line);
    }
    if (place.function[0] != '\0') {
        (void)fputs("  ", out);
        wio_print_plain(out, place.function);
    }
}

static void put_cause(const struct wio_report_causes *causes, const struct wio_cause *cause,
                      FILE *out)
{
    char text[3][WIO_TEXT_MAX];
    const struct wio_report_run *run;
    const struct wio_finding *finding = finding_of(causes, cause, &run);

    (void)fprintf(out, "%9s %9s %9s  %-6s  ", format_side(text[0], cause->a_s),
                  format_side(text[1], cause->b_s), format_change(text[2], cause->b_s - cause->a_s),
                  wio_cause_change_name(cause->change));
    if (finding == NULL) {
        (void)fprintf(out, "%s\n", rest_text(cause->rest));
        return;
    }
    (void)fprintf(out, "%s%s", finding->is_general ? "other I/O: " : "", finding->title);
    put_place(run, finding, out);
    (void)fputc('\n', out);
}

static bool is_shown(const struct wio_report_causes *causes, const struct wio_cause *cause)
{
    double longest_s = fmax((double)causes->a.explanation->duration_ns,
                            (double)causes->b.explanation->duration_ns) /
                       1e9;

    return fabs(cause->b_s - cause->a_s) >= LEAST_SHARE * longest_s;
}

void wio_report_causes_text(const struct wio_report_causes *causes, size_t top, FILE *out)
{
    size_t shown = 0;

    for (uint32_t i = 0; i < causes->causes.count && (top == 0 || shown < top); i++) {
        const struct wio_cause *cause = &causes->causes.items[i];
        if (!is_shown(causes, cause)) {
            break; /* they come by the size of the change */
        }
        if (shown++ == 0) {
            (void)fprintf(out, "\n%9s %9s %9s  why, on the critical path\n", "time a", "time b",
                          "b - a");
        }
        put_cause(causes, cause, out);
    }
    if (shown == 0) {
        (void)fputs("no cause changed by 1 % of the run\n", out);
    }
}

/* ---- JSON ---- */

static void put_finding(const struct wio_report_run *run, const struct wio_finding *finding,
                        struct wio_json *json)
{
    struct wio_report_place place;

    wio_report_place(run->explanation, run->sources, finding->step, &place);
    wio_json_bool(json, "general", finding->is_general);
    wio_json_string(json, "title", finding->title);
    wio_report_place_json(&place, json);
    wio_json_known(
        json, "path",
        finding->path == WIO_SEVERAL_FILES ? "" : wio_report_path(run->explanation, finding->path));
    wio_json_array_begin(json, "ranks");
    for (int32_t rank = 0; (rank = wio_rank_set_next(&finding->ranks, rank)) >= 0; rank++) {
        wio_json_i64(json, NULL, rank);
    }
    wio_json_array_end(json);
}

void wio_report_causes_json(const struct wio_report_causes *causes, struct wio_json *json)
{
    wio_json_array_begin(json, "causes");
    for (uint32_t i = 0; i < causes->causes.count; i++) {
        const struct wio_cause *cause = &causes->causes.items[i];
        const struct wio_report_run *run;
        const struct wio_finding *finding = finding_of(causes, cause, &run);
        wio_json_object_begin(json, NULL);
        wio_json_string(json, "kind", finding != NULL ? finding->kind : rest_kind(cause->rest));
        wio_json_string(json, "change", wio_cause_change_name(cause->change));
        wio_json_double(json, "a_s", cause->a_s);
        wio_json_double(json, "b_s", cause->b_s);
        wio_json_double(json, "change_s", cause->b_s - cause->a_s);
        if (finding != NULL) {
            put_finding(run, finding, json);
        }
        wio_json_object_end(json);
    }
    wio_json_array_end(json);
}
