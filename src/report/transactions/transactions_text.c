/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "explain/aborts/cure.h"
#include "report/line.h"
#include "report/transactions/transactions.h"

#define PAIRS_SHOWN 10u

/* "1 abort", "1,840 aborts" */
static const char *counted(char *text, size_t size, uint64_t count, const char *word)
{
    char number[WIO_TEXT_MAX];
    (void)snprintf(text, size, "%s %s%s", wio_format_count(number, count), word,
                   count == 1 ? "" : "s");
    return text;
}

static void put_totals(const struct wio_aborts *aborts, FILE *out)
{
    const struct wio_abort_totals *totals = &aborts->totals;
    char text[5][WIO_TEXT_MAX];
    (void)fprintf(
        out,
        "\nTransactions: %s committed; attempts aborted: %s by servers, %s by clients alone.\n",
        wio_format_count(text[0], totals->committed), wio_format_count(text[1], totals->aborts),
        wio_format_count(text[2], totals->given_up));
    (void)fprintf(out,
                  "  refused by locks %s, wounded %s, server busy %s, no answer in time %s; "
                  "deadlocks %s\n",
                  wio_format_count(text[0], totals->by_refusal[WIO_REFUSAL_LOCK]),
                  wio_format_count(text[1], totals->by_refusal[WIO_REFUSAL_WOUND]),
                  wio_format_count(text[2], totals->by_refusal[WIO_REFUSAL_BUSY]),
                  wio_format_count(text[3], totals->by_refusal[WIO_REFUSAL_SILENT]),
                  wio_format_count(text[4], totals->deadlocks));
    (void)fprintf(out, "  thrown away: %s of clients, %s of servers, %s; waited for locks: %s\n",
                  wio_format_time(text[0], (uint64_t)(totals->wasted_s * 1e9)),
                  wio_format_time(text[1], (uint64_t)(totals->used_s * 1e9)),
                  wio_format_size(text[2], totals->wasted_bytes),
                  wio_format_time(text[3], (uint64_t)(totals->wait_s * 1e9)));
}

static void put_conflicts(const struct wio_exact_pair *pair, FILE *out)
{
    uint64_t sum = 0;
    const char *between = "";
    for (unsigned kind = 0; kind < WIO_CONFLICTS; kind++) {
        sum += pair->by_conflict[kind];
    }
    for (unsigned kind = 0; kind < WIO_CONFLICTS && sum > 0; kind++) {
        if (pair->by_conflict[kind] > 0) {
            (void)fprintf(out, "%s%.0f %% %s", between,
                          100 * (double)pair->by_conflict[kind] / (double)sum,
                          wio_conflict_name((enum wio_conflict)kind));
            between = ", ";
        }
    }
}

static void put_pair_details(const struct wio_aborts *aborts, const struct wio_exact_pair *pair,
                             FILE *out)
{
    char text[3][WIO_TEXT_MAX];
    char name[64];
    (void)fprintf(out, "       at %s: %s, %s",
                  wio_report_store_server(aborts, pair->server, name, sizeof(name)),
                  counted(text[0], sizeof(text[0]), pair->aborts, "abort"),
                  counted(text[1], sizeof(text[1]), pair->waits, "wait"));
    if (pair->waits > 0) {
        (void)fprintf(out, " of %s in all",
                      wio_format_time(text[2], (uint64_t)(pair->wait_s * 1e9)));
    }
    (void)fputs("; ", out);
    put_conflicts(pair, out);
    (void)fprintf(out,
                  "\n       such as bytes %" PRIu64 " to %" PRIu64 " of segment %" PRIu32 " of ",
                  pair->example.from, pair->example.to, pair->example.segment & ~(3u << 30));
    wio_print_plain(out, wio_report_parafile(aborts, pair->example.file, name, sizeof(name)));
    if (pair->think_s > 0) {
        (void)fprintf(out, "; for %s the blocker had no request at a server",
                      wio_format_time(text[0], (uint64_t)(pair->think_s * 1e9)));
    }
    (void)fputc('\n', out);
    if (pair->chain_max > 1) {
        (void)fprintf(out, "       chains of up to %" PRIu32 ", which end at ", pair->chain_max);
        wio_report_txn_source(aborts, pair->chain_root, out);
        (void)fputc('\n', out);
    }
    const struct wio_loss_words *words = wio_loss_words(wio_loss_of(pair));
    (void)fprintf(out, "       %s: %s\n", words->cure, words->change);
}

static void put_pairs(const struct wio_aborts *aborts, bool is_all, FILE *out)
{
    char text[WIO_TEXT_MAX];
    uint32_t count = aborts->exact.pair_count;
    uint32_t shown = is_all || count < PAIRS_SHOWN ? count : PAIRS_SHOWN;
    for (uint32_t i = 0; i < shown; i++) {
        const struct wio_exact_pair *pair = &aborts->exact.pairs[i];
        (void)fprintf(out, "\n  %2" PRIu32 "  %s  ", i + 1,
                      wio_format_time(text, (uint64_t)((pair->wasted_s + pair->wait_s) * 1e9)));
        wio_report_txn_source(aborts, pair->victim, out);
        (void)fputs("\n       blocked by ", out);
        wio_report_txn_source(aborts, pair->blocker, out);
        (void)fputc('\n', out);
        put_pair_details(aborts, pair, out);
    }
    if (shown < count) {
        (void)fprintf(out, "\n  %" PRIu32 " further pairs: --all\n", count - shown);
    }
}

static void put_contention(const struct wio_aborts *aborts, bool is_all, FILE *out)
{
    uint32_t count = aborts->exact.contention_count;
    uint32_t shown = is_all || count < PAIRS_SHOWN ? count : PAIRS_SHOWN;
    char text[WIO_TEXT_MAX];
    char name[64];
    (void)fputs("\nWhere the time of requests went, by server:\n"
                "  requests     queue      lock   storage   served   network  server, line\n",
                out);
    for (uint32_t i = 0; i < shown; i++) {
        const struct wio_exact_contention *row = &aborts->exact.contention[i];
        const double parts[] = {row->queue_s, row->lock_s, row->storage_s, row->run_s,
                                row->network_s};
        (void)fprintf(out, "  %8s", wio_format_count(text, row->requests));
        for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++) {
            (void)fprintf(out, " %9s", wio_format_time(text, (uint64_t)(parts[k] * 1e9)));
        }
        (void)fprintf(out, "  %s  ",
                      wio_report_store_server(aborts, row->server, name, sizeof(name)));
        wio_report_txn_source(aborts, row->source, out);
        (void)fputc('\n', out);
    }
    if (shown < count) {
        (void)fprintf(out, "  %" PRIu32 " further rows: --all\n", count - shown);
    }
}

/* What the classic analysis cannot tell apart. */
static void put_innocent(const struct wio_aborts *aborts, FILE *out)
{
    const struct wio_classic *classic = &aborts->classic;
    if (classic->judged == 0) {
        return;
    }
    (void)fprintf(out,
                  "\nThe classic analysis (--classic) names %.1f transactions an abort; %.0f %% of "
                  "them did not block it.\n",
                  (double)classic->named / (double)classic->aborts,
                  100 * (double)classic->innocent / (double)classic->judged);
}

static void put_missing(const struct wio_aborts *aborts, FILE *out)
{
    char text[WIO_TEXT_MAX];
    if (aborts->totals.open > 0) {
        (void)fprintf(out, "%s attempts never ended in the trace and are not counted.\n",
                      wio_format_count(text, aborts->totals.open));
    }
    if (aborts->classic.left_out > 0) {
        (void)fprintf(out, "%s aborts are in no table of --classic: there were too many kinds.\n",
                      wio_format_count(text, aborts->classic.left_out));
    }
    if (aborts->totals.forgotten > 0) {
        (void)fprintf(out, "%s attempts were too many to keep: explanations may lack them.\n",
                      wio_format_count(text, aborts->totals.forgotten));
    }
}

/* The change of layout, granularity or order with the fewest aborts; of equal ones the least
 * waiting. Nothing is said where none is better. */
static void put_best(const struct wio_candidates *candidates, FILE *out)
{
    char text[2][WIO_TEXT_MAX];
    uint32_t best = 0;
    for (uint32_t i = 1; i < candidates->count; i++) {
        const struct wio_whatif_result *least = &candidates->rows[best].result;
        const struct wio_whatif_result *at = &candidates->rows[i].result;
        bool is_less = at->aborts < least->aborts ||
                       (at->aborts == least->aborts && at->wait_s < 0.9 * least->wait_s);
        bool is_policy = candidates->rows[i].change.policy != WIO_LOCK_WOUND_WAIT ||
                         i == WIO_CANDIDATE_APART || i == WIO_CANDIDATE_STORAGE_FREE;
        bool is_whole = !at->is_cut && at->requests_cut == 0;
        best = !is_policy && is_whole && is_less ? i : best;
    }
    if (best != 0) {
        (void)fprintf(out, "  best: %s, %s instead of %s aborts (predicted)\n",
                      candidates->rows[best].name,
                      wio_format_count(text[0], candidates->rows[best].result.aborts),
                      wio_format_count(text[1], candidates->rows[0].result.aborts));
    }
}

/* With a layout that is too fine for its requests a result is of a part of them. */
static void put_cut(const struct wio_candidates *candidates, FILE *out)
{
    char text[2][WIO_TEXT_MAX];
    for (uint32_t i = 0; i < candidates->count; i++) {
        const struct wio_candidate *row = &candidates->rows[i];
        if (row->result.requests_cut > 0) {
            (void)fprintf(out,
                          "  %s: %s requests have more than %s runs there; the rest is left out\n",
                          row->name, wio_format_count(text[0], row->result.requests_cut),
                          wio_format_count(text[1], WIO_WHATIF_PIECES));
        }
    }
}

static void put_candidates(const struct wio_aborts *aborts, const struct wio_candidates *candidates,
                           FILE *out)
{
    char text[4][WIO_TEXT_MAX];
    (void)fprintf(out,
                  "\nWhat would change it: %s committed transactions run again through the lock "
                  "manager:\n    aborts     waits    waited      time  change\n",
                  wio_format_count(text[0], candidates->rows[0].result.transactions));
    for (uint32_t i = 0; i < candidates->count; i++) {
        const struct wio_candidate *row = &candidates->rows[i];
        const struct wio_whatif_result *result = &row->result;
        if (result->is_cut) {
            (void)fprintf(out, "  %8s %9s %9s %9s  %s: no end of aborts\n", "-", "-", "-", "-",
                          row->name);
            continue;
        }
        (void)fprintf(out, "  %8s %9s %9s %9s  %s\n", wio_format_count(text[0], result->aborts),
                      wio_format_count(text[1], result->waits),
                      wio_format_time(text[2], (uint64_t)(result->wait_s * 1e9)),
                      wio_format_time(text[3], (uint64_t)(result->duration_s * 1e9)), row->name);
    }
    put_best(candidates, out);
    put_cut(candidates, out);
    if (aborts->replays.left_out > 0) {
        (void)fprintf(out, "  %s later transactions are not in this\n",
                      wio_format_count(text[0], aborts->replays.left_out));
    }
}

void wio_report_transactions_text(const struct wio_report_transactions *transactions, bool is_all,
                                  FILE *out)
{
    const struct wio_aborts *aborts = transactions->aborts;
    put_totals(aborts, out);
    put_pairs(aborts, is_all, out);
    wio_report_exact_tables_text(aborts, transactions->tables, is_all, out);
    wio_report_blame_text(aborts, transactions->lost, out);
    if (aborts->exact.contention_count > 0) {
        put_contention(aborts, is_all, out);
    }
    bool is_lost = aborts->totals.aborts > 0 || aborts->exact.pair_count > 0;
    if (transactions->candidates->count > 0 && is_lost) {
        put_candidates(aborts, transactions->candidates, out);
    }
    put_innocent(aborts, out);
    put_missing(aborts, out);
}

/* ---- classic ---- */

static void put_cell(const struct wio_classic_column *cell, FILE *out)
{
    char text[WIO_TEXT_MAX];
    char word[64] = "light";
    if (cell != NULL && cell->aborts[WIO_CELL_SHADED] > 0) {
        (void)snprintf(word, sizeof(word), "shaded %s",
                       wio_format_count(text, cell->aborts[WIO_CELL_SHADED]));
    } else if (cell != NULL) {
        (void)snprintf(word, sizeof(word), "dark %s",
                       wio_format_count(text, cell->aborts[WIO_CELL_DARK]));
    }
    (void)fprintf(out, " %14s", word);
}

static const struct wio_classic_column *find_cell(const struct wio_classic_table *table,
                                                  uint32_t source, uint32_t server)
{
    for (uint32_t i = 0; i < table->cell_count; i++) {
        if (table->cells[i].source == source && table->cells[i].server == server) {
            return &table->cells[i];
        }
    }
    return NULL;
}

static void put_table(const struct wio_aborts *aborts, const struct wio_classic_table *table,
                      FILE *out)
{
    char text[WIO_TEXT_MAX];
    char name[64];
    uint32_t servers = aborts->attempts.server_count;
    (void)fprintf(out, "\n%s of ", counted(text, sizeof(text), table->aborts, "abort"));
    wio_report_txn_source(aborts, table->victim, out);
    (void)fprintf(out, ", refused by %" PRIu32 " server%s each\n", table->refused,
                  table->refused == 1 ? "" : "s");
    for (uint32_t server = 0; server < servers; server++) {
        const char *whole = wio_report_store_server(aborts, server, name, sizeof(name));
        size_t bytes = strlen(whole);
        (void)fprintf(out, " %14s", bytes > 14 ? whole + bytes - 14 : whole); /* ends differ */
    }
    (void)fputs("  active there\n", out);
    for (uint32_t i = 0; i < table->source_count; i++) {
        for (uint32_t server = 0; server < servers; server++) {
            put_cell(find_cell(table, table->sources[i], server), out);
        }
        (void)fputs("  ", out);
        wio_report_txn_source(aborts, table->sources[i], out);
        (void)fputc('\n', out);
    }
    if (table->source_count == 0) {
        (void)fputs("  no other transaction was active there\n", out);
    }
}

void wio_report_classic_text(const struct wio_aborts *aborts, bool is_all, FILE *out)
{
    uint32_t count = aborts->classic.count;
    uint32_t shown = is_all || count < PAIRS_SHOWN ? count : PAIRS_SHOWN;
    put_totals(aborts, out);
    (void)fputs(
        "\nshaded: data access conflict (bytes overlap); dark: server contention (active, no "
        "overlap); light: not active there.\nNumbers: in how many of the aborts.\n",
        out);
    for (uint32_t i = 0; i < shown; i++) {
        put_table(aborts, &aborts->classic.tables[i], out);
    }
    if (shown < count) {
        (void)fprintf(out, "\n%" PRIu32 " further tables: --all\n", count - shown);
    }
    put_innocent(aborts, out);
    put_missing(aborts, out);
}
