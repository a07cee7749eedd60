/* SPDX-License-Identifier: Apache-2.0 */
/* What a change gains, as text: of a machine that is described, or fitted from the trace. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/explanation/explain.h"
#include "report/line.h"

#define INDENT "                     "
#define LEAST_SHARE 0.01

static const char *text_of(char *text, double seconds)
{
    return wio_format_time(text, (uint64_t)(fmax(seconds, 0) * 1e9));
}

static bool is_none(double seconds)
{
    return !(seconds * 1e9 >= 1);
}

/* ": about 16.2 s less", with what other changes would add. */
static void put_seconds(const struct wio_explanation *explanation, const struct wio_gain *gain,
                        FILE *out)
{
    double duration_s = (double)explanation->duration_ns / 1e9;
    char time[WIO_TEXT_MAX];

    if (is_none(gain->gain_s)) {
        (void)fputs(": no time less", out);
    } else {
        (void)fprintf(out, ": about %s less", text_of(time, gain->gain_s));
    }
    if (gain->with_s - fmax(gain->gain_s, 0) >= LEAST_SHARE * duration_s) {
        (void)fprintf(out, ", %s if the changes above are made as well",
                      text_of(time, gain->with_s));
    }
}

static void put_predicted(const struct wio_explanation *explanation,
                          const struct wio_report_explain *how, const struct wio_finding *finding,
                          const struct wio_gain *gain, FILE *out)
{
    put_seconds(explanation, gain, out);
    (void)fputs(" (predicted; `whyio predict ", out);
    wio_print_plain(out, how->dir);
    (void)fputs(" --host=", out);
    wio_print_plain(out, explanation->gains.host);
    (void)fprintf(out, " %s` shows it for all of the program)", finding->predict_options);
}

/* What is only bounded: ": 1.2 to 3.4 s less", ": at most 3.4 s less". */
static void put_range(const struct wio_gain *gain, FILE *out)
{
    char low[WIO_TEXT_MAX];
    char high[WIO_TEXT_MAX];

    if (is_none(gain->high_s)) {
        (void)fputs(": no time less", out);
    } else if (is_none(gain->low_s)) {
        (void)fprintf(out, ": at most %s less", text_of(high, gain->high_s));
    } else {
        (void)fprintf(out, ": %s to %s less", text_of(low, gain->low_s),
                      text_of(high, gain->high_s));
    }
}

/* The bounds of a gain, where they are not one figure. */
static void put_bounds(const struct wio_gain *gain, FILE *out)
{
    char low_text[WIO_TEXT_MAX];
    char high_text[WIO_TEXT_MAX];
    const char *low = is_none(gain->low_s) ? "0 s" : text_of(low_text, gain->low_s);
    const char *high = text_of(high_text, gain->high_s);

    if (strcmp(low, high) != 0) {
        (void)fprintf(out, ": %s to %s", low, high);
    }
}

static void put_fitted(const struct wio_explanation *explanation, const struct wio_gain *gain,
                       FILE *out)
{
    if (isnan(gain->gain_s)) {
        put_range(gain, out);
        (void)fputs(" (fitted from the trace, where nothing of that size was seen", out);
    } else if (is_none(gain->high_s)) {
        put_seconds(explanation, gain, out);
        (void)fputs(" (fitted from the trace", out);
    } else {
        put_seconds(explanation, gain, out);
        (void)fprintf(out, " (fitted from the trace%s",
                      gain->is_assumed ? ", with 500 MB/s for the bytes of larger requests" : "");
        put_bounds(gain, out);
    }
    if (gain->network[0] != '\0') {
        (void)fputs("; no model knows ", out);
        wio_print_plain(out, gain->network);
    }
    (void)fputc(')', out);
}

void wio_report_gain(const struct wio_explanation *explanation,
                     const struct wio_report_explain *how, uint32_t at, FILE *out)
{
    const struct wio_finding *finding = &explanation->findings.items[at];
    const struct wio_gain *gain = &explanation->gains.items[at];

    if (finding->change[0] == '\0') {
        return;
    }
    (void)fprintf(out, INDENT "change: %s", finding->change);
    if (gain->basis == WIO_GAIN_HOST) {
        put_predicted(explanation, how, finding, gain, out);
    } else if (gain->basis == WIO_GAIN_TRACE) {
        put_fitted(explanation, gain, out);
    } else if (gain->why[0] != '\0') {
        (void)fputs(" (no gain is predicted: ", out);
        wio_print_plain(out, gain->why);
        (void)fputc(')', out);
    } else if (finding->predict_options[0] != '\0') {
        (void)fprintf(out, " (`whyio predict %s` computes it)", finding->predict_options);
    }
    (void)fputc('\n', out);
}

void wio_report_how_to_gain(const struct wio_explanation *explanation,
                            const struct wio_report_explain *how, FILE *out)
{
    const struct wio_findings *findings = &explanation->findings;
    uint32_t i = 0;

    /* a model of the page cache does not hold for network file systems */
    while (i < findings->count &&
           (explanation->gains.items[i].network[0] != '\0' ||
            findings->items[i].predict_options[0] == '\0' || findings->items[i].is_general ||
            !wio_report_is_shown(&findings->items[i], how))) {
        i++;
    }
    if (i == findings->count || explanation->gains.host != NULL) {
        return;
    }
    (void)fputs("gains: `whyio explain ", out);
    wio_print_plain(out, how->dir);
    (void)fprintf(out, " --host=HOST.json` computes them%s (HOST.json: of `whyio calibrate`)\n",
                  explanation->gains.basis == WIO_GAIN_TRACE ? " from the model of a machine" : "");
}

/* ---- the page cache ---- */

static const char *words_of(enum wio_model_state state)
{
    return state == WIO_MODEL_STATE_THROTTLE ? "throttled: writes wait for write-back"
           : state == WIO_MODEL_STATE_ASYNC  ? "write-back beside the writes"
                                             : "free: writes into memory";
}

static bool is_throttled(const struct wio_cache_phases *cache)
{
    uint32_t i = 0;

    while (i < cache->count && cache->items[i].state != WIO_MODEL_STATE_THROTTLE) {
        i++;
    }
    return i < cache->count;
}

void wio_report_page_cache(const struct wio_explanation *explanation, FILE *out)
{
    const struct wio_cache_phases *cache = &explanation->gains.cache;
    char text[4][WIO_TEXT_MAX];

    if (!is_throttled(cache)) {
        return; /* nothing to tell */
    }
    (void)fputs("\nPage cache of the predicted run:\n", out);
    for (uint32_t i = 0; i < cache->count; i++) {
        const struct wio_cache_phase *phase = &cache->items[i];
        char count[WIO_TEXT_MAX];
        (void)fprintf(out, "    %8s to %8s  %-38s %s writes, %s in them, up to %s dirty\n",
                      text_of(text[0], phase->begin_s), text_of(text[1], phase->end_s),
                      words_of(phase->state), wio_format_count(count, phase->writes),
                      text_of(text[2], phase->io_s),
                      wio_format_size(text[3], (uint64_t)phase->dirty_bytes));
    }
}
