/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what transactions lost in two runs. */
#ifndef WIO_REPORT_COMPARE_TRANSACTIONS_H
#define WIO_REPORT_COMPARE_TRANSACTIONS_H

#include <stdio.h>

#include "base/json.h"
#include "explain/aborts/txn_compare.h"

struct wio_report_txn_runs {
    struct wio_txn_side a;
    struct wio_txn_side b;
    struct wio_txn_changes changes;
};

/* Nothing where neither run has transactions. Changes of 1 % of the longer run at least, the first
 * `top` of them (0: all). */
void wio_report_txn_runs_text(const struct wio_report_txn_runs *runs, size_t top, FILE *out);
/* Members "transactions" (null: neither has any) and "transaction_causes". */
void wio_report_txn_runs_json(const struct wio_report_txn_runs *runs, struct wio_json *json);

#endif
