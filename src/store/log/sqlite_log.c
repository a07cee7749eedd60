/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference: the same log as a table of SQLite, with its write-ahead log and full
 * synchronisation. A batch is one transaction of SQLite, written when `flushed` is called; it is
 * durable on return from COMMIT, and told from the loop as a flush of the own log is.
 */
#include "store/log/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "store/log/sqlite_vfs.h"

static const char database[] = "log/redo.sqlite";

enum { DONE_AT_ONCE = 0 };

struct sqlite_log {
    struct wio_log base;
    struct wio_log_config config;
    struct wio_sqlite_vfs *vfs;
    sqlite3 *db;
    sqlite3_stmt *insert;
    struct wio_io_timer *told; /* fires on the loop after a batch */
    uint64_t pending_first;    /* rows that stand in the open transaction begin here; 0: none */
    uint64_t open_lsn;
    uint64_t used_bytes;
    struct wio_log_state state;
};

static struct sqlite_log *log_of(struct wio_log *log)
{
    return (struct sqlite_log *)log;
}

/* Fail for good, with what SQLite and the seam say. */
static enum wio_status fail(struct sqlite_log *log, const char *what, struct wio_error *err)
{
    int sys_errno = wio_sqlite_vfs_errno(log->vfs);
    log->state.has_failed = true;
    log->state.sys_errno = sys_errno != 0 ? sys_errno : EIO;
    errno = log->state.sys_errno;
    return wio_error_sys(err, database, "cannot %s (%s)", what, sqlite3_errmsg(log->db));
}

static enum wio_status check_failed(const struct sqlite_log *log, struct wio_error *err)
{
    if (!log->state.has_failed) {
        return WIO_OK;
    }
    errno = log->state.sys_errno;
    return wio_error_sys(err, database,
                         "an earlier write or flush of the log failed; it has to be "
                         "recovered");
}

static enum wio_status run(struct sqlite_log *log, const char *sql, struct wio_error *err)
{
    return sqlite3_exec(log->db, sql, NULL, NULL, NULL) == SQLITE_OK ? WIO_OK : fail(log, sql, err);
}

/* ---- append ---- */

static int bind_record(sqlite3_stmt *insert, uint64_t lsn, const struct wio_log_record *record)
{
    const struct wio_txn *txn = &record->txn;
    int code = sqlite3_bind_int64(insert, 1, (sqlite3_int64)lsn);
    code |= sqlite3_bind_int(insert, 2, record->kind);
    code |= sqlite3_bind_int64(insert, 3, (sqlite3_int64)txn->client);
    code |= sqlite3_bind_int64(insert, 4, (sqlite3_int64)txn->number);
    code |= sqlite3_bind_int64(insert, 5, (sqlite3_int64)txn->birth_ns);
    code |= sqlite3_bind_int64(insert, 6, txn->attempt);
    code |= sqlite3_bind_blob(insert, 7, record->participants,
                              record->participant_count * (int)sizeof(uint16_t), SQLITE_STATIC);
    code |= sqlite3_bind_blob(insert, 8, record->redo, (int)record->redo_bytes, SQLITE_STATIC);
    return code;
}

static enum wio_status insert_record(struct sqlite_log *log, uint64_t lsn,
                                     const struct wio_log_record *record, struct wio_error *err)
{
    int code = bind_record(log->insert, lsn, record);
    code = code == SQLITE_OK ? sqlite3_step(log->insert) : code;
    (void)sqlite3_reset(log->insert);
    (void)sqlite3_clear_bindings(log->insert);
    log->used_bytes += record->redo_bytes + 64;
    return code == SQLITE_DONE ? WIO_OK : fail(log, "insert a record", err);
}

static enum wio_status sqlite_append(struct wio_log *base, const struct wio_log_record *records,
                                     size_t count, uint64_t *lsn_out, struct wio_error *err)
{
    struct sqlite_log *log = log_of(base);
    WIO_TRY(check_failed(log, err));
    for (size_t i = 0; i < count; i++) {
        if (records[i].kind == 0 || records[i].kind >= WIO_LOG_KINDS ||
            records[i].redo_bytes > WIO_LOG_REDO_MAX) {
            return wio_error_set(err, WIO_ERR_USAGE, database, WIO_ERROR_NO_OFFSET,
                                 "expected a record of a known kind and at most %u bytes of redo",
                                 WIO_LOG_REDO_MAX);
        }
    }
    if (log->pending_first == 0) {
        WIO_TRY(run(log, "BEGIN IMMEDIATE", err));
        log->pending_first = log->state.next_lsn;
    }
    for (size_t i = 0; i < count; i++) {
        WIO_TRY(insert_record(log, log->state.next_lsn + i, &records[i], err));
    }
    log->state.next_lsn += count;
    *lsn_out = log->state.next_lsn - 1;
    return WIO_OK;
}

/* ---- flushed ---- */

static void get_state(const struct sqlite_log *log, struct wio_log_state *state_out)
{
    *state_out = log->state;
    state_out->used_bytes = log->used_bytes;
}

static void tell(void *context)
{
    struct sqlite_log *log = context;
    struct wio_log_state state;
    log->state.is_flushing = false;
    get_state(log, &state);
    if (log->config.on_flushed != NULL) {
        log->config.on_flushed(log->config.context, &state);
    }
}

static enum wio_status commit_batch(struct sqlite_log *log, struct wio_error *err)
{
    WIO_TRY(check_failed(log, err));
    if (log->pending_first == 0) {
        return WIO_OK;
    }
    WIO_TRY(run(log, "COMMIT", err));
    log->pending_first = 0;
    log->state.durable_lsn = log->state.next_lsn - 1;
    log->state.flushes++;
    log->state.is_flushing = true; /* until the loop has told it */
    log->config.io->ops->timer_set(log->told, DONE_AT_ONCE);
    return WIO_OK;
}

static enum wio_status sqlite_flushed(struct wio_log *base, struct wio_log_state *state_out,
                                      struct wio_error *err)
{
    struct sqlite_log *log = log_of(base);
    enum wio_status status = commit_batch(log, err);
    if (state_out != NULL) {
        get_state(log, state_out);
    }
    return status;
}

/* ---- checkpoint ---- */

/* `sql` has one parameter: the number of a record. */
static enum wio_status run_with(struct sqlite_log *log, const char *sql, uint64_t lsn,
                                struct wio_error *err)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(log->db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        (void)sqlite3_bind_int64(statement, 1, (sqlite3_int64)lsn);
        code = sqlite3_step(statement);
        (void)sqlite3_finalize(statement);
    }
    return code == SQLITE_DONE ? WIO_OK : fail(log, sql, err);
}

static enum wio_status sqlite_checkpoint(struct wio_log *base, uint64_t redo_from,
                                         struct wio_error *err)
{
    struct sqlite_log *log = log_of(base);
    WIO_TRY(check_failed(log, err));
    if (redo_from < log->state.redo_from || redo_from > log->state.durable_lsn + 1) {
        return wio_error_set(err, WIO_ERR_USAGE, database, WIO_ERROR_NO_OFFSET,
                             "expected a checkpoint from %llu to %llu, found %llu",
                             (unsigned long long)log->state.redo_from,
                             (unsigned long long)log->state.durable_lsn + 1,
                             (unsigned long long)redo_from);
    }
    WIO_TRY(commit_batch(log, err));
    WIO_TRY(run(log, "BEGIN IMMEDIATE", err));
    WIO_TRY(run_with(log, "DELETE FROM record WHERE lsn < ?1", redo_from, err));
    WIO_TRY(run_with(log, "UPDATE place SET redo_from = ?1", redo_from, err));
    WIO_TRY(run(log, "COMMIT", err));
    log->state.redo_from = redo_from;
    log->used_bytes = 0;
    return WIO_OK;
}

/* ---- scan ---- */

static void row_record(sqlite3_stmt *row, struct wio_log_record *record)
{
    *record = (struct wio_log_record){
        .kind = (uint16_t)sqlite3_column_int(row, 1),
        .txn = {.client = (uint64_t)sqlite3_column_int64(row, 2),
                .number = (uint64_t)sqlite3_column_int64(row, 3),
                .birth_ns = (uint64_t)sqlite3_column_int64(row, 4),
                .attempt = (uint32_t)sqlite3_column_int64(row, 5)},
        .participants = sqlite3_column_blob(row, 6),
        .participant_count = (uint16_t)((size_t)sqlite3_column_bytes(row, 6) / sizeof(uint16_t)),
        .redo = sqlite3_column_blob(row, 7),
        .redo_bytes = (uint32_t)sqlite3_column_bytes(row, 7)};
}

static void statement_cleanup(sqlite3_stmt **statement)
{
    (void)sqlite3_finalize(*statement);
}

static enum wio_status sqlite_scan(struct wio_log *base, wio_log_visit *visit, void *context,
                                   struct wio_error *err)
{
    struct sqlite_log *log = log_of(base);
    WIO_CLEANUP(statement_cleanup) sqlite3_stmt *rows = NULL;
    int code = sqlite3_prepare_v2(log->db,
                                  "SELECT lsn, kind, client, number, birth_ns, attempt, "
                                  "participants, redo FROM record WHERE lsn >= ?1 AND lsn <= ?2 "
                                  "ORDER BY lsn",
                                  -1, &rows, NULL);
    if (code != SQLITE_OK) {
        return fail(log, "read the records", err);
    }
    (void)sqlite3_bind_int64(rows, 1, (sqlite3_int64)log->state.redo_from);
    (void)sqlite3_bind_int64(rows, 2, (sqlite3_int64)log->open_lsn);
    while ((code = sqlite3_step(rows)) == SQLITE_ROW) {
        struct wio_log_record record;
        row_record(rows, &record);
        WIO_TRY(visit(context, (uint64_t)sqlite3_column_int64(rows, 0), &record, err));
    }
    return code == SQLITE_DONE ? WIO_OK : fail(log, "read the records", err);
}

/* ---- open and close ---- */

static void sqlite_close(struct wio_log *base)
{
    struct sqlite_log *log = log_of(base);
    (void)sqlite3_finalize(log->insert);
    (void)sqlite3_close(log->db);
    wio_sqlite_vfs_destroy(log->vfs);
    log->config.io->ops->timer_destroy(log->told);
    free(log);
}

static void log_cleanup(struct sqlite_log **log)
{
    if (*log != NULL) {
        sqlite_close(&(*log)->base);
    }
}

static enum wio_status get_number(struct sqlite_log *log, const char *sql, uint64_t *out,
                                  struct wio_error *err)
{
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(log->db, sql, -1, &row, NULL);
    code = code == SQLITE_OK ? sqlite3_step(row) : code;
    *out = code == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(row, 0) : 0;
    (void)sqlite3_finalize(row);
    return code == SQLITE_ROW ? WIO_OK : fail(log, sql, err);
}

/* The tables are made in one transaction: a log is there with all of them or not at all. */
static enum wio_status make_tables(struct sqlite_log *log, struct wio_error *err)
{
    uint64_t tables = 0;
    WIO_TRY(get_number(log, "SELECT count(*) FROM sqlite_master WHERE name IN ('record', 'place')",
                       &tables, err));
    if (tables == 2) {
        return WIO_OK;
    }
    if (!log->config.may_create) {
        return wio_error_set(err, WIO_ERR_FORMAT, database, WIO_ERROR_NO_OFFSET,
                             "expected the tables of a log, found none");
    }
    return run(log,
               "BEGIN IMMEDIATE;"
               "CREATE TABLE record(lsn INTEGER PRIMARY KEY, kind INTEGER NOT NULL,"
               " client INTEGER NOT NULL, number INTEGER NOT NULL, birth_ns INTEGER NOT NULL,"
               " attempt INTEGER NOT NULL, participants BLOB, redo BLOB);"
               "CREATE TABLE place(redo_from INTEGER NOT NULL);"
               "INSERT INTO place VALUES(1);"
               "COMMIT",
               err);
}

static enum wio_status open_database(struct sqlite_log *log, struct wio_error *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
                (log->config.may_create ? SQLITE_OPEN_CREATE : 0);
    if (sqlite3_open_v2(database, &log->db, flags, wio_sqlite_vfs_name(log->vfs)) != SQLITE_OK) {
        return fail(log, "open the log", err);
    }
    WIO_TRY(run(log,
                "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                "PRAGMA temp_store=MEMORY; PRAGMA wal_autocheckpoint=1000",
                err));
    WIO_TRY(make_tables(log, err));
    if (sqlite3_prepare_v2(log->db, "INSERT INTO record VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)", -1,
                           &log->insert, NULL) != SQLITE_OK) {
        return fail(log, "prepare to insert", err);
    }
    WIO_TRY(get_number(log, "SELECT redo_from FROM place", &log->state.redo_from, err));
    return get_number(log,
                      "SELECT max(ifnull(max(lsn), 0), (SELECT redo_from - 1 FROM place)) "
                      "FROM record",
                      &log->state.durable_lsn, err);
}

enum wio_status wio_log_open_sqlite(const struct wio_log_config *config, struct wio_log **log_out,
                                    struct wio_error *err)
{
    static const struct wio_log_ops ops = {sqlite_append, sqlite_flushed, sqlite_checkpoint,
                                           sqlite_scan, sqlite_close};
    WIO_CLEANUP(log_cleanup) struct sqlite_log *log = calloc(1, sizeof(*log));
    if (log == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, database, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    log->base.ops = &ops;
    log->config = *config;
    log->told = config->io->ops->timer_create(config->io, tell, log);
    if (log->told == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, database, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    WIO_TRY(wio_sqlite_vfs_create(config->io, &log->vfs, err));
    WIO_TRY(open_database(log, err));
    log->open_lsn = log->state.durable_lsn;
    log->state.next_lsn = log->open_lsn + 1;
    *log_out = &log->base;
    log = NULL;
    return WIO_OK;
}
