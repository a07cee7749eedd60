/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on open files. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "store/api/api_internal.h"

void api_op_cleanup(struct api_op **op)
{
    if (*op != NULL) {
        api_call_release(&(*op)->call);
    }
}

struct api_place api_place_of(const struct wio_store *store, const struct wio_store_stat *stat)
{
    return (struct api_place){
        .file = stat->file,
        .generation = stat->generation,
        .layout = {.segments = stat->segments > 0 ? stat->segments : 1,
                   .targets = store->targets,
                   .stripe_unit = stat->stripe_unit > 0 ? stat->stripe_unit : 1},
    };
}

enum wio_status api_file_op(struct wio_store_file *file, struct wio_store_txn *txn,
                            enum api_op_kind kind, struct api_op **op_out, struct wio_error *err)
{
    *op_out = api_op_create(file->store, txn != NULL ? txn->engine : NULL, kind, &file->place);
    if (*op_out == NULL) {
        return api_about(api_nomem(err), file->path, err);
    }
    (*op_out)->is_stable = file->is_stable;
    return WIO_OK;
}

static void keep_blockers(struct wio_store_file *file, struct api_op *op)
{
    (void)pthread_mutex_lock(&file->mutex);
    if (op->own.blockers != NULL) {
        free(file->blockers);
        file->blockers = op->own.blockers;
        op->own.blockers = NULL;
    }
    (void)pthread_mutex_unlock(&file->mutex);
}

uint64_t api_file_deadline_ns(const struct wio_store_file *file, const struct wio_store_txn *txn)
{
    uint64_t deadline_ns = api_deadline_ns(file->store, file->timeout_ns);
    bool is_sooner = txn != NULL && txn->deadline_ns < deadline_ns;
    return is_sooner ? txn->deadline_ns : deadline_ns;
}

enum wio_status api_file_run_until(struct wio_store_file *file, struct wio_store_txn *txn,
                                   struct api_op **op, uint64_t deadline_ns, struct wio_error *err)
{
    enum wio_status status = api_op_run(*op, deadline_ns, err);
    if (txn == NULL && !(*op)->call.is_abandoned) {
        keep_blockers(file, *op);
    }
    return api_about(status, file->path, err);
}

enum wio_status api_file_run(struct wio_store_file *file, struct wio_store_txn *txn,
                             struct api_op **op, struct wio_error *err)
{
    return api_file_run_until(file, txn, op, api_file_deadline_ns(file, txn), err);
}
