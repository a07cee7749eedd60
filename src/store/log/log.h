/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The redo log behind a seam of five functions: append a batch, flushed, checkpoint, scan, close.
 * Two implementations stand below it: the log of our own (redo_log.c, docs/STORE-FORMAT.md section
 * 2) and SQLite as the reference (sqlite_log.c). Both recover to the same transactions.
 *
 * A log belongs to the thread of its `struct wio_io`. Nothing is durable before a flush has ended:
 *
 *     wio_log_append(log, records, count, &lsn, err);   any number of times, does no I/O
 *     wio_log_flushed(log, &state, err);                begins a flush if none runs
 *     ... on_flushed(context, &state) from the loop: everything up to state.durable_lsn is durable
 *
 * While one flush runs the next batch forms; it is written when that flush has ended. No timer is
 * involved. After a failed write or flush nothing more is acknowledged: `has_failed` stays, and the
 * log is recovered by opening it again (fsync(2), NOTES: what a failed flush wrote is unknown).
 */
#ifndef WIO_STORE_LOG_H
#define WIO_STORE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "lock/types.h"
#include "store/io.h"

/* What a record says (R-LOG-7). On disk: added to, never renumbered. */
enum wio_log_kind {
    WIO_LOG_EPOCH = 1,     /* the log was opened; made by the log itself, never delivered */
    WIO_LOG_COMMIT = 2,    /* committed here alone: redo is to be applied */
    WIO_LOG_PREPARED = 3,  /* the vote of one of several participants, with its redo */
    WIO_LOG_COMMITTED = 4, /* the outcome of a prepared transaction */
    WIO_LOG_ABORTED = 5,   /* the other outcome; where nothing was prepared: a tombstone */
    WIO_LOG_FORGOTTEN = 6, /* all participants know the outcome: it is asked no more */
    WIO_LOG_APPLY = 7,     /* redo outside a transaction (a truncation, a removal) */
    WIO_LOG_KINDS
};

/* Bytes of redo in one record, and of the smallest and the usual segment of the log. */
#define WIO_LOG_REDO_MAX (16u << 20)
#define WIO_LOG_SEGMENT_MIN (64u << 10)
#define WIO_LOG_SEGMENT_BYTES (64u << 20)

/* Participants and redo are borrowed: append copies them, scan lends them. */
struct wio_log_record {
    uint16_t kind;
    struct wio_txn txn;
    const uint16_t *participants; /* targets of the transaction, this one too */
    uint16_t participant_count;
    const void *redo; /* store/storage/redo.h */
    uint32_t redo_bytes;
};

struct wio_log_state {
    uint64_t next_lsn;    /* of the next record; the first of all is 1 */
    uint64_t durable_lsn; /* this record and all before it are durable */
    uint64_t redo_from;   /* where recovery begins: the last checkpoint */
    uint64_t used_bytes;  /* of the log since then: when to checkpoint */
    uint64_t flushes;     /* that have ended well since the log was opened */
    bool is_flushing;
    bool has_failed;
    int sys_errno; /* why it has failed */
};

struct wio_log_config {
    struct wio_io *io;      /* files below its "log" directory, which exists */
    uint64_t segment_bytes; /* of a new log; 0: WIO_LOG_SEGMENT_BYTES; a multiple of 4096 */
    bool may_create;        /* make the log where there is none; else that is an error */
    /* A flush has ended, well or not (has_failed). May append. */
    void (*on_flushed)(void *context, const struct wio_log_state *state);
    void *context;
};

/* An error ends the scan and is its result. `record` is lent until the function returns. */
typedef enum wio_status wio_log_visit(void *context, uint64_t lsn,
                                      const struct wio_log_record *record, struct wio_error *err);

struct wio_log;

struct wio_log_ops {
    enum wio_status (*append)(struct wio_log *log, const struct wio_log_record *records,
                              size_t count, uint64_t *lsn_out, struct wio_error *err);
    enum wio_status (*flushed)(struct wio_log *log, struct wio_log_state *state_out,
                               struct wio_error *err);
    enum wio_status (*checkpoint)(struct wio_log *log, uint64_t redo_from, struct wio_error *err);
    enum wio_status (*scan)(struct wio_log *log, wio_log_visit *visit, void *context,
                            struct wio_error *err);
    void (*close)(struct wio_log *log);
};

/* The first member of an implementation's own structure. */
struct wio_log {
    const struct wio_log_ops *ops;
};

/* Open or make the log; recovers its end. The caller closes it. Errors: WIO_ERR_FORMAT with file
 * and offset where records are missing that were durable; WIO_ERR_UNSUPPORTED where this whyio was
 * built without SQLite. */
WIO_MUST_CHECK enum wio_status wio_log_open_own(const struct wio_log_config *config,
                                                struct wio_log **log_out, struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_log_open_sqlite(const struct wio_log_config *config,
                                                   struct wio_log **log_out, struct wio_error *err);

/* Put records behind all others, together or not at all; does no I/O but where the log has to
 * become longer. *lsn_out: of the last one. WIO_ERR_BUSY: as much as a segment holds waits for a
 * flush already. WIO_ERR_IO with ENOSPC: no room for a longer log, nothing was appended. */
WIO_MUST_CHECK static inline enum wio_status wio_log_append(struct wio_log *log,
                                                            const struct wio_log_record *records,
                                                            size_t count, uint64_t *lsn_out,
                                                            struct wio_error *err)
{
    return log->ops->append(log, records, count, lsn_out, err);
}

/* Begin a flush where something waits and none runs, and tell how far the log is. `state_out` may
 * be NULL. */
WIO_MUST_CHECK static inline enum wio_status
wio_log_flushed(struct wio_log *log, struct wio_log_state *state_out, struct wio_error *err)
{
    return log->ops->flushed(log, state_out, err);
}

/* Recovery is to begin at `redo_from` (at most durable_lsn + 1): what is before has been applied
 * and is durable where it was applied, which the caller has seen to while appends went on. Segments
 * before it are used again. Durable on return. */
WIO_MUST_CHECK static inline enum wio_status
wio_log_checkpoint(struct wio_log *log, uint64_t redo_from, struct wio_error *err)
{
    return log->ops->checkpoint(log, redo_from, err);
}

/* The durable records from the last checkpoint on, in their order. */
WIO_MUST_CHECK static inline enum wio_status wio_log_scan(struct wio_log *log, wio_log_visit *visit,
                                                          void *context, struct wio_error *err)
{
    return log->ops->scan(log, visit, context, err);
}

/* What was not flushed is lost. Not while is_flushing, as long as the loop runs. NULL is allowed.
 */
static inline void wio_log_close(struct wio_log *log)
{
    if (log != NULL) {
        log->ops->close(log);
    }
}

#endif
