/* SPDX-License-Identifier: Apache-2.0 */
/* The last write of a user's transaction, which waits for what comes next: a commit takes it along.
 */
#include "base/cleanup.h"
#include "store/api/api_internal.h"

bool api_kept_take(struct api_txn *txn, struct api_op *op)
{
    /* Its file may be closed before it is sent. */
    if (!api_plan_keep(op) ||
        wio_session_add_grant(op->store->data, op->place.file, NULL, 0) != WIO_OK) {
        return false;
    }
    txn->kept = op;
    txn->is_kept_sent = false;
    (void)atomic_fetch_add(&op->call.users, 1);
    api_call_finish(&op->call);
    return true;
}

void api_kept_drop(struct api_txn *txn)
{
    if (txn->kept != NULL) {
        wio_session_drop_grants(txn->store->data, txn->kept->place.file);
        api_call_release(&txn->kept->call);
        txn->kept = NULL;
    }
}

enum wio_status api_kept_send(struct api_txn *txn)
{
    const struct api_request *one = &txn->kept->requests[0];
    const struct wio_store_request request = api_op_request(txn->kept, one);
    WIO_TRY(wio_coord_issue(txn->coord, one->target, &request, 0));
    txn->is_kept_sent = true;
    return WIO_OK;
}

enum wio_status api_kept_commit(struct api_txn *txn)
{
    const struct api_request *one = &txn->kept->requests[0];
    const struct wio_store_request request = api_op_request(txn->kept, one);
    WIO_TRY(wio_session_finish(txn->store->data, txn->coord, one->target, &request, 0));
    txn->is_kept_sent = true;
    return WIO_OK;
}
