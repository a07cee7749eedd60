/* SPDX-License-Identifier: Apache-2.0 */
#include "store/catalogue/catalogue.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "store/catalogue/database.h"
#include "store/log/sqlite_vfs.h"

/* user_version of the database: "WIOC" and the version of the tables (R-CAT-1). */
enum { TABLES_VERSION = 0x57494301 };

static enum wio_status failed(struct wio_catalogue *catalogue, const char *what,
                              struct wio_error *err)
{
    int sys_errno = wio_sqlite_vfs_errno(catalogue->vfs);
    if (sys_errno == 0) {
        return wio_error_set(err, WIO_ERR_FORMAT, WIO_CATALOGUE_NAME, WIO_ERROR_NO_OFFSET,
                             "cannot %s: %s", what, sqlite3_errmsg(catalogue->db));
    }
    errno = sys_errno;
    return wio_error_sys(err, WIO_CATALOGUE_NAME, "cannot %s (%s)", what,
                         sqlite3_errmsg(catalogue->db));
}

static enum wio_status run(struct wio_catalogue *catalogue, const char *sql, struct wio_error *err)
{
    return sqlite3_exec(catalogue->db, sql, NULL, NULL, NULL) == SQLITE_OK
               ? WIO_OK
               : failed(catalogue, "set up the catalogue", err);
}

/* The first column of the first row; 0 where there is none. */
static enum wio_status ask(struct wio_catalogue *catalogue, const char *sql, int64_t *number_out,
                           struct wio_error *err)
{
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(catalogue->db, sql, -1, &row, NULL);
    code = code == SQLITE_OK ? sqlite3_step(row) : code;
    *number_out = code == SQLITE_ROW ? sqlite3_column_int64(row, 0) : 0;
    (void)sqlite3_finalize(row);
    return code == SQLITE_ROW || code == SQLITE_DONE ? WIO_OK
                                                     : failed(catalogue, "read the catalogue", err);
}

void wio_catalogue_close(struct wio_catalogue *catalogue)
{
    if (catalogue == NULL) {
        return;
    }
    for (unsigned i = 0; i < SQL_COUNT; i++) {
        (void)sqlite3_finalize(catalogue->statements[i]);
    }
    (void)sqlite3_close(catalogue->db);
    wio_sqlite_vfs_destroy(catalogue->vfs);
    free(catalogue);
}

static void catalogue_cleanup(struct wio_catalogue **catalogue)
{
    wio_catalogue_close(*catalogue);
}

/* R-CAT-1: all in one transaction: there with its root directory, or not at all. */
static enum wio_status create(struct wio_catalogue *catalogue,
                              const struct wio_catalogue_config *config, struct wio_error *err)
{
    struct node root = {.stat = {.mode = S_IFDIR | (config->mode & 07777),
                                 .uid = config->uid,
                                 .gid = config->gid,
                                 .generation = 1,
                                 .atime_ns = config->now_ns,
                                 .mtime_ns = config->now_ns,
                                 .ctime_ns = config->now_ns}};
    struct leaf_name no_name = {.size = 0};
    WIO_TRY(run(catalogue,
                "BEGIN IMMEDIATE;"
                "CREATE TABLE node(id INTEGER PRIMARY KEY AUTOINCREMENT, parent INTEGER NOT NULL,"
                " name BLOB NOT NULL, mode INTEGER NOT NULL, uid INTEGER NOT NULL,"
                " gid INTEGER NOT NULL, segments INTEGER NOT NULL, stripe_unit INTEGER NOT NULL,"
                " generation INTEGER NOT NULL, atime_ns INTEGER NOT NULL,"
                " mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, target BLOB,"
                " UNIQUE(parent, name));"
                "PRAGMA user_version=1464419073", /* TABLES_VERSION */
                err));
    if (node_insert(catalogue, &root, &no_name, NULL) != 0) {
        return failed(catalogue, "make the root directory", err);
    }
    return run(catalogue, "COMMIT", err);
}

static enum wio_status set_up(struct wio_catalogue *catalogue,
                              const struct wio_catalogue_config *config, struct wio_error *err)
{
    int64_t version = 0;
    WIO_TRY(run(catalogue,
                "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA temp_store=MEMORY",
                err));
    WIO_TRY(run(catalogue,
                config->is_volatile ? "PRAGMA synchronous=NORMAL" : "PRAGMA synchronous=FULL",
                err));
    WIO_TRY(ask(catalogue, "PRAGMA user_version", &version, err));
    if (version == 0 && config->may_create) {
        return create(catalogue, config, err);
    }
    return version == TABLES_VERSION
               ? WIO_OK
               : wio_error_set(err, WIO_ERR_FORMAT, WIO_CATALOGUE_NAME, WIO_ERROR_NO_OFFSET,
                               "expected a catalogue of version %d, found %lld", TABLES_VERSION,
                               (long long)version);
}

enum wio_status wio_catalogue_open(const struct wio_catalogue_config *config,
                                   struct wio_catalogue **catalogue_out, struct wio_error *err)
{
    WIO_CLEANUP(catalogue_cleanup)
    struct wio_catalogue *catalogue = calloc(1, sizeof(*catalogue));
    if (catalogue == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, WIO_CATALOGUE_NAME, WIO_ERROR_NO_OFFSET,
                             "out of memory");
    }
    int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (config->may_create ? SQLITE_OPEN_CREATE : 0);
    catalogue->io = config->io;
    WIO_TRY(wio_sqlite_vfs_create(config->io, &catalogue->vfs, err));
    if (sqlite3_open_v2(WIO_CATALOGUE_NAME, &catalogue->db, flags,
                        wio_sqlite_vfs_name(catalogue->vfs)) != SQLITE_OK) {
        return failed(catalogue, "open the catalogue", err);
    }
    WIO_TRY(set_up(catalogue, config, err));
    *catalogue_out = catalogue;
    catalogue = NULL;
    return WIO_OK;
}

enum wio_status wio_catalogue_check(struct wio_catalogue *catalogue, struct wio_error *err)
{
    int64_t number = 0;
    WIO_TRY(ask(catalogue,
                "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
                &number, err));
    if (number != 0) {
        return wio_error_set(err, WIO_ERR_FORMAT, WIO_CATALOGUE_NAME, WIO_ERROR_NO_OFFSET,
                             "the database is damaged in %lld places", (long long)number);
    }
    WIO_TRY(ask(catalogue,
                "SELECT child.id FROM node AS child LEFT JOIN node AS dir ON dir.id = child.parent "
                "WHERE child.id <> 1 AND (dir.id IS NULL OR (dir.mode & 61440) <> 16384) LIMIT 1",
                &number, err));
    return number == 0 ? WIO_OK
                       : wio_error_set(err, WIO_ERR_FORMAT, WIO_CATALOGUE_NAME, WIO_ERROR_NO_OFFSET,
                                       "expected a directory that has node %lld, found none",
                                       (long long)number);
}
