/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "report/explanation/explain.h"
#include "report/transactions/transactions.h"

#define ROWS_SHOWN 100u

struct explanation_json {
    struct wio_json json;
    const struct wio_explanation *explanation;
    const struct wio_report_explain *how;
};

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static void put_place(struct explanation_json *writer, uint32_t step)
{
    struct wio_report_place place;

    wio_report_place(writer->explanation, writer->how->sources, step, &place);
    wio_report_place_json(&place, &writer->json);
}

static void put_library(struct explanation_json *writer, uint32_t step)
{
    struct wio_report_place place;

    wio_report_place(writer->explanation, writer->how->sources, step, &place);
    wio_json_known(&writer->json, "library", place.library);
    wio_json_known(&writer->json, "library_call", place.called);
}

static const char *op_of(const struct explanation_json *writer, uint32_t step)
{
    const struct wio_steps *steps = &writer->explanation->steps;

    return wio_step_op_name(steps->sites[steps->steps[step].site].op);
}

static void put_ranks(struct explanation_json *writer, const struct wio_rank_set *ranks)
{
    wio_json_array_begin(&writer->json, "ranks");
    for (int32_t rank = 0; (rank = wio_rank_set_next(ranks, rank)) >= 0; rank++) {
        wio_json_i64(&writer->json, NULL, rank);
    }
    wio_json_array_end(&writer->json);
}

static void put_path(struct explanation_json *writer, uint32_t path)
{
    if (path == WIO_SEVERAL_FILES) {
        wio_json_null(&writer->json, "path");
    } else {
        wio_json_known(&writer->json, "path", wio_report_path(writer->explanation, path));
    }
}

static void put_evidence(struct explanation_json *writer, const struct wio_finding *finding)
{
    wio_json_object_begin(&writer->json, "evidence");
    for (uint32_t i = 0; i < finding->evidence_count; i++) {
        const struct wio_finding_item *item = &finding->evidence[i];
        wio_json_object_begin(&writer->json, item->key);
        wio_json_double(&writer->json, "value", item->value);
        wio_json_known(&writer->json, "unit", item->unit);
        wio_json_object_end(&writer->json);
    }
    wio_json_object_end(&writer->json);
}

static void put_change(struct explanation_json *writer, const struct wio_finding *finding,
                       const struct wio_gain *gain)
{
    wio_json_object_begin(&writer->json, "change");
    wio_json_known(&writer->json, "text", finding->change);
    wio_json_known(&writer->json, "predict_options", finding->predict_options);
    wio_json_double(&writer->json, "gain_s", gain->gain_s);
    wio_json_double(&writer->json, "gain_low_s", gain->low_s);
    wio_json_double(&writer->json, "gain_high_s", gain->high_s);
    wio_json_double(&writer->json, "gain_with_s", gain->with_s);
    wio_json_string(&writer->json, "gain_basis", wio_gain_basis_name(gain->basis));
    wio_json_bool(&writer->json, "gain_is_assumed", gain->is_assumed);
    wio_json_known(&writer->json, "network_fs", gain->network);
    wio_json_double(&writer->json, "predicted_s", gain->predicted_s);
    wio_json_known(&writer->json, "no_gain", gain->why);
    wio_json_object_end(&writer->json);
}

static void put_finding(struct explanation_json *writer, uint32_t at)
{
    const struct wio_finding *finding = &writer->explanation->findings.items[at];
    struct wio_json *json = &writer->json;

    wio_json_object_begin(json, NULL);
    wio_json_string(json, "kind", finding->kind);
    wio_json_string(json, "account", "critical_path");
    wio_json_bool(json, "general", finding->is_general);
    wio_json_double(json, "seconds", finding->seconds);
    wio_json_double(json, "share", finding->share);
    wio_json_string(json, "title", finding->title);
    wio_json_known(&writer->json, "detail", finding->detail);
    wio_json_string(json, "op", op_of(writer, finding->step));
    put_place(writer, finding->step);
    put_library(writer, finding->step);
    wio_json_null(json, "language");
    put_ranks(writer, &finding->ranks);
    put_path(writer, finding->path);
    wio_json_known(&writer->json, "layout",
                   wio_report_finding_layout(writer->explanation, finding));
    wio_json_null(json, "dataset");
    wio_json_double(json, "others_wait_s", finding->others_wait_s);
    put_evidence(writer, finding);
    put_change(writer, finding, &writer->explanation->gains.items[at]);
    wio_json_object_end(json);
}

static void put_findings(struct explanation_json *writer)
{
    struct wio_report_order order = {0};
    bool is_txn = false;
    uint32_t at = 0;

    wio_json_array_begin(&writer->json, "findings");
    while (wio_report_order_next(&order, writer->explanation, writer->how, &is_txn, &at)) {
        if (is_txn) {
            wio_report_txn_finding_json(writer->how->transactions->aborts,
                                        &wio_report_lost(writer->how)->items[at], &writer->json);
        } else {
            put_finding(writer, at);
        }
    }
    wio_json_array_end(&writer->json);
}

static void put_page_cache(struct explanation_json *writer)
{
    const struct wio_cache_phases *cache = &writer->explanation->gains.cache;
    struct wio_json *json = &writer->json;

    wio_json_array_begin(json, "page_cache");
    for (uint32_t i = 0; i < cache->count; i++) {
        const struct wio_cache_phase *phase = &cache->items[i];
        wio_json_object_begin(json, NULL);
        wio_json_string(json, "state", wio_model_state_name(phase->state));
        wio_json_double(json, "begin_s", phase->begin_s);
        wio_json_double(json, "end_s", phase->end_s);
        wio_json_u64(json, "writes", phase->writes);
        wio_json_double(json, "io_s", phase->io_s);
        wio_json_double(json, "dirty_bytes", phase->dirty_bytes);
        wio_json_object_end(json);
    }
    wio_json_array_end(json);
}

static void put_class(struct explanation_json *writer, const struct wio_wait_class *class)
{
    struct wio_json *json = &writer->json;
    uint32_t order[WIO_WAIT_PARTS];
    uint32_t parts = wio_report_parts(class, order);

    wio_json_object_begin(json, NULL);
    wio_json_double(json, "seconds", seconds(class->total_ns));
    wio_json_u64(json, "count", class->count);
    wio_json_double(json, "least_s", seconds(class->least_ns));
    wio_json_double(json, "most_s", seconds(class->most_ns));
    wio_json_string(json, "op", op_of(writer, class->step));
    put_place(writer, class->step);
    put_ranks(writer, &class->ranks);
    wio_json_array_begin(json, "because");
    for (uint32_t i = 0; i < parts; i++) {
        const struct wio_wait_part *part = &class->parts[order[i]];
        wio_json_object_begin(json, NULL);
        wio_json_double(json, "share", part->relative * class->scale);
        if (part->cause == WIO_NO_STEP) {
            wio_json_string(json, "op", wio_step_op_name(WIO_OP_CHAIN));
            wio_json_known(&writer->json, "function", "");
            wio_json_known(&writer->json, "file", "");
            wio_json_null(json, "line");
            wio_json_null(json, "path");
        } else {
            wio_json_string(json, "op", wio_report_cause(writer->explanation, part->cause));
            put_place(writer, part->cause);
            put_path(writer, writer->explanation->steps.steps[part->cause].path);
        }
        wio_json_object_end(json);
    }
    wio_json_array_end(json);
    wio_json_object_end(json);
}

static void put_waiting(struct explanation_json *writer)
{
    const struct wio_waiting *waiting = &writer->explanation->waiting;
    uint32_t shown =
        writer->how->is_all ? waiting->class_count : wio_report_classes(writer->explanation);

    wio_json_array_begin(&writer->json, "waiting");
    for (uint32_t i = 0; i < shown; i++) {
        put_class(writer, &waiting->classes[i]);
    }
    wio_json_array_end(&writer->json);
}

static void put_table(struct explanation_json *writer, const char *key, enum wio_spent_by by)
{
    const struct wio_spent_table *table = &writer->explanation->tables[by];
    struct wio_json *json = &writer->json;

    wio_json_array_begin(json, key);
    for (uint32_t i = 0; i < table->count && (writer->how->is_all || i < ROWS_SHOWN); i++) {
        const struct wio_spent_row *row = &table->rows[i];
        wio_json_object_begin(json, NULL);
        if (by != WIO_SPENT_RANK && row->name_bytes == 0) {
            wio_json_null(json, "name");
        } else if (by != WIO_SPENT_RANK) {
            wio_json_text(json, "name", row->name, row->name_bytes);
        } else if (row->rank >= 0) {
            wio_json_i64(json, "rank", row->rank);
        } else {
            wio_json_null(json, "rank");
        }
        wio_json_double(json, "io_s", seconds(row->spent.by_kind[WIO_STEP_IO]));
        wio_json_double(json, "compute_s", seconds(row->spent.by_kind[WIO_STEP_COMPUTE]));
        wio_json_double(json, "wait_s", seconds(row->spent.by_kind[WIO_STEP_WAIT]));
        wio_json_double(json, "cpu_wait_s", seconds(row->spent.by_kind[WIO_STEP_CPU_WAIT]));
        wio_json_double(json, "critical_io_s", seconds(row->spent.critical_ns));
        wio_json_u64(json, "count", row->spent.count);
        wio_json_u64(json, "bytes_read", row->spent.bytes_read);
        wio_json_u64(json, "bytes_written", row->spent.bytes_written);
        wio_json_object_end(json);
    }
    wio_json_array_end(json);
}

static void put_notes(struct explanation_json *writer)
{
    wio_json_array_begin(&writer->json, "notes");
    for (uint32_t i = 0; i < writer->explanation->note_count; i++) {
        wio_json_string(&writer->json, NULL, writer->explanation->notes[i]);
    }
    wio_json_array_end(&writer->json);
}

static void put_path_of_time(struct explanation_json *writer)
{
    const struct wio_explanation *explanation = writer->explanation;
    struct wio_json *json = &writer->json;

    wio_json_object_begin(json, "critical_path");
    wio_json_double(json, "io_s", wio_explanation_seconds(explanation, WIO_STEP_IO));
    wio_json_double(json, "compute_s", wio_explanation_seconds(explanation, WIO_STEP_COMPUTE));
    wio_json_double(json, "wait_s", wio_explanation_seconds(explanation, WIO_STEP_WAIT));
    wio_json_double(json, "cpu_wait_s", wio_explanation_seconds(explanation, WIO_STEP_CPU_WAIT));
    wio_json_object_end(json);
    wio_json_double(json, "unexplained_s", explanation->unexplained_s);
}

/* Of the recorded program; without one, of the transactions. */
static double duration_s(const struct explanation_json *writer)
{
    const struct wio_txn_findings *lost = wio_report_lost(writer->how);
    bool is_store = writer->explanation->info.events == 0 && lost != NULL;

    return is_store ? lost->duration_s : seconds(writer->explanation->duration_ns);
}

void wio_report_explain_json(const struct wio_explanation *explanation,
                             const struct wio_report_explain *how, FILE *out)
{
    struct explanation_json writer = {.explanation = explanation, .how = how};
    struct wio_json *json = &writer.json;

    wio_json_init(json, out);
    wio_json_object_begin(json, NULL);
    wio_json_string(json, "schema", "whyio.explain/1");
    wio_json_double(json, "duration_s", duration_s(&writer));
    wio_json_double(json, "begin_s", seconds(explanation->begin_ns));
    wio_json_u64(json, "ranks", explanation->info.ranks);
    wio_json_u64(json, "threads", explanation->info.threads);
    put_path_of_time(&writer);
    wio_json_string(json, "gain_basis", wio_gain_basis_name(explanation->gains.basis));
    wio_json_double(json, "predicted_s", explanation->gains.predicted_s);
    wio_json_double(json, "recorded_s", explanation->gains.recorded_s);
    put_page_cache(&writer);
    put_findings(&writer);
    wio_json_double(json, "waiting_s", seconds(explanation->waiting.total_ns));
    put_waiting(&writer);
    wio_report_transactions_json(how->transactions, json);
    put_table(&writer, "jobs", WIO_SPENT_JOB);
    put_table(&writer, "per_rank", WIO_SPENT_RANK);
    put_table(&writer, "files", WIO_SPENT_FILE);
    put_table(&writer, "directories", WIO_SPENT_DIRECTORY);
    put_table(&writer, "file_systems", WIO_SPENT_FS);
    put_table(&writer, "ops", WIO_SPENT_OP);
    put_notes(&writer);
    wio_json_object_end(json);
    wio_json_line(json);
}
