/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions of a store in a trace, for commands that show them. */
#ifndef WIO_TOOLS_TRANSACTIONS_H
#define WIO_TOOLS_TRANSACTIONS_H

#include "explain/aborts/exact_tables.h"
#include "explain/aborts/txn_findings.h"

/* Zero-initialise. */
struct cmd_transactions {
    struct wio_aborts *aborts; /* NULL: the trace has none */
    struct wio_candidates candidates;
    struct wio_txn_findings lost;
    struct wio_exact_tables tables;
};

/* `trace` must live longer. */
WIO_MUST_CHECK enum wio_status cmd_transactions_find(const struct wio_trace *trace,
                                                     struct cmd_transactions *transactions,
                                                     struct wio_error *err);
void cmd_transactions_fini(struct cmd_transactions *transactions);

#endif
