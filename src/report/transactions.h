/* SPDX-License-Identifier: Apache-2.0 */
/* Prints why transactions were aborted: text, and the parts of docs/schema/explain.json. */
#ifndef WIO_REPORT_TRANSACTIONS_H
#define WIO_REPORT_TRANSACTIONS_H

#include <stdio.h>

#include "base/json.h"
#include "explain/aborts/candidates.h"

/* Pairs of victim and blocker, where answers' time went, what changes would do. `is_all`: every
 * row. */
void wio_report_transactions_text(const struct wio_aborts *aborts,
                                  const struct wio_candidates *candidates, bool is_all, FILE *out);
/* The tables of the classic analysis. */
void wio_report_classic_text(const struct wio_aborts *aborts, bool is_all, FILE *out);
/* Members "transactions", "aborts", "contention", "what_if" and "classic" of an object; `aborts`
 * NULL: there are no transactions. */
void wio_report_transactions_json(const struct wio_aborts *aborts,
                                  const struct wio_candidates *candidates, struct wio_json *json);

/* ---- of both ---- */

/* Name of a file of a source, "file 7" where its path is not known, into `text`. */
const char *wio_report_parafile(const struct wio_aborts *aborts, uint64_t file, char *text,
                                size_t size);
/* Name of a server of wio_attempts_server, "server 3" where it has none. */
const char *wio_report_store_server(const struct wio_aborts *aborts, uint32_t server, char *text,
                                    size_t size);

#endif
