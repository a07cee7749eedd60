/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of transactions as bytes of a block and back (FORMAT.md#transactions). */
#ifndef WIO_TRACE_TXN_TXN_ROWS_H
#define WIO_TRACE_TXN_TXN_ROWS_H

#include "base/buf.h"
#include "base/map.h"
#include "trace/txn/txn.h"

#define WIO_TXN_ROWS_MAX 4096u
/* Each row names at most so many clients: its own and those of its blockers. */
#define WIO_TXN_CLIENTS_MAX ((size_t)WIO_TXN_ROWS_MAX * (1u + WIO_TXN_BLOCKERS))

/* What a client's next name is relative to. */
struct wio_txn_last {
    uint64_t client;
    uint64_t number;
    uint64_t birth_ns;
};

/* What the next row is relative to; both sides keep it alike. Zero-initialise. */
struct wio_txn_coder {
    struct wio_txn_last *clients; /* of this block */
    uint32_t client_count;
    uint32_t client_capacity;
    struct wio_map client_index; /* writing: client -> index */
    struct wio_txn_row before;   /* all 0 in front of the first row */
};

void wio_txn_coder_fini(struct wio_txn_coder *coder);
/* For the next block. */
void wio_txn_coder_clear(struct wio_txn_coder *coder);
WIO_MUST_CHECK enum wio_status wio_txn_row_put(struct wio_txn_coder *coder,
                                               const struct wio_txn_row *row, struct wio_blob *out);
/* `blockers`: WIO_TXN_BLOCKERS of them, which *row_out points to. WIO_ERR_FORMAT, _TRUNCATED. */
WIO_MUST_CHECK enum wio_status wio_txn_row_get(struct wio_txn_coder *coder, struct wio_buf *buf,
                                               struct wio_txn_blocker *blockers,
                                               struct wio_txn_row *row_out);

#endif
