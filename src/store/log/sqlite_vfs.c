/* SPDX-License-Identifier: Apache-2.0 */
#include "store/log/sqlite_vfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fmt.h"

struct wio_sqlite_vfs {
    sqlite3_vfs base;
    struct wio_io *io;
    int sys_errno;
    char name[32];
};

struct vfs_file {
    sqlite3_file base;
    struct wio_sqlite_vfs *vfs;
    struct wio_io_file *file;
    bool is_named;     /* its name is durable */
    bool is_temporary; /* to be removed when it is closed */
    char name[128];
};

static struct vfs_file *file_of(sqlite3_file *base)
{
    return (struct vfs_file *)base;
}

static struct wio_sqlite_vfs *vfs_of(sqlite3_vfs *base)
{
    return (struct wio_sqlite_vfs *)base;
}

/* The result of SQLite for a status of the seam. */
static int result(struct wio_sqlite_vfs *vfs, enum wio_status status, const struct wio_error *err,
                  int otherwise)
{
    if (status == WIO_OK) {
        return SQLITE_OK;
    }
    vfs->sys_errno = err->sys_errno != 0 ? err->sys_errno : EIO;
    if (status == WIO_ERR_NOMEM) {
        return SQLITE_IOERR_NOMEM;
    }
    return err->sys_errno == ENOSPC ? SQLITE_FULL : otherwise;
}

/* ---- of a file ---- */

static int file_close(sqlite3_file *base)
{
    struct vfs_file *file = file_of(base);
    const struct wio_io_ops *ops = file->vfs->io->ops;
    struct wio_error err = WIO_ERROR_INIT;
    ops->file_close(file->file);
    return file->is_temporary ? result(file->vfs, ops->remove(file->vfs->io, file->name, &err),
                                       &err, SQLITE_IOERR_DELETE)
                              : SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *data, int size, sqlite3_int64 offset)
{
    struct vfs_file *file = file_of(base);
    struct wio_error err = WIO_ERROR_INIT;
    size_t got = 0;
    enum wio_status status =
        file->vfs->io->ops->file_read(file->file, (uint64_t)offset, data, (size_t)size, &got, &err);
    if (status == WIO_OK && got < (size_t)size) {
        memset((char *)data + got, 0, (size_t)size - got);
        return SQLITE_IOERR_SHORT_READ;
    }
    return result(file->vfs, status, &err, SQLITE_IOERR_READ);
}

static int file_write(sqlite3_file *base, const void *data, int size, sqlite3_int64 offset)
{
    struct vfs_file *file = file_of(base);
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_io_bytes part = {data, (size_t)size};
    return result(file->vfs,
                  file->vfs->io->ops->file_write(file->file, (uint64_t)offset, &part, 1, &err),
                  &err, SQLITE_IOERR_WRITE);
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    struct vfs_file *file = file_of(base);
    struct wio_error err = WIO_ERROR_INIT;
    return result(file->vfs, file->vfs->io->ops->file_truncate(file->file, (uint64_t)size, &err),
                  &err, SQLITE_IOERR_TRUNCATE);
}

/* The directory that a name lies in: "" where it has none. */
static void directory_of(const char *name, char *dir, size_t size)
{
    const char *slash = strrchr(name, '/');
    size_t length = slash != NULL ? (size_t)(slash - name) : 0;
    (void)snprintf(dir, size, "%.*s", (int)length, name);
}

/* The first flush makes the file's name durable, too. */
static int file_sync(sqlite3_file *base, int flags)
{
    struct vfs_file *file = file_of(base);
    const struct wio_io_ops *ops = file->vfs->io->ops;
    struct wio_error err = WIO_ERROR_INIT;
    (void)flags;
    int code = result(file->vfs, ops->file_sync(file->file, &err), &err, SQLITE_IOERR_FSYNC);
    if (code == SQLITE_OK && !file->is_named) {
        char dir[sizeof(file->name)];
        directory_of(file->name, dir, sizeof(dir));
        code = result(file->vfs, ops->dir_sync(file->vfs->io, dir, &err), &err,
                      SQLITE_IOERR_DIR_FSYNC);
        file->is_named = code == SQLITE_OK;
    }
    return code;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
    struct vfs_file *file = file_of(base);
    struct wio_error err = WIO_ERROR_INIT;
    uint64_t bytes = 0;
    int code = result(file->vfs, file->vfs->io->ops->file_size(file->file, &bytes, &err), &err,
                      SQLITE_IOERR_FSTAT);
    *size = (sqlite3_int64)bytes;
    return code;
}

static int file_lock(sqlite3_file *base, int level)
{
    (void)base;
    (void)level;
    return SQLITE_OK;
}

static int file_check_lock(sqlite3_file *base, int *is_locked)
{
    (void)base;
    *is_locked = 0;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int op, void *arg)
{
    (void)base;
    (void)op;
    (void)arg;
    return SQLITE_NOTFOUND;
}

/* A block that is written while the machine stops may become anything. */
static int file_sector_size(sqlite3_file *base)
{
    (void)base;
    return 4096;
}

static int file_characteristics(sqlite3_file *base)
{
    (void)base;
    return 0;
}

/* ---- of names ---- */

static int vfs_open(sqlite3_vfs *base, const char *name, sqlite3_file *out, int flags,
                    int *out_flags)
{
    static const sqlite3_io_methods methods = {
        .iVersion = 1,
        .xClose = file_close,
        .xRead = file_read,
        .xWrite = file_write,
        .xTruncate = file_truncate,
        .xSync = file_sync,
        .xFileSize = file_size,
        .xLock = file_lock,
        .xUnlock = file_lock,
        .xCheckReservedLock = file_check_lock,
        .xFileControl = file_control,
        .xSectorSize = file_sector_size,
        .xDeviceCharacteristics = file_characteristics,
    };
    struct wio_sqlite_vfs *vfs = vfs_of(base);
    struct vfs_file *file = file_of(out);
    struct wio_error err = WIO_ERROR_INIT;
    *file = (struct vfs_file){.vfs = vfs};
    if (name == NULL || strlen(name) >= sizeof(file->name)) {
        return SQLITE_CANTOPEN; /* no temporary files: temp_store=MEMORY */
    }
    memcpy(file->name, name, strlen(name) + 1);
    file->is_temporary = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
    unsigned how = (flags & SQLITE_OPEN_CREATE) != 0 ? WIO_IO_CREATE : 0;
    how |= (flags & SQLITE_OPEN_READONLY) != 0 ? (unsigned)WIO_IO_READ_ONLY : 0;
    int code = result(vfs, vfs->io->ops->file_open(vfs->io, name, how, &file->file, &err), &err,
                      SQLITE_CANTOPEN);
    if (code == SQLITE_OK) {
        file->base.pMethods = &methods;
        if (out_flags != NULL) {
            *out_flags = flags;
        }
    }
    return code;
}

static int vfs_delete(sqlite3_vfs *base, const char *name, int sync_dir)
{
    struct wio_sqlite_vfs *vfs = vfs_of(base);
    struct wio_error err = WIO_ERROR_INIT;
    enum wio_status status = vfs->io->ops->remove(vfs->io, name, &err);
    if (status != WIO_OK && err.sys_errno == ENOENT) {
        return SQLITE_IOERR_DELETE_NOENT;
    }
    if (status == WIO_OK && sync_dir != 0) {
        char dir[WIO_IO_NAME_MAX];
        directory_of(name, dir, sizeof(dir));
        status = vfs->io->ops->dir_sync(vfs->io, dir, &err);
    }
    return result(vfs, status, &err, SQLITE_IOERR_DELETE);
}

static int vfs_access(sqlite3_vfs *base, const char *name, int flags, int *is_there)
{
    struct wio_sqlite_vfs *vfs = vfs_of(base);
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_io_file *file = NULL;
    uint64_t bytes = 1;
    enum wio_status status = vfs->io->ops->file_open(vfs->io, name, WIO_IO_READ_ONLY, &file, &err);
    if (status != WIO_OK) {
        *is_there = 0;
        return err.sys_errno == ENOENT ? SQLITE_OK : result(vfs, status, &err, SQLITE_IOERR_ACCESS);
    }
    status = vfs->io->ops->file_size(file, &bytes, &err);
    vfs->io->ops->file_close(file);
    *is_there = flags != SQLITE_ACCESS_EXISTS || bytes > 0;
    return result(vfs, status, &err, SQLITE_IOERR_ACCESS);
}

static int vfs_full_name(sqlite3_vfs *base, const char *name, int size, char *out)
{
    (void)base;
    return snprintf(out, (size_t)size, "%s", name) < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int vfs_randomness(sqlite3_vfs *base, int size, char *out)
{
    struct wio_sqlite_vfs *vfs = vfs_of(base);
    vfs->io->ops->random(vfs->io, out, (size_t)size);
    return size;
}

static int vfs_sleep(sqlite3_vfs *base, int microseconds)
{
    (void)base;
    return microseconds; /* nothing here waits for a lock */
}

/* Days since noon in Greenwich on November 24, 4714 BC, times 86,400,000 (SQLite's unit). */
static int vfs_time64(sqlite3_vfs *base, sqlite3_int64 *out)
{
    struct wio_sqlite_vfs *vfs = vfs_of(base);
    *out = INT64_C(210866760000000) + (sqlite3_int64)(vfs->io->ops->unix_ns(vfs->io) / 1000000);
    return SQLITE_OK;
}

static int vfs_time(sqlite3_vfs *base, double *out)
{
    sqlite3_int64 now = 0;
    int code = vfs_time64(base, &now);
    *out = (double)now / 86400000.0;
    return code;
}

static int vfs_last_error(sqlite3_vfs *base, int size, char *out)
{
    (void)size;
    (void)out;
    return vfs_of(base)->sys_errno;
}

enum wio_status wio_sqlite_vfs_create(struct wio_io *io, struct wio_sqlite_vfs **vfs_out,
                                      struct wio_error *err)
{
    struct wio_sqlite_vfs *vfs = calloc(1, sizeof(*vfs));
    if (vfs == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    struct wio_fmt fmt = wio_fmt_of(vfs->name, sizeof(vfs->name));
    wio_fmt_str(&fmt, "whyio-");
    wio_fmt_hex(&fmt, (uint64_t)(uintptr_t)vfs, 1);
    vfs->io = io;
    vfs->base = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = sizeof(struct vfs_file),
        .mxPathname = 120,
        .zName = vfs->name,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_name,
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_time,
        .xCurrentTimeInt64 = vfs_time64,
        .xGetLastError = vfs_last_error,
    };
    if (sqlite3_vfs_register(&vfs->base, 0) != SQLITE_OK) {
        free(vfs);
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    *vfs_out = vfs;
    return WIO_OK;
}

void wio_sqlite_vfs_destroy(struct wio_sqlite_vfs *vfs)
{
    if (vfs != NULL) {
        (void)sqlite3_vfs_unregister(&vfs->base);
        free(vfs);
    }
}

const char *wio_sqlite_vfs_name(const struct wio_sqlite_vfs *vfs)
{
    return vfs->name;
}

int wio_sqlite_vfs_errno(const struct wio_sqlite_vfs *vfs)
{
    return vfs->sys_errno;
}
