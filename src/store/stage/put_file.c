/* SPDX-License-Identifier: Apache-2.0 */
/* A local file into a store. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "store/stage/stage_internal.h"

/* Where the next data begin at or behind `at`, and how many bytes they are at most; 0: a hole up to
 * the end of the file, which is *from_out. Where a file system knows of no holes all is data. */
static uint64_t next_data(int fd, uint64_t at, bool has_holes, uint64_t *from_out)
{
    struct stat status;
    if (!has_holes) {
        *from_out = at;
        return STAGE_CHUNK;
    }
    const off_t from = lseek(fd, (off_t)at, SEEK_DATA);
    *from_out = from >= 0 ? (uint64_t)from : at;
    if (from < 0 && errno == ENXIO && fstat(fd, &status) == 0) {
        *from_out = (uint64_t)status.st_size > at ? (uint64_t)status.st_size : at;
        return 0;
    }
    const off_t to = from >= 0 ? lseek(fd, from, SEEK_HOLE) : -1;
    return to > from && to - from < STAGE_CHUNK ? (uint64_t)(to - from) : STAGE_CHUNK;
}

/* Only of such a file: those of proc(5) have a size of 0, or one that is not theirs, and no data to
 * seek to, but bytes to read. */
static bool has_holes(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && status.st_size > 0 &&
           (uint64_t)status.st_blocks * 512 < (uint64_t)status.st_size;
}

/* Holes stay holes. A file that becomes shorter meanwhile is copied up to its new end. */
static enum wio_status copy_bytes(struct stage *stage, int fd, const char *path,
                                  struct wio_store_file *to, void *buffer, struct wio_error *err)
{
    uint64_t at = 0;
    uint64_t end = 0; /* behind what was written */
    uint64_t wanted = 0;
    const bool is_sparse = has_holes(fd);
    while ((wanted = next_data(fd, at, is_sparse, &at)) > 0) {
        size_t got = (size_t)wanted;
        WIO_TRY(wio_io_pread_some(fd, path, buffer, &got, at, err));
        if (got == 0) {
            return WIO_OK;
        }
        WIO_TRY(wio_store_pwrite(to, NULL, buffer, got, at, err));
        at += got;
        end = at;
        stage_moved(stage, got);
    }
    return at > end ? wio_store_truncate(to, NULL, at, err) : WIO_OK;
}

/* A new file has the access bits at once; one that is there gets them before the first byte. Of the
 * user's own one that may not be written, as an earlier copy may be, the bits are changed first. */
static enum wio_status open_remote(struct stage *stage, const struct stage_file *file,
                                   struct wio_store_file **to_out, struct wio_error *err)
{
    struct wio_store_open_params how = {.struct_size = sizeof(how),
                                        .flags = O_WRONLY | O_CREAT | O_EXCL,
                                        .mode = file->mode,
                                        .view = WIO_VIEW_INDEPENDENT,
                                        .segments = stage->params->segments,
                                        .stripe_unit = stage->params->stripe_unit,
                                        .is_stable = stage->params->is_stable};
    struct wio_error own = WIO_ERROR_INIT;
    enum wio_status status = wio_store_file_open(stage->store, file->remote, &how, to_out, &own);
    if (status == WIO_OK || own.sys_errno != EEXIST) {
        return status == WIO_OK ? WIO_OK : wio_error_pass(err, &own);
    }
    how.flags = O_WRONLY | O_CREAT | O_TRUNC | (file->is_met ? O_NOFOLLOW : 0);
    status = wio_store_file_open(stage->store, file->remote, &how, to_out, &own);
    if (status != WIO_OK && own.sys_errno == EACCES &&
        wio_store_chmod(stage->store, file->remote, file->mode | 0600, NULL) == WIO_OK) {
        status = wio_store_file_open(stage->store, file->remote, &how, to_out, &own);
    }
    if (status != WIO_OK) {
        return wio_error_pass(err, &own);
    }
    status = wio_store_chmod(stage->store, file->remote, file->mode, err);
    if (status != WIO_OK) {
        wio_store_file_close(*to_out);
    }
    return status;
}

static enum wio_status copy_to(struct stage *stage, const struct stage_file *file, int fd,
                               void *buffer, struct wio_error *err)
{
    struct wio_store_file *to = NULL;
    char name[STAGE_PATH_MAX];
    stage_name(name, file->base, file->local);
    WIO_TRY(open_remote(stage, file, &to, err));
    enum wio_status status = copy_bytes(stage, fd, name, to, buffer, err);
    wio_store_file_close(to);
    WIO_TRY(status);
    return wio_store_utimens(stage->store, file->remote, WIO_STORE_KEEP_TIME, file->mtime_ns,
                             file->is_met ? WIO_STORE_NOFOLLOW : 0, err);
}

/* The time is set when all bytes are there: a copy that was interrupted has another one. */
static bool is_there(struct stage *stage, const struct stage_file *file)
{
    struct wio_store_attr attr = {.struct_size = sizeof(attr)};
    const unsigned how = file->is_met ? WIO_STORE_NOFOLLOW : 0;
    return wio_store_stat(stage->store, file->remote, how, &attr, NULL) == WIO_OK &&
           S_ISREG(attr.mode) && attr.size == file->bytes && attr.mtime_ns == file->mtime_ns;
}

void stage_put_file(struct stage *stage, struct stage_file *file, void *buffer)
{
    struct wio_error err = WIO_ERROR_INIT;
    if (stage->params->is_update && is_there(stage, file)) {
        stage_count(stage, &stage->counts.skipped);
        return;
    }
    int fd = stage_open(file->root, file->local, O_RDONLY, 0);
    if (fd < 0) {
        stage_failed_at(stage, file->base, file->local, "cannot open");
        return;
    }
    if (copy_to(stage, file, fd, buffer, &err) == WIO_OK) {
        stage_count(stage, &stage->counts.files);
    } else {
        stage_failed(stage, &err);
    }
    (void)close(fd);
}
