/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stable transactions of a target: what is committed here is durable and is all there or not at
 * all, whatever happens to the process or the machine. The log (store/log/log.h) has each
 * transaction's changes before a segment has them; recovery performs them again.
 *
 *     commit:   one record, applied when it is durable, then `done`
 *     prepare:  one record, the vote; applied when the outcome is said
 *     decide:   the outcome of what was prepared, or a tombstone: a vote that comes later is no
 *
 * Callers hold locks (store/lock): two transactions that are under way never change the same bytes.
 * Records become durable together while earlier ones are flushed; wio_stable_kick at the end of a
 * turn of the loop begins a flush. A write or flush that fails stops the store: `failed` comes
 * once, no `done` comes any more, and the process ends and recovers by wio_stable_open.
 *
 * Volatile changes go to the storage directly. A crash may lose them; of those in the same block as
 * stable bytes, recovery brings back what the block had before. Truncations and removals are said
 * by wio_stable_note as well, so that recovery does not bring back what they took away.
 *
 * Belongs to the thread of its `struct wio_io`.
 */
#ifndef WIO_STORE_STABLE_H
#define WIO_STORE_STABLE_H

#include "store/log/log.h"
#include "store/storage/redo.h"

/* --log=KIND */
enum wio_log_choice { WIO_LOG_OWN, WIO_LOG_SQLITE };

struct wio_stable_config {
    struct wio_io *io;
    struct wio_storage *storage; /* outlives it */
    enum wio_log_choice log;
    bool may_create;           /* a new root: there is no log yet */
    uint64_t segment_bytes;    /* of a new log; 0: 64 MiB */
    uint64_t checkpoint_bytes; /* of log that a checkpoint follows; 0: 256 MiB */
    /* The log or a segment could not be written: nothing is acknowledged any more. */
    void (*failed)(void *context, const struct wio_error *why);
    void *context;
};

/* Keep the numbers of enum wio_store_outcome (store/messages.h). */
enum wio_stable_outcome {
    WIO_STABLE_UNKNOWN = 0,
    WIO_STABLE_PREPARED = 2,
    WIO_STABLE_COMMITTED = 3,
    WIO_STABLE_ABORTED = 4
};

/* A prepared transaction whose outcome is not known: its participants are asked, its ranges are
 * locked until then. Borrowed; redo holds its changes (wio_change_decode). */
struct wio_stable_doubt {
    struct wio_txn txn;
    const uint16_t *participants;
    uint16_t participant_count;
    const void *redo;
    size_t redo_bytes;
};

struct wio_stable_stats {
    struct wio_log_state log;
    uint64_t checkpoints;
    uint64_t recovered_records;
    uint32_t known; /* transactions whose outcome is kept */
};

struct wio_stable;

/* Recovers; what was committed is in the storage and durable on return. The caller closes it. */
WIO_MUST_CHECK enum wio_status wio_stable_open(const struct wio_stable_config *config,
                                               struct wio_stable **stable_out,
                                               struct wio_error *err);
/* Not while a flush or checkpoint runs (wio_stable_is_idle), as long as the loop runs. NULL is
 * allowed. */
void wio_stable_close(struct wio_stable *stable);

/* `changes` (WRITE, TRUNCATE, REMOVE) are copied. `done` comes from the loop. */
WIO_MUST_CHECK enum wio_status wio_stable_commit(struct wio_stable *stable,
                                                 const struct wio_txn *txn,
                                                 const struct wio_redo_change *changes,
                                                 size_t count, wio_io_done *done, void *context,
                                                 struct wio_error *err);
/* `done`: the vote is yes and durable. *vote_out false: a tombstone of this attempt or a later one
 * stands, the vote is no, and `done` does not come. */
WIO_MUST_CHECK enum wio_status
wio_stable_prepare(struct wio_stable *stable, const struct wio_txn *txn,
                   const uint16_t *participants, uint16_t participant_count,
                   const struct wio_redo_change *changes, size_t count, wio_io_done *done,
                   void *context, bool *vote_out, struct wio_error *err);
/* The outcome. Of a prepared one: its changes are in the storage, or dropped, on return; `done`
 * (NULL: not asked for) when the outcome is durable, which only a tombstone needs. Of one that is
 * not known `is_committed` is an error, and false leaves a tombstone. The same again is allowed. */
WIO_MUST_CHECK enum wio_status wio_stable_decide(struct wio_stable *stable,
                                                 const struct wio_txn *txn, bool is_committed,
                                                 wio_io_done *done, void *context,
                                                 struct wio_error *err);
/* All participants know the outcome. */
WIO_MUST_CHECK enum wio_status wio_stable_forget(struct wio_stable *stable,
                                                 const struct wio_txn *txn, wio_io_done *done,
                                                 void *context, struct wio_error *err);
/* Changes outside a transaction: truncation and removal. */
WIO_MUST_CHECK enum wio_status wio_stable_apply(struct wio_stable *stable,
                                                const struct wio_redo_change *changes, size_t count,
                                                wio_io_done *done, void *context,
                                                struct wio_error *err);

/* The same changes, which the storage has got already: the log is told, for recovery. */
WIO_MUST_CHECK enum wio_status wio_stable_note(struct wio_stable *stable,
                                               const struct wio_redo_change *changes, size_t count,
                                               wio_io_done *done, void *context,
                                               struct wio_error *err);

enum wio_stable_outcome wio_stable_outcome(const struct wio_stable *stable,
                                           const struct wio_txn *txn);
/* The transactions in doubt, one a call; begin with *place = 0. False: no more. Valid until the
 * next call of another function. */
bool wio_stable_in_doubt(const struct wio_stable *stable, uint32_t *place,
                         struct wio_stable_doubt *doubt_out);
/* The same of those whose outcome is kept, committed or aborted. */
bool wio_stable_decided(const struct wio_stable *stable, uint32_t *place, struct wio_txn *txn_out,
                        bool *is_committed_out);
/* The same of the last 64 that each client has committed here alone, in their order. */
bool wio_stable_recent(const struct wio_stable *stable, uint32_t *place, struct wio_txn *txn_out);

/* Begin a flush of what waits; a checkpoint where the log has grown enough. */
WIO_MUST_CHECK enum wio_status wio_stable_kick(struct wio_stable *stable, struct wio_error *err);
/* Ask for a checkpoint now. */
WIO_MUST_CHECK enum wio_status wio_stable_checkpoint(struct wio_stable *stable,
                                                     struct wio_error *err);
bool wio_stable_is_idle(const struct wio_stable *stable);
void wio_stable_stats(const struct wio_stable *stable, struct wio_stable_stats *stats_out);

#endif
