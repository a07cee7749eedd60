/* SPDX-License-Identifier: Apache-2.0 */
/* Prints why transactions were aborted: text, and the parts of docs/schema/explain.json. */
#ifndef WIO_REPORT_TRANSACTIONS_H
#define WIO_REPORT_TRANSACTIONS_H

#include <stdio.h>

#include "base/json.h"
#include "explain/aborts/exact_tables.h"
#include "explain/aborts/txn_findings.h"

/* All that is known of the transactions of a trace. */
struct wio_report_transactions {
    const struct wio_aborts *aborts;
    const struct wio_candidates *candidates;
    const struct wio_txn_findings *lost;
    const struct wio_exact_tables *tables;
};

/* Pairs of victim and blocker, tables, blame, where answers' time went, what changes would do.
 * `is_all`: every row. */
void wio_report_transactions_text(const struct wio_report_transactions *transactions, bool is_all,
                                  FILE *out);
/* The tables of the classic analysis. */
void wio_report_classic_text(const struct wio_aborts *aborts, bool is_all, FILE *out);
/* Members "transactions", "aborts", "contention", "tables", "blame", "what_if" and "classic" of an
 * object; `transactions` NULL: there are none. */
void wio_report_transactions_json(const struct wio_report_transactions *transactions,
                                  struct wio_json *json);

/* A finding about transactions: its lines, the `number`-th of all; an object. */
void wio_report_txn_finding_text(const struct wio_aborts *aborts,
                                 const struct wio_txn_finding *finding, unsigned number, FILE *out);
void wio_report_txn_finding_json(const struct wio_aborts *aborts,
                                 const struct wio_txn_finding *finding, struct wio_json *json);

/* Parts of both (transaction_tables.c). */
void wio_report_exact_tables_text(const struct wio_aborts *aborts,
                                  const struct wio_exact_tables *tables, bool is_all, FILE *out);
void wio_report_blame_text(const struct wio_aborts *aborts, const struct wio_txn_findings *lost,
                           FILE *out);
void wio_report_exact_tables_json(const struct wio_aborts *aborts,
                                  const struct wio_exact_tables *tables, struct wio_json *json);
void wio_report_blame_json(const struct wio_aborts *aborts, const struct wio_txn_findings *lost,
                           struct wio_json *json);

/* ---- of both ---- */

/* "sim.c:212 of job7 /bin/sim on /grid"; WIO_NO_SOURCE: that it is not recorded. */
void wio_report_txn_source(const struct wio_aborts *aborts, uint32_t index, FILE *out);
void wio_report_txn_source_json(struct wio_json *json, const char *key,
                                const struct wio_aborts *aborts, uint32_t index);
/* "example": bytes of a segment. */
void wio_report_txn_range_json(struct wio_json *json, const struct wio_aborts *aborts,
                               const struct wio_txn_range *range);

/* Name of a file of a source, "file 7" where its path is not known, into `text`. */
const char *wio_report_parafile(const struct wio_aborts *aborts, uint64_t file, char *text,
                                size_t size);
/* Name of a server of wio_attempts_server, "server 3" where it has none. */
const char *wio_report_store_server(const struct wio_aborts *aborts, uint32_t server, char *text,
                                    size_t size);

#endif
