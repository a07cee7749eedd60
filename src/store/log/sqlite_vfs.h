/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VFS of SQLite over the store's seam (store/io.h): databases are files below the process's own
 * directory, their flushes are the seam's. No locks and no shared memory: a database is opened by
 * one connection alone (locking_mode=EXCLUSIVE).
 */
#ifndef WIO_STORE_LOG_SQLITE_VFS_H
#define WIO_STORE_LOG_SQLITE_VFS_H

#include <sqlite3.h>

#include "store/io.h"

struct wio_sqlite_vfs;

/* Register a VFS over `io`, which outlives it. The caller destroys it after its last database. */
WIO_MUST_CHECK enum wio_status
wio_sqlite_vfs_create(struct wio_io *io, struct wio_sqlite_vfs **vfs_out, struct wio_error *err);
void wio_sqlite_vfs_destroy(struct wio_sqlite_vfs *vfs); /* NULL is allowed */
/* What sqlite3_open_v2 is to be given. */
const char *wio_sqlite_vfs_name(const struct wio_sqlite_vfs *vfs);
/* The errno of the last call of the seam that failed; 0: none. */
int wio_sqlite_vfs_errno(const struct wio_sqlite_vfs *vfs);

#endif
