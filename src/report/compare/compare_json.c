/* SPDX-License-Identifier: Apache-2.0 */
#include "report/compare/compare.h"

#include "base/json.h"

#define NS_PER_S 1e9

static void put_tally(struct wio_json *json, const char *key, const struct wio_tally *tally)
{
    wio_json_object_begin(json, key);
    wio_json_u64(json, "count", tally->count);
    wio_json_u64(json, "bytes", tally->bytes);
    wio_json_double(json, "time_s", (double)tally->time_ns / NS_PER_S);
    wio_json_u64(json, "errors", tally->errors);
    wio_json_object_end(json);
}

/* Both sides and the ratio of their times. */
static void put_pair(struct wio_json *json, const struct wio_tally *a, const struct wio_tally *b)
{
    put_tally(json, "a", a);
    put_tally(json, "b", b);
    wio_json_double(json, "ratio", wio_compare_ratio(a->time_ns, b->time_ns));
}

static void put_rank(struct wio_json *json, int32_t rank)
{
    if (rank >= 0) {
        wio_json_i64(json, "rank", rank);
    } else {
        wio_json_null(json, "rank");
    }
}

static void put_table(struct wio_json *json, const char *key, const char *name_key,
                      const struct wio_comparison *comparison, enum wio_compare_table table)
{
    const struct wio_compare_row *rows;
    size_t count = wio_compare_rows(comparison, table, &rows);

    wio_json_array_begin(json, key);
    for (size_t i = 0; i < count; i++) {
        wio_json_object_begin(json, NULL);
        if (table == WIO_COMPARE_RANKS) {
            put_rank(json, rows[i].rank);
        } else {
            wio_json_string(json, name_key, rows[i].name);
        }
        put_pair(json, &rows[i].a, &rows[i].b);
        wio_json_object_end(json);
    }
    wio_json_array_end(json);
}

static void put_phase_side(struct wio_json *json, const char *key, const struct wio_phase *phase)
{
    if (phase == NULL) {
        wio_json_null(json, key);
        return;
    }
    wio_json_object_begin(json, key);
    wio_json_u64(json, "count", phase->tally.count);
    wio_json_u64(json, "bytes", phase->tally.bytes);
    wio_json_double(json, "time_s", (double)phase->tally.time_ns / NS_PER_S);
    wio_json_u64(json, "errors", phase->tally.errors);
    wio_json_double(json, "start_s", (double)phase->first_ns / NS_PER_S);
    wio_json_double(json, "elapsed_s", (double)(phase->last_ns - phase->first_ns) / NS_PER_S);
    wio_json_u64(json, "ranks", phase->ranks);
    wio_json_object_end(json);
}

static void put_phase_ratios(struct wio_json *json, const struct wio_compare_phase *phase)
{
    if (phase->a == NULL || phase->b == NULL) {
        wio_json_null(json, "ratio");
        wio_json_null(json, "elapsed_ratio");
        return;
    }
    wio_json_double(json, "ratio",
                    wio_compare_ratio(phase->a->tally.time_ns, phase->b->tally.time_ns));
    wio_json_double(json, "elapsed_ratio",
                    wio_compare_ratio(phase->a->last_ns - phase->a->first_ns,
                                      phase->b->last_ns - phase->b->first_ns));
}

static void put_phases(struct wio_json *json, const struct wio_comparison *comparison)
{
    const struct wio_compare_phase *phases;
    size_t count = wio_compare_phases(comparison, &phases);

    wio_json_array_begin(json, "phases");
    for (size_t i = 0; i < count; i++) {
        wio_json_object_begin(json, NULL);
        wio_json_u64(json, "phase", i + 1);
        wio_json_string(json, "kind", wio_phase_kind_name(phases[i].kind));
        wio_json_string(json, "path", phases[i].file[0] != '\0' ? phases[i].file : NULL);
        put_phase_side(json, "a", phases[i].a);
        put_phase_side(json, "b", phases[i].b);
        put_phase_ratios(json, &phases[i]);
        wio_json_object_end(json);
    }
    wio_json_array_end(json);
}

void wio_report_compare_json(const struct wio_comparison *comparison,
                             const struct wio_compare_names *names, FILE *out)
{
    struct wio_compare_total total;
    struct wio_json json;

    wio_compare_get_total(comparison, &total);
    wio_json_init(&json, out);
    wio_json_object_begin(&json, NULL);
    wio_json_string(&json, "schema", "whyio.compare/1");
    wio_json_string(&json, "a", names->a);
    wio_json_string(&json, "b", names->b);
    wio_json_object_begin(&json, "total");
    put_pair(&json, &total.a, &total.b);
    wio_json_double(&json, "a_duration_s", (double)total.a_duration_ns / NS_PER_S);
    wio_json_double(&json, "b_duration_s", (double)total.b_duration_ns / NS_PER_S);
    wio_json_double(&json, "duration_ratio",
                    wio_compare_ratio(total.a_duration_ns, total.b_duration_ns));
    wio_json_object_end(&json);
    put_table(&json, "ops", "op", comparison, WIO_COMPARE_OPS);
    put_table(&json, "files", "path", comparison, WIO_COMPARE_FILES);
    put_table(&json, "ranks", NULL, comparison, WIO_COMPARE_RANKS);
    put_phases(&json, comparison);
    if (names->causes != NULL) {
        wio_report_causes_json(names->causes, &json);
    }
    if (names->transactions != NULL) {
        wio_report_txn_runs_json(names->transactions, &json);
    }
    wio_json_object_end(&json);
    wio_json_line(&json);
}
