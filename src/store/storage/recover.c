/* SPDX-License-Identifier: Apache-2.0 */
#include "store/storage/recover.h"

#include "base/cleanup.h"

static enum wio_status no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, "log", WIO_ERROR_NO_OFFSET, "out of memory");
}

/* The changes of a prepared record without the images. */
static enum wio_status copy_changes(const struct wio_log_record *record, struct wio_blob *out)
{
    struct wio_buf buf = wio_buf_of(record->redo, record->redo_bytes);
    struct wio_redo_change change;
    enum wio_status status;
    while ((status = wio_change_decode(&buf, &change)) == WIO_OK) {
        if (change.kind != WIO_CHANGE_IMAGE) {
            WIO_TRY(wio_change_encode(out, &change));
        }
    }
    return status == WIO_END ? WIO_OK : status;
}

static enum wio_status recover_prepared(struct recovery *recovery,
                                        const struct wio_log_record *record, struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob redo = {0};
    WIO_TRY(redo_apply(recovery->storage, record->redo, record->redo_bytes, REDO_IMAGES, err));
    if (copy_changes(record, &redo) != WIO_OK ||
        outcomes_put(recovery->outcomes, &record->txn, WIO_STABLE_PREPARED, record, &redo) !=
            WIO_OK) {
        return no_memory(err);
    }
    return WIO_OK;
}

static enum wio_status recover_decided(struct recovery *recovery,
                                       const struct wio_log_record *record, bool is_committed,
                                       struct wio_error *err)
{
    struct outcome *outcome = outcomes_get(recovery->outcomes, &record->txn);
    if (outcome == NULL || outcome->state != WIO_STABLE_PREPARED ||
        outcome->txn.attempt != record->txn.attempt) {
        enum wio_stable_outcome state = is_committed ? WIO_STABLE_COMMITTED : WIO_STABLE_ABORTED;
        return outcomes_put(recovery->outcomes, &record->txn, state, record, NULL) == WIO_OK
                   ? WIO_OK
                   : no_memory(err);
    }
    if (is_committed) {
        WIO_TRY(
            redo_apply(recovery->storage, outcome->redo.data, outcome->redo.size, REDO_REST, err));
    }
    outcome_decide(outcome, is_committed);
    return WIO_OK;
}

enum wio_status recover_record(void *context, uint64_t lsn, const struct wio_log_record *record,
                               struct wio_error *err)
{
    struct recovery *recovery = context;
    enum wio_status status = WIO_OK;
    recovery->records++;
    switch ((enum wio_log_kind)record->kind) {
    case WIO_LOG_COMMIT:
        if (recents_add(recovery->recents, &record->txn) != WIO_OK) {
            return no_memory(err);
        }
        status = redo_apply(recovery->storage, record->redo, record->redo_bytes, REDO_ALL, err);
        break;
    case WIO_LOG_APPLY:
        status = redo_apply(recovery->storage, record->redo, record->redo_bytes, REDO_ALL, err);
        break;
    case WIO_LOG_PREPARED:
        status = recover_prepared(recovery, record, err);
        break;
    case WIO_LOG_COMMITTED:
    case WIO_LOG_ABORTED:
        status = recover_decided(recovery, record, record->kind == WIO_LOG_COMMITTED, err);
        break;
    case WIO_LOG_FORGOTTEN:
        outcomes_remove(recovery->outcomes, &record->txn);
        break;
    case WIO_LOG_EPOCH:
    case WIO_LOG_KINDS:
        break;
    }
    if (status != WIO_OK) {
        wio_error_add(err, "while recovering record %llu", (unsigned long long)lsn);
    }
    return status;
}
