/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What transactions lost in two runs, beside each other. A finding of b is that of a with the same
 * kind and the same places (function, or line where there is none) of victim and blocker; else with
 * the same places; each is paired once, the dearest first.
 */
#ifndef WIO_EXPLAIN_ABORTS_TXN_COMPARE_H
#define WIO_EXPLAIN_ABORTS_TXN_COMPARE_H

#include "explain/aborts/txn_findings.h"

#define WIO_NO_TXN_FINDING UINT32_MAX

struct wio_txn_side {
    const struct wio_aborts *aborts; /* NULL: the trace has no transactions */
    const struct wio_txn_findings *lost;
};

struct wio_txn_change {
    uint32_t a; /* finding; WIO_NO_TXN_FINDING: there is none */
    uint32_t b;
    double a_s; /* seconds of the run, each of its own */
    double b_s;
};

/* By the size of the change, the largest first. Zero-initialise. */
struct wio_txn_changes {
    struct wio_txn_change *items;
    uint32_t count;
};

/* WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_txn_compare_runs(const struct wio_txn_side *a,
                                                    const struct wio_txn_side *b,
                                                    struct wio_txn_changes *changes);
void wio_txn_changes_fini(struct wio_txn_changes *changes);

#endif
