/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of transactions of all segments of a trace, joined. */
#ifndef WIO_TRACE_TXN_TXN_TABLES_H
#define WIO_TRACE_TXN_TXN_TABLES_H

#include "trace/read/trace_internal.h"
#include "trace/txn/txn.h"

struct wio_txn_tables {
    struct wio_txn_origin *origins; /* [0] is unknown */
    uint32_t origin_count;
    uint32_t origin_capacity;
    struct wio_txn_server *servers;
    uint32_t server_count;
    uint32_t server_capacity;
    struct wio_map server_index; /* number -> index */
    struct wio_txn_file *files;
    uint32_t file_count;
    uint32_t file_capacity;
    struct wio_map file_index; /* id -> index */
    uint64_t bytes;            /* that these take, about */
};

/* *bases_out: for each segment what is added to its ids of origins but 0; the caller frees it. */
WIO_MUST_CHECK enum wio_status wio_txn_tables_read(struct wio_txn_tables *tables,
                                                   const struct wio_trace *trace,
                                                   uint32_t **bases_out, struct wio_error *err);
void wio_txn_tables_fini(struct wio_txn_tables *tables);

#endif
