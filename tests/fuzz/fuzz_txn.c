/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of transactions from any bytes: what can be read is written and read again as the same. */
#include <stdint.h>
#include <stdlib.h>

#include "trace/txn/txn_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

static int is_same_name(const struct wio_txn_name *a, const struct wio_txn_name *b)
{
    return a->client == b->client && a->number == b->number && a->birth_ns == b->birth_ns &&
           a->attempt == b->attempt;
}

static int is_same_range(const struct wio_txn_range *a, const struct wio_txn_range *b)
{
    return a->file == b->file && a->from == b->from && a->to == b->to && a->segment == b->segment;
}

static int is_same(const struct wio_txn_row *a, const struct wio_txn_row *b)
{
    int is_same = a->t_ns == b->t_ns && is_same_name(&a->txn, &b->txn) &&
                  is_same_range(&a->range, &b->range) && a->server == b->server &&
                  a->origin == b->origin && a->lock_ns == b->lock_ns &&
                  a->blocker_listed == b->blocker_listed;
    for (uint32_t i = 0; i < a->blocker_listed && is_same; i++) {
        is_same = is_same_name(&a->blockers[i].txn, &b->blockers[i].txn) &&
                  is_same_range(&a->blockers[i].range, &b->blockers[i].range) &&
                  a->blockers[i].role == b->blockers[i].role;
    }
    return is_same;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wio_txn_coder reading = {0};
    struct wio_txn_coder writing = {0};
    struct wio_txn_coder rereading = {0};
    struct wio_blob blob = {0};
    struct wio_txn_blocker blockers[WIO_TXN_BLOCKERS] = {0};
    struct wio_txn_blocker again[WIO_TXN_BLOCKERS] = {0};
    struct wio_txn_row row;
    struct wio_txn_row back;
    size_t done = 0;
    struct wio_buf buf = wio_buf_of(data, size);
    while (wio_txn_row_get(&reading, &buf, blockers, &row) == WIO_OK) {
        require(row.blocker_listed <= WIO_TXN_BLOCKERS && row.range.to >= row.range.from);
        if (row.range.to == 0) {
            row.range = (struct wio_txn_range){0}; /* no byte: not written */
        }
        require(wio_txn_row_put(&writing, &row, &blob) == WIO_OK);
        struct wio_buf copy = wio_buf_of(blob.data + done, blob.size - done);
        require(wio_txn_row_get(&rereading, &copy, again, &back) == WIO_OK);
        require(wio_buf_left(&copy) == 0 && is_same(&row, &back));
        done = blob.size;
    }
    wio_blob_fini(&blob);
    wio_txn_coder_fini(&reading);
    wio_txn_coder_fini(&writing);
    wio_txn_coder_fini(&rereading);
    return 0;
}
