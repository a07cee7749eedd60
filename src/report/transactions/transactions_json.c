/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/aborts/cure.h"
#include "report/transactions/transactions.h"

static void put_server(struct wio_json *json, const struct wio_aborts *aborts, uint32_t server)
{
    char text[64];
    wio_json_u64(json, "server", wio_attempts_server(&aborts->attempts, server));
    wio_json_string(json, "server_name",
                    wio_report_store_server(aborts, server, text, sizeof(text)));
}

static void put_totals(struct wio_json *json, const struct wio_abort_totals *totals)
{
    wio_json_object_begin(json, "transactions");
    wio_json_u64(json, "committed", totals->committed);
    wio_json_u64(json, "aborted", totals->aborts);
    wio_json_u64(json, "given_up", totals->given_up);
    wio_json_u64(json, "deadlocks", totals->deadlocks);
    wio_json_u64(json, "refused_by_locks", totals->by_refusal[WIO_REFUSAL_LOCK]);
    wio_json_u64(json, "wounded", totals->by_refusal[WIO_REFUSAL_WOUND]);
    wio_json_u64(json, "busy", totals->by_refusal[WIO_REFUSAL_BUSY]);
    wio_json_u64(json, "no_answer", totals->by_refusal[WIO_REFUSAL_SILENT]);
    wio_json_double(json, "wasted_s", totals->wasted_s);
    wio_json_u64(json, "wasted_bytes", totals->wasted_bytes);
    wio_json_double(json, "wasted_server_s", totals->used_s);
    wio_json_double(json, "lock_wait_s", totals->wait_s);
    wio_json_u64(json, "open", totals->open);
    wio_json_u64(json, "forgotten", totals->forgotten);
    wio_json_object_end(json);
}

static void put_pair(struct wio_json *json, const struct wio_aborts *aborts,
                     const struct wio_exact_pair *pair)
{
    wio_json_object_begin(json, NULL);
    wio_report_txn_source_json(json, "victim", aborts, pair->victim);
    wio_report_txn_source_json(json, "blocker", aborts, pair->blocker);
    put_server(json, aborts, pair->server);
    wio_json_double(json, "seconds", pair->wasted_s + pair->wait_s);
    wio_json_u64(json, "aborts", pair->aborts);
    wio_json_u64(json, "deadlocks", pair->deadlocks);
    wio_json_double(json, "wasted_s", pair->wasted_s);
    wio_json_u64(json, "wasted_bytes", pair->wasted_bytes);
    wio_json_u64(json, "waits", pair->waits);
    wio_json_double(json, "wait_s", pair->wait_s);
    wio_json_double(json, "think_s", pair->think_s);
    wio_json_object_begin(json, "conflicts");
    for (unsigned kind = 0; kind < WIO_CONFLICTS; kind++) {
        wio_json_u64(json, wio_conflict_name((enum wio_conflict)kind), pair->by_conflict[kind]);
    }
    wio_json_object_end(json);
    wio_report_txn_range_json(json, aborts, &pair->example);
    wio_json_u64(json, "chain", pair->chain_max);
    wio_report_txn_source_json(json, "chain_root", aborts, pair->chain_root);
    const struct wio_loss_words *words = wio_loss_words(wio_loss_of(pair));
    wio_json_string(json, "kind", words->kind);
    wio_json_double(json, "passed_s", pair->passed_s);
    wio_json_string(json, "cure", words->cure);
    wio_json_string(json, "change", words->change);
    wio_json_object_end(json);
}

static void put_contention(struct wio_json *json, const struct wio_aborts *aborts,
                           const struct wio_exact_contention *row)
{
    wio_json_object_begin(json, NULL);
    wio_report_txn_source_json(json, "source", aborts, row->source);
    put_server(json, aborts, row->server);
    wio_json_u64(json, "requests", row->requests);
    wio_json_double(json, "queue_s", row->queue_s);
    wio_json_double(json, "lock_s", row->lock_s);
    wio_json_double(json, "storage_s", row->storage_s);
    wio_json_double(json, "run_s", row->run_s);
    wio_json_double(json, "network_s", row->network_s);
    wio_json_u64(json, "busy", row->busy);
    wio_json_u64(json, "no_answer", row->silent);
    wio_json_double(json, "busy_s", row->busy_s);
    wio_json_object_end(json);
}

static void put_table(struct wio_json *json, const struct wio_aborts *aborts,
                      const struct wio_classic_table *table)
{
    wio_json_object_begin(json, NULL);
    wio_report_txn_source_json(json, "victim", aborts, table->victim);
    wio_json_u64(json, "refused", table->refused);
    wio_json_u64(json, "aborts", table->aborts);
    wio_json_u64(json, "no_answer", table->silent);
    wio_json_array_begin(json, "cells");
    for (uint32_t i = 0; i < table->cell_count; i++) {
        const struct wio_classic_column *cell = &table->cells[i];
        uint64_t shaded = cell->aborts[WIO_CELL_SHADED];
        uint64_t dark = cell->aborts[WIO_CELL_DARK];
        wio_json_object_begin(json, NULL);
        wio_report_txn_source_json(json, "source", aborts, cell->source);
        put_server(json, aborts, cell->server);
        wio_json_u64(json, "shaded", shaded);
        wio_json_u64(json, "dark", dark);
        wio_json_u64(json, "light", table->aborts - shaded - dark);
        wio_json_object_end(json);
    }
    wio_json_array_end(json);
    wio_json_object_end(json);
}

static void put_classic(struct wio_json *json, const struct wio_aborts *aborts)
{
    const struct wio_classic *classic = &aborts->classic;
    wio_json_object_begin(json, "classic");
    wio_json_u64(json, "aborts", classic->aborts);
    wio_json_u64(json, "named", classic->named);
    wio_json_u64(json, "judged", classic->judged);
    wio_json_u64(json, "innocent", classic->innocent);
    wio_json_array_begin(json, "tables");
    for (uint32_t i = 0; i < classic->count; i++) {
        put_table(json, aborts, &classic->tables[i]);
    }
    wio_json_array_end(json);
    wio_json_object_end(json);
}

static void put_candidate(struct wio_json *json, const struct wio_candidate *row)
{
    wio_json_object_begin(json, NULL);
    wio_json_string(json, "change", row->name);
    wio_json_string(json, "cure", row->cure);
    wio_json_u64(json, "transactions", row->result.transactions);
    wio_json_u64(json, "aborts", row->result.aborts);
    wio_json_u64(json, "waits", row->result.waits);
    wio_json_double(json, "wait_s", row->result.wait_s);
    wio_json_double(json, "time_s", row->result.duration_s);
    wio_json_bool(json, "is_cut", row->result.is_cut);
    wio_json_u64(json, "requests_cut", row->result.requests_cut);
    wio_json_object_end(json);
}

static void put_arrays(struct wio_json *json, const struct wio_report_transactions *transactions)
{
    static const struct wio_report_transactions none = {0};
    transactions = transactions == NULL ? &none : transactions;
    const struct wio_aborts *aborts = transactions->aborts;
    wio_json_array_begin(json, "aborts");
    for (uint32_t i = 0; aborts != NULL && i < aborts->exact.pair_count; i++) {
        put_pair(json, aborts, &aborts->exact.pairs[i]);
    }
    wio_json_array_end(json);
    wio_json_array_begin(json, "contention");
    for (uint32_t i = 0; aborts != NULL && i < aborts->exact.contention_count; i++) {
        put_contention(json, aborts, &aborts->exact.contention[i]);
    }
    wio_json_array_end(json);
    wio_json_array_begin(json, "what_if");
    for (uint32_t i = 0; aborts != NULL && i < transactions->candidates->count; i++) {
        put_candidate(json, &transactions->candidates->rows[i]);
    }
    wio_json_array_end(json);
}

void wio_report_transactions_json(const struct wio_report_transactions *transactions,
                                  struct wio_json *json)
{
    if (transactions == NULL) {
        wio_json_null(json, "transactions");
        put_arrays(json, NULL);
        wio_json_null(json, "classic");
        return;
    }
    put_totals(json, &transactions->aborts->totals);
    put_arrays(json, transactions);
    wio_report_exact_tables_json(transactions->aborts, transactions->tables, json);
    wio_report_blame_json(transactions->aborts, transactions->lost, json);
    put_classic(json, transactions->aborts);
}
