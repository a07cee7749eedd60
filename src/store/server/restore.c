/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery: the log's records become what the server knew. */
#include "base/cleanup.h"
#include "store/server/server_internal.h"

/* The locks that the update's operation had: no other prepared transaction has one in the way. */
static enum wio_status lock(struct wio_server *server, struct server_txn *txn,
                            const struct wio_update *update, bool is_size)
{
    struct wio_lock_request request = {
        .range = {update->file, update->segment, update->offset, update->offset + update->size},
        .mode = WIO_LOCK_EXCLUSIVE};
    struct wio_lock_range *range = &request.range;
    struct wio_lock_answer answer;
    if (is_size) {
        *range = (struct wio_lock_range){update->file, update->segment | WIO_STORE_LOCK_SIZE, 0, 1};
        bool is_write = update->kind == WIO_UPDATE_WRITE;
        request.mode = is_write ? WIO_LOCK_INCREMENT : WIO_LOCK_EXCLUSIVE;
    } else if (update->kind == WIO_UPDATE_POINTER) {
        *range = (struct wio_lock_range){update->file, WIO_STORE_LOCK_POINTER, update->segment,
                                         update->segment + UINT64_C(1)};
    } else if (update->kind != WIO_UPDATE_WRITE) {
        range->from = update->kind == WIO_UPDATE_DROP ? 0 : update->size;
        range->to = UINT64_MAX;
    }
    WIO_TRY(wio_locks_acquire(server->locks, txn->owner, &request, server->now_ns, &answer));
    return answer.outcome == WIO_LOCK_GRANTED ? WIO_OK : WIO_ERR_FORMAT;
}

static enum wio_status restore_updates(struct wio_server *server, struct server_txn *txn,
                                       const struct wio_backing_record *record)
{
    for (uint32_t i = 0; i < record->update_count; i++) {
        const struct wio_update *update = &record->updates[i];
        WIO_TRY(server_update_add(server, &txn->updates, update, false));
        WIO_TRY(lock(server, txn, update, false));
        if (update->kind == WIO_UPDATE_POINTER) {
            WIO_TRY(server_pointer_make(server, update->file, update->segment));
        } else {
            WIO_TRY(lock(server, txn, update, true));
        }
    }
    return server_txn_set_participants(server, txn, record->participants,
                                       record->participant_count);
}

/* Its client may not have heard, and ask again. As many clients as there is place for are known. */
static enum wio_status restore_commit(struct wio_server *server,
                                      const struct wio_backing_record *record)
{
    struct wio_store_peer peer = {.client = record->txn.client};
    struct server_session *session = server_session_find(server, record->txn.client);
    enum wio_status status =
        session != NULL ? WIO_OK : server_session_make(server, &peer, &session);
    if (status == WIO_OK) {
        server_past_add(session, &record->txn, WIO_STORE_OUTCOME_COMMITTED);
    } else if (status != WIO_ERR_BUSY) {
        return status;
    }
    return server_updates_apply(server, record->updates, record->update_count, true);
}

static enum wio_status restore_prepared(struct wio_server *server,
                                        const struct wio_backing_record *record)
{
    struct server_txn *txn = NULL;
    WIO_TRY(server_txn_begin(server, NULL, &record->txn, 0, &txn));
    txn->gone_ns = server->now_ns;
    enum wio_status status = restore_updates(server, txn, record);
    if (status != WIO_OK) {
        server_txn_end(server, txn);
        return status;
    }
    txn->state = SERVER_PREPARED;
    server->stat.prepared++;
    wio_locks_set_prepared(txn->owner);
    wio_locks_set_dead(txn->owner);
    return WIO_OK;
}

static enum wio_status restore_outcome(struct wio_server *server,
                                       const struct wio_backing_record *record)
{
    bool is_commit = record->kind == WIO_BACKING_COMMITTED;
    struct server_txn *txn = server_txn_find(server, record->txn.client, record->txn.number);
    WIO_TRY(server_outcome_set(
        server, &record->txn, is_commit ? WIO_STORE_OUTCOME_COMMITTED : WIO_STORE_OUTCOME_ABORTED));
    if (txn == NULL || txn->txn.attempt != record->txn.attempt) {
        return WIO_OK;
    }
    enum wio_status status =
        is_commit ? server_updates_apply(server, txn->updates.list, txn->updates.count, true)
                  : WIO_OK;
    server_txn_end(server, txn);
    return status;
}

enum wio_status wio_server_restore(struct wio_server *server,
                                   const struct wio_backing_record *record, uint64_t now_ns)
{
    server->now_ns = now_ns > server->now_ns ? now_ns : server->now_ns;
    server->started_ns = server->started_ns > 0 ? server->started_ns : server->now_ns;
    switch (record->kind) {
    case WIO_BACKING_COMMIT:
        return restore_commit(server, record);
    case WIO_BACKING_PREPARED:
        return restore_prepared(server, record);
    case WIO_BACKING_COMMITTED:
    case WIO_BACKING_ABORTED:
        return restore_outcome(server, record);
    case WIO_BACKING_FORGOTTEN:
        server_outcome_drop(server,
                            server_outcome_find(server, record->txn.client, record->txn.number));
        return WIO_OK;
    }
    return WIO_ERR_FORMAT;
}
