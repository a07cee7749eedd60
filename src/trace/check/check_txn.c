/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/check/check_txn.h"

#include "trace/txn/txn.h"

/* R-TXN-2 */
static enum wio_status read_rows(struct wio_txn_cursor *cursor, const char *file, uint64_t offset,
                                 struct wio_error *fault)
{
    const struct wio_txn_row *row = NULL;
    uint64_t before = 0;
    enum wio_status status = WIO_OK;
    while ((status = wio_txn_cursor_next(cursor, &row, fault)) == WIO_OK) {
        if (row->t_ns < before) {
            return wio_error_set(fault, WIO_ERR_FORMAT, file, offset,
                                 "expected rows of transactions in the order of their time");
        }
        before = row->t_ns;
    }
    return status == WIO_END ? WIO_OK : status;
}

bool wio_check_txn(const struct wio_trace *trace, const char *file, uint64_t offset,
                   struct wio_error *fault_out)
{
    struct wio_txn_cursor *cursor = NULL;
    if (!wio_trace_has_transactions(trace)) {
        return true;
    }
    enum wio_status status = wio_txn_cursor_create(trace, &cursor, fault_out);
    if (status == WIO_OK) {
        status = read_rows(cursor, file, offset, fault_out);
        wio_txn_cursor_destroy(cursor);
    }
    return status == WIO_OK;
}
