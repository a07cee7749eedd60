/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of transactions: every one can be read, in the order of time (FORMAT.md#transactions). */
#ifndef WIO_TRACE_CHECK_CHECK_TXN_H
#define WIO_TRACE_CHECK_CHECK_TXN_H

#include <whyio/trace.h>

/* Reports at most one fault; `offset`: of the first block of rows. True: there is none. */
bool wio_check_txn(const struct wio_trace *trace, const char *file, uint64_t offset,
                   struct wio_error *fault_out);

#endif
