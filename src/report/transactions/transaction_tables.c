/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of sources and servers by what was recorded, and the matrix of which line blames which. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/line.h"
#include "report/transactions/transactions.h"

#define TABLES_SHOWN 5u
#define COLUMN 14
#define BLAMED_SHOWN 6u

static void put_server_names(const struct wio_aborts *aborts, FILE *out)
{
    char name[64];
    for (uint32_t server = 0; server < aborts->attempts.server_count; server++) {
        const char *whole = wio_report_store_server(aborts, server, name, sizeof(name));
        size_t bytes = strlen(whole);
        (void)fprintf(out, " %*s", COLUMN, bytes > COLUMN ? whole + bytes - COLUMN : whole);
    }
}

static void put_cell(const struct wio_exact_cell *cell, FILE *out)
{
    char text[WIO_TEXT_MAX];
    char word[64] = "light";
    if (cell != NULL) {
        (void)snprintf(word, sizeof(word), "%s %s", wio_cell_mark_name(cell->mark),
                       wio_format_count(text, cell->aborts + cell->waits));
    }
    (void)fprintf(out, " %*s", COLUMN, word);
}

/* The cells of one source, which come by server. */
static uint32_t put_row(const struct wio_aborts *aborts, const struct wio_exact_table *table,
                        uint32_t first, FILE *out)
{
    uint32_t at = first;
    uint32_t source = table->cells[first].source;
    for (uint32_t server = 0; server < aborts->attempts.server_count; server++) {
        bool is_there = at < table->count && table->cells[at].source == source &&
                        table->cells[at].server == server;
        put_cell(is_there ? &table->cells[at] : NULL, out);
        at += is_there;
    }
    (void)fputs("  ", out);
    if (source == WIO_SERVER_ITSELF) {
        (void)fputs("the server itself", out);
    } else {
        wio_report_txn_source(aborts, source, out);
    }
    (void)fputc('\n', out);
    return at > first ? at : first + 1;
}

static void put_table(const struct wio_aborts *aborts, const struct wio_exact_table *table,
                      FILE *out)
{
    char text[3][WIO_TEXT_MAX];
    (void)fprintf(out, "\n  %s lost by ",
                  wio_format_time(text[0], (uint64_t)(table->seconds * 1e9)));
    wio_report_txn_source(aborts, table->victim, out);
    (void)fprintf(out, ": %s abort%s, %s wait%s\n", wio_format_count(text[1], table->aborts),
                  table->aborts == 1 ? "" : "s", wio_format_count(text[2], table->waits),
                  table->waits == 1 ? "" : "s");
    put_server_names(aborts, out);
    (void)fputs("  in the way there\n", out);
    for (uint32_t i = 0; i < table->count;) {
        i = put_row(aborts, table, i, out);
    }
}

void wio_report_exact_tables_text(const struct wio_aborts *aborts,
                                  const struct wio_exact_tables *tables, bool is_all, FILE *out)
{
    uint32_t shown = is_all || tables->count < TABLES_SHOWN ? tables->count : TABLES_SHOWN;
    if (tables->count == 0) {
        return;
    }
    (void)fputs(
        "\nWhat stood in the way, by server (shaded: a data access conflict; hatched: bytes "
        "that were locked\nand never touched; queued: requests that came first; deadlock; "
        "dark: a busy server; light: never there):\n",
        out);
    for (uint32_t i = 0; i < shown; i++) {
        put_table(aborts, &tables->tables[i], out);
    }
    if (shown < tables->count) {
        (void)fprintf(out, "\n  %" PRIu32 " further tables: --all\n", tables->count - shown);
    }
}

/* ---- blame ---- */

static bool is_pair(const struct wio_txn_finding *finding)
{
    return finding->loss <= WIO_LOSS_THINK;
}

/* Blockers in the order of findings, each once: at most `most`. */
static uint32_t find_blamed(const struct wio_txn_findings *lost, uint32_t *blamed, uint32_t most)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < lost->count && count < most; i++) {
        uint32_t k = 0;
        while (k < count && blamed[k] != lost->items[i].blocker) {
            k++;
        }
        if (is_pair(&lost->items[i]) && k == count) {
            blamed[count++] = lost->items[i].blocker;
        }
    }
    return count;
}

static const struct wio_txn_finding *find_pair(const struct wio_txn_findings *lost, uint32_t victim,
                                               uint32_t blocker)
{
    for (uint32_t i = 0; i < lost->count; i++) {
        const struct wio_txn_finding *finding = &lost->items[i];
        if (is_pair(finding) && finding->victim == victim && finding->blocker == blocker) {
            return finding;
        }
    }
    return NULL;
}

static bool is_first_of_victim(const struct wio_txn_findings *lost, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++) {
        if (is_pair(&lost->items[i]) && lost->items[i].victim == lost->items[at].victim) {
            return false;
        }
    }
    return is_pair(&lost->items[at]);
}

static void put_victim(const struct wio_aborts *aborts, const struct wio_txn_findings *lost,
                       uint32_t victim, const uint32_t *blamed, uint32_t count, FILE *out)
{
    char text[WIO_TEXT_MAX];
    for (uint32_t i = 0; i < count; i++) {
        const struct wio_txn_finding *finding = find_pair(lost, victim, blamed[i]);
        (void)fprintf(out, " %9s",
                      finding == NULL ? "-"
                                      : wio_format_time(text, (uint64_t)(finding->lost_s * 1e9)));
    }
    (void)fputs("  ", out);
    wio_report_txn_source(aborts, victim, out);
    (void)fputc('\n', out);
}

void wio_report_blame_text(const struct wio_aborts *aborts, const struct wio_txn_findings *lost,
                           FILE *out)
{
    uint32_t blamed[BLAMED_SHOWN];
    uint32_t count = find_blamed(lost, blamed, BLAMED_SHOWN);
    uint32_t rows = 0;
    if (count == 0) {
        return;
    }
    (void)fputs("\nWhich line lost time to which:\n", out);
    for (uint32_t i = 0; i < count; i++) {
        (void)fprintf(out, "   (%" PRIu32 ") ", i + 1);
        wio_report_txn_source(aborts, blamed[i], out);
        (void)fputc('\n', out);
    }
    for (uint32_t i = 0; i < count; i++) {
        (void)fprintf(out, "       (%" PRIu32 ")", i + 1);
    }
    (void)fputs("  lost by\n", out);
    for (uint32_t i = 0; i < lost->count && rows < 2 * BLAMED_SHOWN; i++) {
        if (is_first_of_victim(lost, i)) {
            put_victim(aborts, lost, lost->items[i].victim, blamed, count, out);
            rows++;
        }
    }
}

/* ---- JSON ---- */

static void put_exact_cell(struct wio_json *json, const struct wio_aborts *aborts,
                           const struct wio_exact_cell *cell)
{
    char text[64];
    wio_json_object_begin(json, NULL);
    wio_report_txn_source_json(json, "source", aborts,
                               cell->source == WIO_SERVER_ITSELF ? WIO_NO_SOURCE : cell->source);
    wio_json_u64(json, "server", wio_attempts_server(&aborts->attempts, cell->server));
    wio_json_string(json, "server_name",
                    wio_report_store_server(aborts, cell->server, text, sizeof(text)));
    wio_json_string(json, "mark", wio_cell_mark_name(cell->mark));
    wio_json_u64(json, "aborts", cell->aborts);
    wio_json_u64(json, "waits", cell->waits);
    wio_json_double(json, "lost_s", cell->seconds);
    wio_json_object_end(json);
}

void wio_report_exact_tables_json(const struct wio_aborts *aborts,
                                  const struct wio_exact_tables *tables, struct wio_json *json)
{
    wio_json_array_begin(json, "tables");
    for (uint32_t i = 0; i < tables->count; i++) {
        const struct wio_exact_table *table = &tables->tables[i];
        wio_json_object_begin(json, NULL);
        wio_report_txn_source_json(json, "victim", aborts, table->victim);
        wio_json_double(json, "lost_s", table->seconds);
        wio_json_u64(json, "aborts", table->aborts);
        wio_json_u64(json, "waits", table->waits);
        wio_json_array_begin(json, "cells");
        for (uint32_t k = 0; k < table->count; k++) {
            put_exact_cell(json, aborts, &table->cells[k]);
        }
        wio_json_array_end(json);
        wio_json_object_end(json);
    }
    wio_json_array_end(json);
}

void wio_report_blame_json(const struct wio_aborts *aborts, const struct wio_txn_findings *lost,
                           struct wio_json *json)
{
    wio_json_array_begin(json, "blame");
    for (uint32_t i = 0; i < lost->count; i++) {
        const struct wio_txn_finding *finding = &lost->items[i];
        if (is_pair(finding)) {
            wio_json_object_begin(json, NULL);
            wio_report_txn_source_json(json, "victim", aborts, finding->victim);
            wio_report_txn_source_json(json, "blocker", aborts, finding->blocker);
            wio_json_double(json, "lost_s", finding->lost_s);
            wio_json_double(json, "passed_s", finding->passed_s);
            wio_json_u64(json, "aborts", finding->aborts);
            wio_json_u64(json, "waits", finding->waits);
            wio_json_object_end(json);
        }
    }
    wio_json_array_end(json);
}
