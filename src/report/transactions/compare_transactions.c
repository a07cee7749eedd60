/* SPDX-License-Identifier: Apache-2.0 */
#include "report/transactions/compare_transactions.h"

#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "report/transactions/transactions.h"

#define LEAST_SHARE 0.01

static double duration_s(const struct wio_txn_side *side)
{
    return side->aborts == NULL ? 0 : side->lost->duration_s;
}

static const struct wio_abort_totals *totals_of(const struct wio_txn_side *side)
{
    static const struct wio_abort_totals none = {0};
    return side->aborts == NULL ? &none : &side->aborts->totals;
}

/* Where it is now; of one that is gone, where it was. */
static const struct wio_txn_finding *finding_of(const struct wio_report_txn_runs *runs,
                                                const struct wio_txn_change *change,
                                                const struct wio_aborts **aborts_out)
{
    bool is_in_b = change->b != WIO_NO_TXN_FINDING;
    const struct wio_txn_side *side = is_in_b ? &runs->b : &runs->a;
    *aborts_out = side->aborts;
    return &side->lost->items[is_in_b ? change->b : change->a];
}

static const char *word_of(const struct wio_txn_change *change)
{
    if (change->a == WIO_NO_TXN_FINDING) {
        return "new";
    }
    if (change->b == WIO_NO_TXN_FINDING) {
        return "gone";
    }
    return change->b_s > change->a_s ? "grew" : "shrank";
}

/* ---- text ---- */

static const char *side_text(char *text, double seconds)
{
    return seconds > 0 ? wio_format_time(text, (uint64_t)(seconds * 1e9)) : "-";
}

static void put_totals(const struct wio_report_txn_runs *runs, FILE *out)
{
    const struct wio_abort_totals *a = totals_of(&runs->a);
    const struct wio_abort_totals *b = totals_of(&runs->b);
    char text[2][WIO_TEXT_MAX];
    const struct {
        const char *name;
        uint64_t a;
        uint64_t b;
    } rows[] = {{"committed", a->committed, b->committed},
                {"aborted by servers", a->aborts, b->aborts},
                {"of these deadlocks", a->deadlocks, b->deadlocks},
                {"refused by a busy server", a->by_refusal[WIO_REFUSAL_BUSY],
                 b->by_refusal[WIO_REFUSAL_BUSY]}};
    (void)fprintf(out, "\n%9s %9s  transactions\n", "a", "b");
    (void)fprintf(out, "%9s %9s  run\n", side_text(text[0], duration_s(&runs->a)),
                  side_text(text[1], duration_s(&runs->b)));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        (void)fprintf(out, "%9s %9s  %s\n", wio_format_count(text[0], rows[i].a),
                      wio_format_count(text[1], rows[i].b), rows[i].name);
    }
}

static void put_change(const struct wio_report_txn_runs *runs, const struct wio_txn_change *change,
                       FILE *out)
{
    char text[3][WIO_TEXT_MAX];
    const struct wio_aborts *aborts = NULL;
    const struct wio_txn_finding *finding = finding_of(runs, change, &aborts);
    double more_s = change->b_s - change->a_s;
    char more[WIO_TEXT_MAX + 1];
    (void)snprintf(more, sizeof(more), "%c%s", more_s < 0 ? '-' : '+',
                   wio_format_time(text[2], (uint64_t)(fabs(more_s) * 1e9)));
    (void)fprintf(out, "%9s %9s %9s  %-6s  %s  ", side_text(text[0], change->a_s),
                  side_text(text[1], change->b_s), more, word_of(change),
                  wio_loss_words(finding->loss)->title);
    wio_report_txn_source(aborts, finding->victim, out);
    if (finding->loss <= WIO_LOSS_THINK) {
        (void)fputs(" by ", out);
        wio_report_txn_source(aborts, finding->blocker, out);
    }
    (void)fputc('\n', out);
}

void wio_report_txn_runs_text(const struct wio_report_txn_runs *runs, size_t top, FILE *out)
{
    double least_s = LEAST_SHARE * fmax(duration_s(&runs->a), duration_s(&runs->b));
    size_t shown = 0;
    if (runs->a.aborts == NULL && runs->b.aborts == NULL) {
        return;
    }
    put_totals(runs, out);
    for (uint32_t i = 0; i < runs->changes.count && (top == 0 || shown < top); i++) {
        const struct wio_txn_change *change = &runs->changes.items[i];
        if (fabs(change->b_s - change->a_s) < least_s) {
            break;
        }
        if (shown++ == 0) {
            (void)fprintf(out, "\n%9s %9s %9s  why, of transactions\n", "time a", "time b",
                          "b - a");
        }
        put_change(runs, change, out);
    }
}

/* ---- JSON ---- */

static void put_side(struct wio_json *json, const char *key, const struct wio_txn_side *side)
{
    const struct wio_abort_totals *totals = totals_of(side);
    if (side->aborts == NULL) {
        wio_json_null(json, key);
        return;
    }
    wio_json_object_begin(json, key);
    wio_json_double(json, "duration_s", side->lost->duration_s);
    wio_json_u64(json, "committed", totals->committed);
    wio_json_u64(json, "aborted", totals->aborts);
    wio_json_u64(json, "deadlocks", totals->deadlocks);
    wio_json_u64(json, "busy", totals->by_refusal[WIO_REFUSAL_BUSY]);
    wio_json_double(json, "wasted_s", totals->wasted_s);
    wio_json_double(json, "lock_wait_s", totals->wait_s);
    wio_json_object_end(json);
}

static void put_counts(struct wio_json *json, const char *key, const struct wio_txn_side *side,
                       uint32_t at)
{
    if (at == WIO_NO_TXN_FINDING) {
        wio_json_null(json, key);
        return;
    }
    wio_json_object_begin(json, key);
    wio_json_u64(json, "aborts", side->lost->items[at].aborts);
    wio_json_u64(json, "waits", side->lost->items[at].waits);
    wio_json_double(json, "lost_s", side->lost->items[at].lost_s);
    wio_json_object_end(json);
}

static void put_change_json(const struct wio_report_txn_runs *runs,
                            const struct wio_txn_change *change, struct wio_json *json)
{
    const struct wio_aborts *aborts = NULL;
    const struct wio_txn_finding *finding = finding_of(runs, change, &aborts);
    wio_json_object_begin(json, NULL);
    wio_json_string(json, "kind", wio_loss_words(finding->loss)->kind);
    wio_json_bool(json, "general", wio_loss_words(finding->loss)->is_general);
    wio_json_string(json, "change", word_of(change));
    wio_json_double(json, "a_s", change->a_s);
    wio_json_double(json, "b_s", change->b_s);
    wio_json_double(json, "change_s", change->b_s - change->a_s);
    wio_report_txn_source_json(json, "victim", aborts, finding->victim);
    wio_report_txn_source_json(json, "blocker", aborts, finding->blocker);
    put_counts(json, "a", &runs->a, change->a);
    put_counts(json, "b", &runs->b, change->b);
    wio_json_object_end(json);
}

void wio_report_txn_runs_json(const struct wio_report_txn_runs *runs, struct wio_json *json)
{
    if (runs->a.aborts == NULL && runs->b.aborts == NULL) {
        wio_json_null(json, "transactions");
    } else {
        wio_json_object_begin(json, "transactions");
        put_side(json, "a", &runs->a);
        put_side(json, "b", &runs->b);
        wio_json_object_end(json);
    }
    wio_json_array_begin(json, "transaction_causes");
    for (uint32_t i = 0; i < runs->changes.count; i++) {
        put_change_json(runs, &runs->changes.items[i], json);
    }
    wio_json_array_end(json);
}
