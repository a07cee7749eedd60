/* SPDX-License-Identifier: Apache-2.0 */
#include "render_predict.h"

#include <inttypes.h>
#include <math.h>

#include "base/text.h"

#define SCHEMA "whyio.predict/1"

void render_predict_init(struct render_predict *render, FILE *out, bool is_json)
{
    *render = (struct render_predict){.out = out, .is_json = is_json};
    wio_json_init(&render->json, out);
}

static void op_json(struct wio_json *json, uint64_t index, const struct wio_model_result *result)
{
    wio_json_object_begin(json, NULL);
    wio_json_string(json, "schema", SCHEMA);
    wio_json_u64(json, "i", index);
    wio_json_double(json, "cost_s", result->cost_s);
    wio_json_string(json, "state", wio_model_state_name(result->state));
    wio_json_double(json, "dirty_bytes", result->dirty_bytes);
    wio_json_double(json, "time_s", result->time_s);
    wio_json_object_end(json);
    wio_json_line(json);
}

/* Half a nanosecond is lost at most. */
static uint64_t to_ns(double seconds)
{
    return seconds < 1.8e10 ? (uint64_t)(seconds * 1e9 + 0.5) : UINT64_MAX;
}

static void op_text(struct render_predict *render, uint64_t index,
                    const struct wio_model_result *result)
{
    char cost[WIO_TEXT_MAX];
    char dirty[WIO_TEXT_MAX];
    if (!render->has_head) {
        (void)fprintf(render->out, "%10s  %10s  %-8s  %11s  %s\n", "operation", "cost", "state",
                      "dirty after", "time after, s");
        render->has_head = true;
    }
    (void)fprintf(render->out, "%10" PRIu64 "  %10s  %-8s  %11s  %.6f\n", index,
                  wio_format_time(cost, to_ns(result->cost_s)), wio_model_state_name(result->state),
                  wio_format_size(dirty, (uint64_t)result->dirty_bytes), result->time_s);
}

enum wio_status render_predict_op(void *arg, uint64_t index, const struct wio_model_result *result,
                                  struct wio_error *err)
{
    struct render_predict *render = arg;
    if (render->is_json) {
        op_json(&render->json, index, result);
    } else {
        op_text(render, index, result);
    }
    return ferror(render->out) ? wio_error_sys(err, NULL, "cannot write the result") : WIO_OK;
}

static uint64_t count_of(const struct wio_predict_op_time *ops, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += ops[i].count;
    }
    return sum;
}

/* On files: those whose cost a model said, those that HOST.json has, those that are as recorded. */
static uint64_t operations_of(const struct wio_predict_result *result)
{
    return result->all.ops + count_of(result->metadata, result->metadata_count) +
           count_of(result->kept, result->kept_count);
}

static void put_account(struct wio_json *json, const struct wio_predict_account *account)
{
    wio_json_double(json, "total_s", account->total_s);
    wio_json_double(json, "io_s", account->io_s);
    wio_json_double(json, "modelled_s", account->modelled_s);
    wio_json_double(json, "kept_s", account->kept_s);
    wio_json_double(json, "compute_s", account->compute_s);
    wio_json_double(json, "wait_s", account->wait_s);
    wio_json_double(json, "traced_s", account->traced_s);
    wio_json_double(json, "traced_io_s", account->traced_io_s);
    wio_json_u64(json, "ops", account->ops);
    wio_json_u64(json, "bytes_read", account->bytes_read);
    wio_json_u64(json, "bytes_written", account->bytes_written);
}

static void put_ops(struct wio_json *json, const char *name, const struct wio_predict_op_time *ops,
                    size_t count)
{
    wio_json_object_begin(json, name);
    for (size_t i = 0; i < count; i++) {
        wio_json_object_begin(json, ops[i].op);
        wio_json_u64(json, "count", ops[i].count);
        wio_json_double(json, "time_s", ops[i].time_s);
        wio_json_object_end(json);
    }
    wio_json_object_end(json);
}

static void put_range(struct wio_json *json, const struct render_predict_range *range)
{
    if (range->spread > 0) {
        wio_json_double(json, "total_low_s", range->low_s);
        wio_json_double(json, "total_high_s", range->high_s);
        wio_json_double(json, "io_low_s", range->io_low_s);
        wio_json_double(json, "io_high_s", range->io_high_s);
    } else {
        wio_json_null(json, "total_low_s");
        wio_json_null(json, "total_high_s");
        wio_json_null(json, "io_low_s");
        wio_json_null(json, "io_high_s");
    }
}

static void store_json(struct wio_json *json, const struct wio_predict_store *store)
{
    if (store->targets == 0) {
        wio_json_null(json, "store");
        return;
    }
    wio_json_object_begin(json, "store");
    wio_json_u64(json, "targets", store->targets);
    wio_json_u64(json, "requests", store->requests);
    wio_json_u64(json, "refused", store->refused);
    wio_json_u64(json, "again", store->again);
    wio_json_u64(json, "given_up", store->given_up);
    wio_json_double(json, "service_s", store->service_s);
    wio_json_object_end(json);
}

static void summary_json(struct wio_json *json, const struct render_predict_range *range,
                         const struct render_predict_set *set,
                         const struct wio_predict_result *result)
{
    wio_json_object_begin(json, NULL);
    wio_json_string(json, "schema", SCHEMA);
    wio_json_string(json, "model", wio_model_name(result->model));
    if (set == NULL) {
        wio_json_null(json, "set");
    } else {
        wio_json_object_begin(json, "set");
        wio_json_string(json, "key", set->key);
        wio_json_double(json, "value", set->value);
        wio_json_object_end(json);
    }
    put_account(json, &result->all);
    put_range(json, range);
    wio_json_u64(json, "operations", operations_of(result));
    wio_json_double(json, "dirty_bytes_max", result->dirty_bytes_max);
    wio_json_u64(json, "untied", result->untied);
    if (result->trust.is == WIO_HOST_TRUST_NOT_TOLD) {
        wio_json_null(json, "trusted");
    } else {
        wio_json_bool(json, "trusted", result->trust.is == WIO_HOST_TRUSTED);
    }
    store_json(json, &result->store);
    put_ops(json, "metadata", result->metadata, result->metadata_count);
    put_ops(json, "kept", result->kept, result->kept_count);
    wio_json_array_begin(json, "ranks");
    for (size_t i = 0; i < result->rank_count; i++) {
        wio_json_object_begin(json, NULL);
        if (result->ranks[i].rank < 0) {
            wio_json_null(json, "rank");
        } else {
            wio_json_i64(json, "rank", result->ranks[i].rank);
        }
        put_account(json, &result->ranks[i]);
        wio_json_object_end(json);
    }
    wio_json_array_end(json);
    wio_json_object_end(json);
    wio_json_line(json);
}

static void put_time(FILE *out, const char *name, double time_s)
{
    char text[WIO_TEXT_MAX];
    (void)fprintf(out, "%-12s %s\n", name, wio_format_time(text, to_ns(time_s)));
}

#define OPS_SHOWN 5

/* "as recorded  1.2 ms: open 1.0 ms (3), ..": the longest of them. */
static void put_part(FILE *out, const char *name, double time_s,
                     const struct wio_predict_op_time *ops, size_t count)
{
    char text[WIO_TEXT_MAX];
    char times[WIO_TEXT_MAX];
    (void)fprintf(out, "  %-10s %s", name, wio_format_time(text, to_ns(time_s)));
    for (size_t i = 0; i < count && i < OPS_SHOWN; i++) {
        (void)fprintf(out, "%s %s %s (%s)", i == 0 ? ":" : ",", ops[i].op,
                      wio_format_time(text, to_ns(ops[i].time_s)),
                      wio_format_count(times, ops[i].count));
    }
    (void)fprintf(out, "%s\n", count > OPS_SHOWN ? ", .." : "");
}

/* The parts of the I/O time: from the model, from metadata costs, and kept as recorded. */
static void parts_text(FILE *out, const struct wio_predict_result *result)
{
    double metadata_s = 0;
    for (size_t i = 0; i < result->metadata_count; i++) {
        metadata_s += result->metadata[i].time_s;
    }
    put_part(out, "modelled", result->all.modelled_s - metadata_s, NULL, 0);
    put_part(out, "metadata", metadata_s, result->metadata, result->metadata_count);
    put_part(out, "recorded", result->all.kept_s, result->kept, result->kept_count);
}

static void ranks_text(FILE *out, const struct wio_predict_result *result)
{
    (void)fprintf(out, "\n%5s  %10s  %10s  %10s  %10s  %10s  %s\n", "rank", "total", "I/O",
                  "computing", "waiting", "in trace", "modelled");
    for (size_t i = 0; i < result->rank_count; i++) {
        const struct wio_predict_account *rank = &result->ranks[i];
        char texts[6][WIO_TEXT_MAX];
        char name[WIO_TEXT_MAX] = "-";
        if (rank->rank >= 0) {
            (void)snprintf(name, sizeof(name), "%" PRId32, rank->rank);
        }
        (void)fprintf(out, "%5s  %10s  %10s  %10s  %10s  %10s  %s\n", name,
                      wio_format_time(texts[0], to_ns(rank->total_s)),
                      wio_format_time(texts[1], to_ns(rank->io_s)),
                      wio_format_time(texts[2], to_ns(rank->compute_s)),
                      wio_format_time(texts[3], to_ns(rank->wait_s)),
                      wio_format_time(texts[4], to_ns(rank->traced_s)),
                      wio_format_count(texts[5], rank->ops));
    }
}

/* How busy its targets were, and what was refused. */
static void store_text(FILE *out, const struct wio_predict_result *result)
{
    char texts[4][WIO_TEXT_MAX];
    const struct wio_predict_store *store = &result->store;
    const double there_s = result->all.total_s * store->targets;
    if (store->targets == 0) {
        return;
    }
    (void)fprintf(out, "store        %s requests, targets busy %.0f %%",
                  wio_format_count(texts[0], store->requests),
                  there_s > 0 ? 100 * store->service_s / there_s : 0);
    if (store->refused > 0 || store->given_up > 0) {
        (void)fprintf(out, "; %s refused, %s sent again, %s given up",
                      wio_format_count(texts[1], store->refused),
                      wio_format_count(texts[2], store->again),
                      wio_format_count(texts[3], store->given_up));
    }
    (void)fputc('\n', out);
}

#define MULTIPLE 1.5 /* from here on the I/O time follows bw_dev by a multiple */

/* What of the total hangs on how well the device's speed is known. */
static void range_text(FILE *out, const struct render_predict_range *range, double io_s)
{
    char texts[2][WIO_TEXT_MAX];
    if (!(range->spread > 0)) {
        return;
    }
    (void)fprintf(out, "  between    %s and %s, as bw_dev may be %.1f %% off",
                  wio_format_time(texts[0], to_ns(range->low_s)),
                  wio_format_time(texts[1], to_ns(range->high_s)), 100 * range->spread);
    double off = fmax(range->io_high_s - io_s, io_s - range->io_low_s);
    double multiple = io_s > 0 ? off / io_s / range->spread : 0;
    if (multiple >= MULTIPLE) {
        (void)fprintf(out, ": I/O follows it %.1f times", multiple);
    }
    (void)fputc('\n', out);
}

static void summary_text(FILE *out, const struct render_predict_range *range,
                         const struct wio_predict_result *result)
{
    char text[WIO_TEXT_MAX];
    const struct wio_predict_account *all = &result->all;
    bool is_trace = !isnan(all->traced_s);
    (void)fprintf(out, "model        %s\n", wio_model_name(result->model));
    (void)fprintf(out, "operations   %s", wio_format_count(text, operations_of(result)));
    if (operations_of(result) != all->ops) {
        (void)fprintf(out, ", %s of them modelled", wio_format_count(text, all->ops));
    }
    (void)fputc('\n', out);
    (void)fprintf(out, "written      %s\n", wio_format_size(text, all->bytes_written));
    (void)fprintf(out, "read         %s\n", wio_format_size(text, all->bytes_read));
    (void)fprintf(out, "most dirty   %s\n",
                  wio_format_size(text, (uint64_t)result->dirty_bytes_max));
    put_time(out, "computing", all->compute_s);
    if (is_trace) {
        put_time(out, "waiting", all->wait_s);
    }
    if (result->untied > 0) {
        (void)fprintf(out, "deadlocks    %s broken\n", wio_format_count(text, result->untied));
    }
    put_time(out, "I/O", all->io_s);
    if (is_trace) {
        parts_text(out, result);
        store_text(out, result);
    }
    put_time(out, "total", all->total_s);
    range_text(out, range, all->io_s);
    if (is_trace) {
        put_time(out, "in the trace", all->traced_s);
        ranks_text(out, result);
    }
}

void render_predict_summary(struct render_predict *render, const struct wio_predict_result *result)
{
    if (render->is_json) {
        summary_json(&render->json, &render->range, NULL, result);
        return;
    }
    if (render->has_head) {
        (void)fputc('\n', render->out);
    }
    summary_text(render->out, &render->range, result);
}

void render_predict_row(struct render_predict *render, const struct render_predict_set *set,
                        const struct wio_predict_result *result)
{
    const struct wio_predict_account *all = &result->all;
    char texts[5][WIO_TEXT_MAX];
    if (render->is_json) {
        summary_json(&render->json, &render->range, set, result);
        return;
    }
    if (!render->has_head) {
        (void)fprintf(render->out, "%-16s  %10s  %10s  %10s  %10s  %10s\n", set->key, "total",
                      "I/O", "computing", "waiting", "most dirty");
        render->has_head = true;
    }
    (void)fprintf(render->out, "%-16s  %10s  %10s  %10s  %10s  %10s\n", set->text,
                  wio_format_time(texts[0], to_ns(all->total_s)),
                  wio_format_time(texts[1], to_ns(all->io_s)),
                  wio_format_time(texts[2], to_ns(all->compute_s)),
                  wio_format_time(texts[3], to_ns(all->wait_s)),
                  wio_format_size(texts[4], (uint64_t)result->dirty_bytes_max));
}
