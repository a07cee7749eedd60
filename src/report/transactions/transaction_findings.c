/* SPDX-License-Identifier: Apache-2.0 */
/* What transactions lost, as findings beside those about the recorded program. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/explanation/explain.h"
#include "report/line.h"
#include "report/transactions/transactions.h"

#define INDENT "                     "

static bool is_pair(const struct wio_txn_finding *finding)
{
    return finding->loss <= WIO_LOSS_THINK;
}

static void place_of(const struct wio_aborts *aborts, uint32_t source,
                     struct wio_report_place *place_out)
{
    *place_out = (struct wio_report_place){.library = ""};
    if (source != WIO_NO_SOURCE && aborts->sources.rows[source].place != 0) {
        wio_report_place_text(
            wio_abort_sources_place_text(&aborts->sources, aborts->sources.rows[source].place),
            place_out);
    }
}

/* ---- text ---- */

static const char *time_text(char *text, double seconds)
{
    return wio_format_time(text, (uint64_t)(fmax(seconds, 0) * 1e9));
}

static void put_where(const struct wio_aborts *aborts, const struct wio_txn_finding *finding,
                      FILE *out)
{
    char name[64];
    (void)fputs(is_pair(finding) ? INDENT "blocked by " : INDENT "busiest there: ", out);
    wio_report_txn_source(aborts, finding->blocker, out);
    (void)fputs("; at ", out);
    wio_print_plain(out, wio_report_store_server(aborts, finding->server, name, sizeof(name)));
    if (finding->servers > 1) {
        (void)fprintf(out, " and %" PRIu32 " more", finding->servers - 1);
    }
    (void)fputc('\n', out);
}

static void put_example(const struct wio_aborts *aborts, const struct wio_txn_finding *finding,
                        FILE *out)
{
    char name[64];
    if (finding->example.to == 0) {
        return;
    }
    (void)fprintf(out, INDENT "such as bytes %" PRIu64 " to %" PRIu64 " of segment %" PRIu32 " of ",
                  finding->example.from, finding->example.to,
                  finding->example.segment & ~(3u << 30));
    wio_print_plain(out, wio_report_parafile(aborts, finding->example.file, name, sizeof(name)));
    (void)fputc('\n', out);
}

static void put_change(const struct wio_txn_finding *finding, FILE *out)
{
    const struct wio_loss_words *words = wio_loss_words(finding->loss);
    char text[3][WIO_TEXT_MAX];
    if (words->change[0] == '\0') {
        return;
    }
    (void)fprintf(out, INDENT "change (%s): %s", words->cure, words->change);
    if (isnan(finding->gain_s)) {
        (void)fputc('\n', out);
        return;
    }
    if (finding->gain_s * 1e9 >= 1) {
        (void)fprintf(out, ": about %s less", time_text(text[0], finding->gain_s));
    } else {
        (void)fputs(": no time less", out);
    }
    (void)fprintf(out, ", %s instead of %s aborts (predicted)\n",
                  wio_format_count(text[1], finding->aborts_with),
                  wio_format_count(text[2], finding->aborts_then));
}

void wio_report_txn_finding_text(const struct wio_aborts *aborts,
                                 const struct wio_txn_finding *finding, unsigned number, FILE *out)
{
    char time[WIO_TEXT_MAX];
    (void)fprintf(out, "%2u  %8s (%2.0f %%)  %-44s  ", number, time_text(time, finding->seconds),
                  100 * finding->share, wio_loss_words(finding->loss)->title);
    wio_report_txn_source(aborts, finding->victim, out);
    (void)fputc('\n', out);
    put_where(aborts, finding, out);
    (void)fprintf(out, INDENT "%s\n", finding->detail);
    put_example(aborts, finding, out);
    put_change(finding, out);
}

/* ---- JSON ---- */

static void put_place(struct wio_json *json, const struct wio_aborts *aborts, uint32_t source)
{
    struct wio_report_place place;
    place_of(aborts, source, &place);
    wio_report_place_json(&place, json);
}

static void put_item(struct wio_json *json, const char *key, double value, const char *unit)
{
    wio_json_object_begin(json, key);
    wio_json_double(json, "value", value);
    wio_json_known(json, "unit", unit);
    wio_json_object_end(json);
}

static void put_evidence(struct wio_json *json, const struct wio_txn_finding *finding)
{
    wio_json_object_begin(json, "evidence");
    put_item(json, "aborts", (double)finding->aborts, "");
    put_item(json, "deadlocks", (double)finding->deadlocks, "");
    put_item(json, "waits", (double)finding->waits, "");
    put_item(json, "requests", (double)finding->requests, "");
    put_item(json, "wait_s", finding->wait_s, "s");
    put_item(json, "wasted_s", finding->wasted_s, "s");
    put_item(json, "lost_s", finding->lost_s, "s");
    for (unsigned i = 0; i < WIO_LOSSES; i++) {
        char key[64];
        (void)snprintf(key, sizeof(key), "%s_s", wio_loss_words((enum wio_loss)i)->kind);
        if (finding->by_loss_s[i] > 0) {
            put_item(json, key, finding->by_loss_s[i], "s");
        }
    }
    wio_json_object_end(json);
}

static void put_gain(struct wio_json *json, const struct wio_txn_finding *finding)
{
    const struct wio_loss_words *words = wio_loss_words(finding->loss);
    bool has_gain = !isnan(finding->gain_s);
    wio_json_object_begin(json, "change");
    wio_json_known(json, "text", words->change);
    wio_json_string(json, "cure", words->cure);
    wio_json_null(json, "predict_options");
    wio_json_double(json, "gain_s", finding->gain_s);
    wio_json_null(json, "gain_low_s");
    wio_json_null(json, "gain_high_s");
    wio_json_null(json, "gain_with_s");
    wio_json_string(json, "gain_basis", has_gain ? "trace" : "none");
    wio_json_bool(json, "gain_is_assumed", false);
    wio_json_null(json, "network_fs");
    wio_json_double(json, "predicted_s", finding->predicted_s);
    if (has_gain) {
        wio_json_u64(json, "aborts_then", finding->aborts_then);
        wio_json_u64(json, "aborts_with", finding->aborts_with);
    } else {
        wio_json_null(json, "aborts_then");
        wio_json_null(json, "aborts_with");
    }
    wio_json_known(
        json, "no_gain",
        has_gain || words->change[0] == '\0' ? "" : "the change cannot be tried on the trace");
    wio_json_object_end(json);
}

static void put_path(struct wio_json *json, const struct wio_aborts *aborts,
                     const struct wio_txn_finding *finding)
{
    char name[64];
    const struct wio_abort_source *source =
        finding->victim == WIO_NO_SOURCE ? NULL : &aborts->sources.rows[finding->victim];
    if (finding->example.to != 0) {
        wio_json_string(json, "path",
                        wio_report_parafile(aborts, finding->example.file, name, sizeof(name)));
    } else if (source != NULL && source->file_count == 1 && !source->has_more_files) {
        wio_json_string(json, "path",
                        wio_report_parafile(aborts, source->files[0], name, sizeof(name)));
    } else {
        wio_json_null(json, "path");
    }
}

static void put_blocker(struct wio_json *json, const struct wio_aborts *aborts,
                        const struct wio_txn_finding *finding)
{
    if (finding->blocker == WIO_NO_SOURCE) {
        wio_json_null(json, "blocker");
        return;
    }
    const struct wio_abort_source *source = &aborts->sources.rows[finding->blocker];
    wio_json_object_begin(json, "blocker");
    put_place(json, aborts, finding->blocker);
    wio_json_string(json, "application",
                    wio_abort_sources_application(&aborts->sources, source->application));
    wio_json_object_end(json);
}

void wio_report_txn_finding_json(const struct wio_aborts *aborts,
                                 const struct wio_txn_finding *finding, struct wio_json *json)
{
    const struct wio_loss_words *words = wio_loss_words(finding->loss);
    char name[64];
    wio_json_object_begin(json, NULL);
    wio_json_string(json, "kind", words->kind);
    wio_json_string(json, "account", "transactions");
    wio_json_bool(json, "general", words->is_general);
    wio_json_double(json, "seconds", finding->seconds);
    wio_json_double(json, "share", finding->share);
    wio_json_string(json, "title", words->title);
    wio_json_string(json, "detail", finding->detail);
    wio_json_string(json, "op", "transaction");
    put_place(json, aborts, finding->victim);
    wio_json_null(json, "library");
    wio_json_null(json, "library_call");
    wio_json_null(json, "language");
    wio_json_array_begin(json, "ranks");
    wio_json_array_end(json);
    put_path(json, aborts, finding);
    wio_json_null(json, "layout");
    wio_json_null(json, "dataset");
    wio_json_double(json, "others_wait_s", 0);
    wio_report_txn_source_json(json, "victim", aborts, finding->victim);
    put_blocker(json, aborts, finding);
    wio_json_string(json, "server_name",
                    wio_report_store_server(aborts, finding->server, name, sizeof(name)));
    wio_json_u64(json, "servers", finding->servers);
    if (finding->example.to != 0) {
        wio_report_txn_range_json(json, aborts, &finding->example);
    }
    put_evidence(json, finding);
    put_gain(json, finding);
    wio_json_object_end(json);
}
