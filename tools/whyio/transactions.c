/* SPDX-License-Identifier: Apache-2.0 */
#include "transactions.h"

#include "base/cleanup.h"

void cmd_transactions_fini(struct cmd_transactions *transactions)
{
    wio_txn_findings_fini(&transactions->lost);
    wio_exact_tables_fini(&transactions->tables);
    wio_aborts_destroy(transactions->aborts);
}

enum wio_status cmd_transactions_find(const struct wio_trace *trace,
                                      struct cmd_transactions *transactions, struct wio_error *err)
{
    WIO_TRY(wio_aborts_of(trace, &transactions->aborts, err));
    if (transactions->aborts == NULL) {
        return WIO_OK;
    }
    enum wio_status status = wio_candidates_run(transactions->aborts, &transactions->candidates);
    if (status == WIO_OK) {
        status = wio_txn_findings_find(transactions->aborts, &transactions->candidates,
                                       &transactions->lost);
    }
    if (status == WIO_OK) {
        status = wio_exact_tables_find(&transactions->aborts->exact, &transactions->tables);
    }
    return status == WIO_OK ? WIO_OK
                            : wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                                            "no memory to run transactions again");
}
