/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions of several operations, as their users see them. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/sized.h"
#include "store/api/api_internal.h"

enum wio_status wio_store_begin(struct wio_store *store, const struct wio_store_txn_params *given,
                                struct wio_store_txn **txn_out, struct wio_error *err)
{
    struct wio_store_txn_params params = {0};
    if (given != NULL) {
        WIO_TRY(wio_take_sized(&params, sizeof(params), given, "struct wio_store_txn_params", err));
    }
    struct wio_store_txn *txn = calloc(1, sizeof(*txn));
    if (txn == NULL) {
        (void)api_nomem(err);
        return WIO_ERR_NOMEM;
    }
    txn->store = store;
    txn->deadline_ns = api_deadline_ns(store, params.timeout_ns);
    enum wio_status status =
        api_txn_begin(store, params.is_stable, txn->deadline_ns, &txn->engine, err);
    if (status != WIO_OK) {
        free(txn);
        return status;
    }
    *txn_out = txn;
    return WIO_OK;
}

enum wio_status wio_store_restart(struct wio_store_txn *txn, struct wio_error *err)
{
    if (wio_clock_mono_ns() >= txn->deadline_ns) {
        (void)wio_error_set(err, WIO_ERR_BUSY, NULL, WIO_ERROR_NO_OFFSET,
                            "the time of the transaction is over");
        if (err != NULL) {
            err->sys_errno = ETIMEDOUT;
        }
        return WIO_ERR_BUSY;
    }
    return api_txn_restart(txn->engine, txn->deadline_ns, err);
}

enum wio_status wio_store_commit(struct wio_store_txn *txn, struct wio_error *err)
{
    return api_txn_commit(txn->engine, txn->deadline_ns, err);
}

void wio_store_end(struct wio_store_txn *txn)
{
    if (txn != NULL) {
        api_txn_end(txn->engine);
        free(txn);
    }
}

static void end(struct wio_store_txn **txn)
{
    wio_store_end(*txn);
}

static bool is_to_restart(enum wio_status status, const struct wio_error *err)
{
    return status == WIO_ERR_BUSY && err->sys_errno == EAGAIN;
}

enum wio_status wio_store_transact(struct wio_store *store,
                                   const struct wio_store_txn_params *params, wio_store_body *body,
                                   void *context, struct wio_error *err)
{
    WIO_CLEANUP(end) struct wio_store_txn *txn = NULL;
    struct wio_error own = WIO_ERROR_INIT;
    enum wio_status status = wio_store_begin(store, params, &txn, &own);
    while (status == WIO_OK) {
        own = (struct wio_error)WIO_ERROR_INIT;
        status = body(txn, context, &own);
        status = status == WIO_OK ? wio_store_commit(txn, &own) : status;
        if (!is_to_restart(status, &own)) {
            break;
        }
        status = wio_store_restart(txn, &own);
    }
    return status == WIO_OK ? WIO_OK : wio_error_pass(err, &own);
}
