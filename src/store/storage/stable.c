/* SPDX-License-Identifier: Apache-2.0 */
#include "store/storage/stable.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "store/storage/images.h"
#include "store/storage/recents.h"
#include "store/storage/recover.h"
#include "store/storage/stable_queue.h"

enum { CHECKPOINT_BYTES = 256 << 20 };

enum checkpoint_step {
    CHECKPOINT_NONE,
    CHECKPOINT_WANTED, /* nothing more is logged until all that was logged is applied */
    CHECKPOINT_DATA    /* segments and the records that are carried over are being flushed */
};

struct checkpoint {
    enum checkpoint_step step;
    bool is_data_durable;
    uint64_t redo_from;
    uint64_t carried_lsn; /* the last record that was carried over */
    uint64_t count;
};

struct wio_stable {
    struct wio_stable_config config;
    struct wio_log *log;
    struct images images;
    struct outcomes outcomes;
    struct recents recents;
    struct stable_queue waiting; /* to be logged */
    struct stable_queue logged;  /* until durable */
    struct checkpoint checkpoint;
    struct wio_blob redo; /* of the record that is being made */
    uint64_t recovered_records;
    uint32_t cutting; /* of those logged: no image may be taken until they are applied */
    bool has_failed;
};

static enum wio_status no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, "log", WIO_ERROR_NO_OFFSET, "out of memory");
}

/* The store stops; said once. */
static void fail(struct wio_stable *stable, const struct wio_error *why)
{
    if (!stable->has_failed) {
        stable->has_failed = true;
        if (stable->config.failed != NULL) {
            stable->config.failed(stable->config.context, why);
        }
    }
}

static enum wio_status check_failed(const struct wio_stable *stable, struct wio_error *err)
{
    if (!stable->has_failed) {
        return WIO_OK;
    }
    errno = EIO;
    return wio_error_sys(err, "log", "the store has stopped since a write or flush failed");
}

/* ---- logging ---- */

/* Images for what the operation is the first to touch, then its changes. */
static enum wio_status make_redo(struct wio_stable *stable, const struct wio_blob *changes,
                                 bool is_final, struct wio_error *err)
{
    struct wio_buf buf = wio_buf_of(changes->data, changes->size);
    struct wio_redo_change change;
    wio_blob_clear(&stable->redo);
    while (wio_change_decode(&buf, &change) == WIO_OK) {
        if (change.kind == WIO_CHANGE_WRITE) {
            WIO_TRY(images_add(&stable->images, &change, is_final, &stable->redo, err));
        }
    }
    return wio_blob_put(&stable->redo, changes->data, changes->size) == WIO_OK ? WIO_OK
                                                                               : no_memory(err);
}

static enum wio_status log_record(struct wio_stable *stable, const struct wio_log_record *record,
                                  const struct wio_blob *changes, uint64_t *lsn_out,
                                  struct wio_error *err)
{
    struct wio_log_record full = *record;
    enum wio_status status = make_redo(stable, changes, record->kind != WIO_LOG_PREPARED, err);
    if (status == WIO_OK) {
        full.redo = stable->redo.data;
        full.redo_bytes = (uint32_t)stable->redo.size;
        status = wio_log_append(stable->log, &full, 1, lsn_out, err);
    }
    images_logged(&stable->images, status == WIO_OK);
    return status;
}

/* A record that could not be logged: nothing is known of it. */
static void drop(struct wio_stable *stable, struct stable_op *op, enum wio_status status,
                 int sys_errno)
{
    if (op->record.kind == WIO_LOG_PREPARED) {
        outcomes_logged(&stable->outcomes, &op->record.txn, false);
    }
    if (op->done != NULL) {
        op->done(op->context, status, sys_errno);
    }
    stable_op_destroy(op);
}

static void enter_logged(struct wio_stable *stable, struct stable_op *op)
{
    stable_queue_push(&stable->logged, op);
    stable->cutting += op->is_cutting ? 1 : 0;
    if (op->record.kind == WIO_LOG_PREPARED) {
        outcomes_logged(&stable->outcomes, &op->record.txn, true);
    }
}

/* Log what waits, in its order, as far as the log takes it. Where the log has no room to become
 * longer, that is the operation's failure; any other one is the store's. */
static enum wio_status pump(struct wio_stable *stable, struct wio_error *err)
{
    while (stable->waiting.first != NULL && stable->checkpoint.step != CHECKPOINT_WANTED &&
           stable->cutting == 0) {
        struct stable_op *op = stable->waiting.first;
        struct wio_error why = WIO_ERROR_INIT;
        enum wio_status status = log_record(stable, &op->record, &op->redo, &op->lsn, &why);
        if (status == WIO_ERR_BUSY) {
            return WIO_OK; /* again when a flush has ended */
        }
        if (status == WIO_ERR_IO && why.sys_errno != ENOSPC) {
            return wio_error_pass(err, &why);
        }
        (void)stable_queue_pop(&stable->waiting);
        if (status == WIO_OK) {
            enter_logged(stable, op);
        } else {
            drop(stable, op, status, why.sys_errno);
        }
    }
    return WIO_OK;
}

static enum wio_status submit(struct wio_stable *stable, const struct wio_log_record *record,
                              const struct wio_redo_change *changes, size_t count,
                              wio_io_done *done, void *context, struct wio_error *err)
{
    struct stable_op *op = stable_op_create(record, changes, count);
    if (op == NULL) {
        return no_memory(err);
    }
    if (record->kind == WIO_LOG_PREPARED &&
        outcomes_put_waiting(&stable->outcomes, record, &op->redo) != WIO_OK) {
        stable_op_destroy(op);
        return no_memory(err);
    }
    op->done = done;
    op->context = context;
    stable_queue_push(&stable->waiting, op);
    return WIO_OK;
}

/* ---- checkpoints ---- */

static enum wio_status finish_checkpoint(struct wio_stable *stable, struct wio_error *err)
{
    struct checkpoint *checkpoint = &stable->checkpoint;
    struct wio_log_state state;
    if (checkpoint->step != CHECKPOINT_DATA || !checkpoint->is_data_durable) {
        return WIO_OK;
    }
    WIO_TRY(wio_log_flushed(stable->log, &state, err));
    if (state.durable_lsn < checkpoint->carried_lsn ||
        state.durable_lsn + 1 < checkpoint->redo_from) {
        return WIO_OK;
    }
    checkpoint->step = CHECKPOINT_NONE;
    checkpoint->count++;
    return wio_log_checkpoint(stable->log, checkpoint->redo_from, err);
}

static void data_durable(void *context, enum wio_status status, int sys_errno)
{
    struct wio_stable *stable = context;
    struct wio_error err = WIO_ERROR_INIT;
    if (status == WIO_OK) {
        stable->checkpoint.is_data_durable = true;
        status = finish_checkpoint(stable, &err);
    } else {
        errno = sys_errno;
        (void)!wio_error_sys(&err, "data", "cannot flush a segment");
    }
    if (status != WIO_OK) {
        fail(stable, &err);
    }
}

/* Into the log again. A vote that waits comes by itself, behind what was submitted before it; until
 * then a tombstone of an earlier attempt stands. */
static enum wio_status carry_one(struct wio_stable *stable, const struct outcome *outcome,
                                 struct wio_error *err)
{
    static const uint16_t kinds[] = {[WIO_STABLE_PREPARED] = WIO_LOG_PREPARED,
                                     [WIO_STABLE_COMMITTED] = WIO_LOG_COMMITTED,
                                     [WIO_STABLE_ABORTED] = WIO_LOG_ABORTED};
    static const struct wio_blob nothing = {0};
    uint64_t *lsn = &stable->checkpoint.carried_lsn;
    struct wio_log_record record = {.kind = WIO_LOG_ABORTED, .txn = outcome->txn};
    if (outcome->is_waiting) {
        record.txn.attempt = outcome->tombstone_attempt;
        return outcome->has_tombstone ? log_record(stable, &record, &nothing, lsn, err) : WIO_OK;
    }
    record.kind = kinds[outcome->state];
    record.participants = outcome->participants;
    record.participant_count = outcome->participant_count;
    return log_record(stable, &record, &outcome->redo, lsn, err);
}

/* What clients may still ask for, by name alone: the changes are in the segments. */
static enum wio_status carry_recents(struct wio_stable *stable, struct wio_error *err)
{
    static const struct wio_blob nothing = {0};
    struct wio_log_record record = {.kind = WIO_LOG_COMMIT};
    uint32_t place = 0;
    while (recents_next(&stable->recents, &place, &record.txn)) {
        WIO_TRY(log_record(stable, &record, &nothing, &stable->checkpoint.carried_lsn, err));
    }
    return WIO_OK;
}

/* What the log has of transactions goes behind where recovery will begin. */
static enum wio_status carry_over(struct wio_stable *stable, struct wio_error *err)
{
    WIO_TRY(carry_recents(stable, err));
    for (uint32_t i = 0; i < stable->outcomes.count; i++) {
        const struct outcome *outcome = &stable->outcomes.places[i];
        if (outcome->state != WIO_STABLE_UNKNOWN) {
            WIO_TRY(carry_one(stable, outcome, err));
        }
    }
    return WIO_OK;
}

/* R-LOG-8: all that was logged is applied; from here on recovery will begin. */
static enum wio_status begin_checkpoint(struct wio_stable *stable, struct wio_error *err)
{
    struct checkpoint *checkpoint = &stable->checkpoint;
    struct wio_log_state state;
    if (checkpoint->step != CHECKPOINT_WANTED || stable->logged.first != NULL) {
        return WIO_OK;
    }
    WIO_TRY(wio_log_flushed(stable->log, &state, err));
    images_forget(&stable->images);
    *checkpoint = (struct checkpoint){
        .step = CHECKPOINT_DATA, .redo_from = state.next_lsn, .count = checkpoint->count};
    enum wio_status status = carry_over(stable, err);
    if (status == WIO_ERR_BUSY) {
        checkpoint->step = CHECKPOINT_NONE; /* too much is prepared; later */
        return WIO_OK;
    }
    WIO_TRY(status);
    status = wio_storage_flush(stable->config.storage, data_durable, stable, err);
    if (status == WIO_END) {
        checkpoint->is_data_durable = true;
        return finish_checkpoint(stable, err);
    }
    return status;
}

/* Whatever can go on does. */
static enum wio_status advance(struct wio_stable *stable, struct wio_error *err)
{
    WIO_TRY(begin_checkpoint(stable, err));
    WIO_TRY(pump(stable, err));
    WIO_TRY(wio_log_flushed(stable->log, NULL, err));
    return finish_checkpoint(stable, err);
}

/* ---- what has become durable ---- */

static enum wio_status complete(struct wio_stable *stable, struct stable_op *op,
                                struct wio_error *err)
{
    enum wio_status status = WIO_OK;
    stable->cutting -= op->is_cutting ? 1 : 0;
    if (op->record.kind == WIO_LOG_COMMIT &&
        recents_add(&stable->recents, &op->record.txn) != WIO_OK) {
        status = no_memory(err);
    }
    if (status == WIO_OK && !op->is_applied &&
        (op->record.kind == WIO_LOG_COMMIT || op->record.kind == WIO_LOG_APPLY)) {
        status = redo_apply(stable->config.storage, op->redo.data, op->redo.size, REDO_REST, err);
    }
    if (status == WIO_OK && op->done != NULL) {
        op->done(op->context, WIO_OK, 0);
    }
    stable_op_destroy(op);
    return status;
}

static enum wio_status flushed(struct wio_stable *stable, const struct wio_log_state *state,
                               struct wio_error *err)
{
    if (state->has_failed) {
        errno = state->sys_errno;
        return wio_error_sys(err, "log", "cannot write or flush the log");
    }
    while (stable->logged.first != NULL && stable->logged.first->lsn <= state->durable_lsn) {
        WIO_TRY(complete(stable, stable_queue_pop(&stable->logged), err));
    }
    return advance(stable, err);
}

static void on_flushed(void *context, const struct wio_log_state *state)
{
    struct wio_stable *stable = context;
    struct wio_error err = WIO_ERROR_INIT;
    if (!stable->has_failed && flushed(stable, state, &err) != WIO_OK) {
        fail(stable, &err);
    }
}

/* ---- opening ---- */

static void stable_cleanup(struct wio_stable **stable)
{
    wio_stable_close(*stable);
}

void wio_stable_close(struct wio_stable *stable)
{
    if (stable != NULL) {
        wio_log_close(stable->log);
        images_fini(&stable->images);
        outcomes_fini(&stable->outcomes);
        recents_fini(&stable->recents);
        stable_queue_fini(&stable->waiting);
        stable_queue_fini(&stable->logged);
        wio_blob_fini(&stable->redo);
        free(stable);
    }
}

static enum wio_status open_log(struct wio_stable *stable, struct wio_error *err)
{
    struct wio_log_config config = {.io = stable->config.io,
                                    .segment_bytes = stable->config.segment_bytes,
                                    .may_create = stable->config.may_create,
                                    .on_flushed = on_flushed,
                                    .context = stable};
    return stable->config.log == WIO_LOG_SQLITE ? wio_log_open_sqlite(&config, &stable->log, err)
                                                : wio_log_open_own(&config, &stable->log, err);
}

enum wio_status wio_stable_open(const struct wio_stable_config *config,
                                struct wio_stable **stable_out, struct wio_error *err)
{
    WIO_CLEANUP(stable_cleanup) struct wio_stable *stable = calloc(1, sizeof(*stable));
    if (stable == NULL) {
        return no_memory(err);
    }
    stable->config = *config;
    images_init(&stable->images, config->storage);
    outcomes_init(&stable->outcomes);
    recents_init(&stable->recents);
    WIO_TRY(open_log(stable, err));
    struct recovery recovery = {config->storage, &stable->outcomes, &stable->recents, 0};
    WIO_TRY(wio_log_scan(stable->log, recover_record, &recovery, err));
    WIO_TRY(wio_storage_sync(config->storage, err));
    stable->recovered_records = recovery.records;
    stable->checkpoint.step = recovery.records > 0 ? CHECKPOINT_WANTED : CHECKPOINT_NONE;
    *stable_out = stable;
    stable = NULL;
    return WIO_OK;
}

/* ---- transactions ---- */

enum wio_status wio_stable_commit(struct wio_stable *stable, const struct wio_txn *txn,
                                  const struct wio_redo_change *changes, size_t count,
                                  wio_io_done *done, void *context, struct wio_error *err)
{
    struct wio_log_record record = {.kind = WIO_LOG_COMMIT, .txn = *txn};
    WIO_TRY(check_failed(stable, err));
    return submit(stable, &record, changes, count, done, context, err);
}

enum wio_status wio_stable_apply(struct wio_stable *stable, const struct wio_redo_change *changes,
                                 size_t count, wio_io_done *done, void *context,
                                 struct wio_error *err)
{
    struct wio_log_record record = {.kind = WIO_LOG_APPLY};
    WIO_TRY(check_failed(stable, err));
    return submit(stable, &record, changes, count, done, context, err);
}

enum wio_status wio_stable_note(struct wio_stable *stable, const struct wio_redo_change *changes,
                                size_t count, wio_io_done *done, void *context,
                                struct wio_error *err)
{
    struct wio_log_record record = {.kind = WIO_LOG_APPLY};
    WIO_TRY(check_failed(stable, err));
    WIO_TRY(submit(stable, &record, changes, count, done, context, err));
    stable->waiting.last->is_applied = true;
    stable->waiting.last->is_cutting = false;
    return WIO_OK;
}

/* A vote may be given: no tombstone of this attempt or a later one. */
static enum wio_status check_vote(const struct wio_stable *stable, const struct wio_txn *txn,
                                  bool *vote_out, struct wio_error *err)
{
    const struct outcome *known = outcomes_get(&stable->outcomes, txn);
    *vote_out = true;
    if (known == NULL ||
        (known->state == WIO_STABLE_ABORTED && known->txn.attempt < txn->attempt)) {
        return WIO_OK;
    }
    *vote_out = false;
    return known->state == WIO_STABLE_ABORTED
               ? WIO_OK
               : wio_error_set(err, WIO_ERR_USAGE, "log", WIO_ERROR_NO_OFFSET,
                               "transaction %llu of client %llu has voted already",
                               (unsigned long long)txn->number, (unsigned long long)txn->client);
}

/* NOLINTNEXTLINE(readability-function-size): a seam, a call back with its context, and an error */
enum wio_status wio_stable_prepare(struct wio_stable *stable, const struct wio_txn *txn,
                                   const uint16_t *participants, uint16_t participant_count,
                                   const struct wio_redo_change *changes, size_t count,
                                   wio_io_done *done, void *context, bool *vote_out,
                                   struct wio_error *err)
{
    struct wio_log_record record = {.kind = WIO_LOG_PREPARED,
                                    .txn = *txn,
                                    .participants = participants,
                                    .participant_count = participant_count};
    *vote_out = false;
    WIO_TRY(check_failed(stable, err));
    WIO_TRY(check_vote(stable, txn, vote_out, err));
    if (!*vote_out) {
        return WIO_OK;
    }
    return submit(stable, &record, changes, count, done, context, err);
}

enum wio_status wio_stable_decide(struct wio_stable *stable, const struct wio_txn *txn,
                                  bool is_committed, wio_io_done *done, void *context,
                                  struct wio_error *err)
{
    struct wio_log_record record = {.kind = is_committed ? WIO_LOG_COMMITTED : WIO_LOG_ABORTED,
                                    .txn = *txn};
    struct outcome *known = outcomes_get(&stable->outcomes, txn);
    WIO_TRY(check_failed(stable, err));
    if (known != NULL && known->state == WIO_STABLE_PREPARED &&
        known->txn.attempt == txn->attempt) {
        if (is_committed) {
            WIO_TRY(redo_apply(stable->config.storage, known->redo.data, known->redo.size,
                               REDO_REST, err));
        }
        outcome_decide(known, is_committed);
    } else if (is_committed && (known == NULL || known->state != WIO_STABLE_COMMITTED)) {
        return wio_error_set(err, WIO_ERR_USAGE, "log", WIO_ERROR_NO_OFFSET,
                             "expected a prepared transaction, found none of client %llu with "
                             "number %llu",
                             (unsigned long long)txn->client, (unsigned long long)txn->number);
    } else if (!is_committed && (known == NULL || known->txn.attempt < txn->attempt) &&
               outcomes_put(&stable->outcomes, txn, WIO_STABLE_ABORTED, NULL, NULL) != WIO_OK) {
        return no_memory(err);
    }
    return submit(stable, &record, NULL, 0, done, context, err);
}

enum wio_status wio_stable_forget(struct wio_stable *stable, const struct wio_txn *txn,
                                  wio_io_done *done, void *context, struct wio_error *err)
{
    struct wio_log_record record = {.kind = WIO_LOG_FORGOTTEN, .txn = *txn};
    WIO_TRY(check_failed(stable, err));
    outcomes_remove(&stable->outcomes, txn);
    return submit(stable, &record, NULL, 0, done, context, err);
}

enum wio_stable_outcome wio_stable_outcome(const struct wio_stable *stable,
                                           const struct wio_txn *txn)
{
    const struct outcome *known = outcomes_get(&stable->outcomes, txn);
    if (known == NULL || known->txn.attempt < txn->attempt) {
        return WIO_STABLE_UNKNOWN;
    }
    return known->txn.attempt == txn->attempt ? known->state : WIO_STABLE_ABORTED;
}

bool wio_stable_in_doubt(const struct wio_stable *stable, uint32_t *place,
                         struct wio_stable_doubt *doubt_out)
{
    for (; *place < stable->outcomes.count; (*place)++) {
        const struct outcome *known = &stable->outcomes.places[*place];
        if (known->state == WIO_STABLE_PREPARED) {
            *doubt_out =
                (struct wio_stable_doubt){known->txn, known->participants, known->participant_count,
                                          known->redo.data, known->redo.size};
            (*place)++;
            return true;
        }
    }
    return false;
}

bool wio_stable_decided(const struct wio_stable *stable, uint32_t *place, struct wio_txn *txn_out,
                        bool *is_committed_out)
{
    for (; *place < stable->outcomes.count; (*place)++) {
        const struct outcome *known = &stable->outcomes.places[*place];
        if (known->state == WIO_STABLE_COMMITTED || known->state == WIO_STABLE_ABORTED) {
            *txn_out = known->txn;
            *is_committed_out = known->state == WIO_STABLE_COMMITTED;
            (*place)++;
            return true;
        }
    }
    return false;
}

bool wio_stable_recent(const struct wio_stable *stable, uint32_t *place, struct wio_txn *txn_out)
{
    return recents_next(&stable->recents, place, txn_out);
}

/* ---- going on ---- */

enum wio_status wio_stable_checkpoint(struct wio_stable *stable, struct wio_error *err)
{
    WIO_TRY(check_failed(stable, err));
    if (stable->checkpoint.step == CHECKPOINT_NONE) {
        stable->checkpoint.step = CHECKPOINT_WANTED;
    }
    return wio_stable_kick(stable, err);
}

enum wio_status wio_stable_kick(struct wio_stable *stable, struct wio_error *err)
{
    struct wio_log_state state;
    struct wio_error why = WIO_ERROR_INIT;
    uint64_t bound = stable->config.checkpoint_bytes;
    WIO_TRY(check_failed(stable, err));
    enum wio_status status = wio_log_flushed(stable->log, &state, &why);
    if (status == WIO_OK && stable->checkpoint.step == CHECKPOINT_NONE &&
        state.used_bytes > (bound == 0 ? CHECKPOINT_BYTES : bound)) {
        stable->checkpoint.step = CHECKPOINT_WANTED;
    }
    status = status == WIO_OK ? advance(stable, &why) : status;
    if (status != WIO_OK) {
        fail(stable, &why);
        return wio_error_pass(err, &why);
    }
    return WIO_OK;
}

bool wio_stable_is_idle(const struct wio_stable *stable)
{
    struct wio_log_state state;
    struct wio_error ignored = WIO_ERROR_INIT;
    return stable->waiting.first == NULL && stable->logged.first == NULL &&
           stable->checkpoint.step == CHECKPOINT_NONE &&
           wio_log_flushed(stable->log, &state, &ignored) == WIO_OK && !state.is_flushing;
}

void wio_stable_stats(const struct wio_stable *stable, struct wio_stable_stats *stats_out)
{
    struct wio_error ignored = WIO_ERROR_INIT;
    *stats_out = (struct wio_stable_stats){.checkpoints = stable->checkpoint.count,
                                           .recovered_records = stable->recovered_records,
                                           .known = stable->outcomes.known};
    (void)!wio_log_flushed(stable->log, &stats_out->log, &ignored);
}
