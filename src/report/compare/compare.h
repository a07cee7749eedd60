/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints a comparison of two traces: `whyio compare` and `whyio replay --compare`.
 * docs/schema/compare.json describes the JSON. Ratios are b / a: 2.0 = b took twice as long.
 */
#ifndef WIO_REPORT_COMPARE_H
#define WIO_REPORT_COMPARE_H

#include <stddef.h>
#include <stdio.h>

#include "explain/compare/compare.h"
#include "report/compare/compare_causes.h"
#include "report/transactions/compare_transactions.h"

struct wio_compare_names {
    const char *a; /* what the user calls the traces */
    const char *b;
    const struct wio_report_causes *causes;         /* NULL = none are shown */
    const struct wio_report_txn_runs *transactions; /* NULL = none are shown */
    size_t top; /* rows of the tables of operations, files and ranks shown as text; 0 = all */
};

/* One object with its line end. */
void wio_report_compare_json(const struct wio_comparison *comparison,
                             const struct wio_compare_names *names, FILE *out);
/* Tables of at most 80 columns, but for long names, which come last. */
void wio_report_compare_text(const struct wio_comparison *comparison,
                             const struct wio_compare_names *names, FILE *out);

#endif
