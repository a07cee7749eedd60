/* SPDX-License-Identifier: Apache-2.0 */
/* Files below the process's directory: through no link, and not out of it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "store/net/net_internal.h"

struct wio_io_file {
    struct wio_net *net;
    int fd;
    char name[WIO_IO_NAME_MAX];
};

struct flush {
    uv_work_t work;
    struct wio_io_file *file;
    wio_io_done *done;
    void *context;
    int failed; /* errno */
};

/* ---- names --------------------------------------------------------------------------------- */

static enum wio_status check(const struct wio_net *net, const char *name, struct wio_error *err)
{
    if (net->dir < 0) {
        return wio_error_set(err, WIO_ERR_USAGE, name, WIO_ERROR_NO_OFFSET,
                             "this process has no directory");
    }
    if (strlen(name) >= WIO_IO_NAME_MAX || name[0] == '/' || strstr(name, "..") != NULL) {
        return wio_error_set(err, WIO_ERR_USAGE, name, WIO_ERROR_NO_OFFSET,
                             "expected a name below the directory");
    }
    return WIO_OK;
}

static int open_beneath(const struct wio_net *net, const char *name, int flags)
{
    const struct open_how how = {
        .flags = (uint64_t)flags | O_CLOEXEC | O_NOFOLLOW,
        .mode = (flags & O_CREAT) != 0 ? S_IRUSR | S_IWUSR : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
    };
    long fd = syscall(SYS_openat2, net->dir, name[0] == '\0' ? "." : name, &how, sizeof(how));
    if (fd < 0 && errno == ENOSYS) {
        fd = openat(net->dir, name[0] == '\0' ? "." : name, flags | O_CLOEXEC | O_NOFOLLOW,
                    S_IRUSR | S_IWUSR);
    }
    return (int)fd;
}

static enum wio_status make_dir(struct wio_io *io, const char *name, struct wio_error *err)
{
    WIO_TRY(check(wio_net_of(io), name, err));
    return mkdirat(wio_net_of(io)->dir, name, S_IRWXU) == 0
               ? WIO_OK
               : wio_error_sys(err, name, "cannot make the directory");
}

static enum wio_status remove_name(struct wio_io *io, const char *name, struct wio_error *err)
{
    int dir = wio_net_of(io)->dir;
    WIO_TRY(check(wio_net_of(io), name, err));
    bool is_gone =
        unlinkat(dir, name, 0) == 0 || (errno == EISDIR && unlinkat(dir, name, AT_REMOVEDIR) == 0);
    return is_gone ? WIO_OK : wio_error_sys(err, name, "cannot remove");
}

static enum wio_status rename_to(struct wio_io *io, const char *from, const char *to,
                                 struct wio_error *err)
{
    int dir = wio_net_of(io)->dir;
    WIO_TRY(check(wio_net_of(io), from, err));
    WIO_TRY(check(wio_net_of(io), to, err));
    return renameat(dir, from, dir, to) == 0
               ? WIO_OK
               : wio_error_sys(err, from, "cannot rename to '%s'", to);
}

static enum wio_status list(struct wio_io *io, const char *name, wio_io_each *each, void *context,
                            struct wio_error *err)
{
    WIO_TRY(check(wio_net_of(io), name, err));
    WIO_CLEANUP(wio_fd_cleanup)
    int fd = open_beneath(wio_net_of(io), name, O_RDONLY | O_DIRECTORY);
    WIO_CLEANUP(wio_dir_cleanup) DIR *dir = fd < 0 ? NULL : wio_io_list(fd);
    if (dir == NULL) {
        return wio_error_sys(err, name, "cannot list");
    }
    const struct dirent *entry = NULL;
    while ((errno = 0, entry = readdir(dir)) != NULL) {
        bool is_own = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (!is_own && !each(context, entry->d_name)) {
            return WIO_OK;
        }
    }
    return errno == 0 ? WIO_OK : wio_error_sys(err, name, "cannot list");
}

static enum wio_status dir_sync(struct wio_io *io, const char *name, struct wio_error *err)
{
    WIO_TRY(check(wio_net_of(io), name, err));
    WIO_CLEANUP(wio_fd_cleanup)
    int fd = open_beneath(wio_net_of(io), name, O_RDONLY | O_DIRECTORY);
    return fd >= 0 && fsync(fd) == 0 ? WIO_OK
                                     : wio_error_sys(err, name, "cannot flush the directory");
}

static int make_probe(int dir, const char *name)
{
    return openat(dir, name, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* A file in `dir` that no name leads to. -1 and errno. Where it has a name until it is open, one
 * that a process left which ended in between is removed. */
static int open_nameless(int dir)
{
    static const char name[] = ".file-size-probe";
    int fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) {
        return fd;
    }
    fd = make_probe(dir, name);
    if (fd < 0 && errno == EEXIST && unlinkat(dir, name, 0) == 0) {
        fd = make_probe(dir, name);
    }
    if (fd >= 0) {
        (void)unlinkat(dir, name, 0);
    }
    return fd;
}

/* Any other error than that of a length which cannot be (a quota, a fault of the disk) says nothing
 * of the file system's longest file: it is kept in *failed. */
static bool is_too_long(int fd, uint64_t bytes, bool *failed)
{
    int result = 0;
    do {
        result = ftruncate(fd, (off_t)bytes);
    } while (result != 0 && errno == EINTR);
    const bool is_refused = result != 0 && (errno == EFBIG || errno == EINVAL);
    *failed = *failed || (result != 0 && !is_refused);
    return is_refused;
}

/* No call tells the longest file of a file system: it is found by trying. Nothing is allocated, and
 * a bound of the process (RLIMIT_FSIZE), past which a signal would come, is not passed. Where the
 * file system does not let it be tried, that bound is all that is known; 0: there is none. */
static uint64_t find_file_bytes_max(int dir)
{
    struct rlimit limit;
    uint64_t most = INT64_MAX;
    WIO_CLEANUP(wio_fd_cleanup) int fd = open_nameless(dir);
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < most) {
        most = limit.rlim_cur;
    }
    bool failed = fd < 0;
    const uint64_t too_long =
        failed ? 0 : WIO_FIRST(bytes, 1, most, is_too_long(fd, bytes, &failed));
    const bool is_most = !failed && too_long == most && !is_too_long(fd, most, &failed);
    if (failed) {
        return most < INT64_MAX ? most : 0;
    }
    return is_most ? most : too_long - 1;
}

static enum wio_status space(struct wio_io *io, struct wio_io_space *space_out,
                             struct wio_error *err)
{
    struct statvfs is;
    WIO_TRY(check(wio_net_of(io), "", err));
    if (fstatvfs(wio_net_of(io)->dir, &is) != 0) {
        return wio_error_sys(err, NULL, "cannot ask for the space of the file system");
    }
    if (wio_net_of(io)->file_bytes_max == 0) {
        wio_net_of(io)->file_bytes_max = find_file_bytes_max(wio_net_of(io)->dir);
    }
    *space_out = (struct wio_io_space){.total_bytes = (uint64_t)is.f_blocks * is.f_frsize,
                                       .free_bytes = (uint64_t)is.f_bavail * is.f_frsize,
                                       .file_bytes_max = wio_net_of(io)->file_bytes_max};
    return WIO_OK;
}

/* ---- files --------------------------------------------------------------------------------- */

static enum wio_status open_file(struct wio_io *io, const char *name, unsigned flags,
                                 struct wio_io_file **file_out, struct wio_error *err)
{
    int how = (flags & WIO_IO_READ_ONLY) != 0 ? O_RDONLY : O_RDWR;
    how |= (flags & WIO_IO_CREATE) != 0 ? O_CREAT : 0;
    how |= (flags & WIO_IO_EXCLUSIVE) != 0 ? O_CREAT | O_EXCL : 0;
    WIO_TRY(check(wio_net_of(io), name, err));
    WIO_CLEANUP(wio_fd_cleanup) int fd = open_beneath(wio_net_of(io), name, how);
    if (fd < 0) {
        return wio_error_sys(err, name, "cannot open");
    }
    struct wio_io_file *file = calloc(1, sizeof(*file));
    if (file == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, name, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    file->net = wio_net_of(io);
    file->fd = fd;
    fd = -1;
    snprintf(file->name, sizeof(file->name), "%s", name);
    *file_out = file;
    return WIO_OK;
}

static void close_file(struct wio_io_file *file)
{
    if (file != NULL) {
        wio_fd_cleanup(&file->fd);
        free(file);
    }
}

static enum wio_status stat_file(struct wio_io_file *file, struct stat *st, struct wio_error *err)
{
    return fstat(file->fd, st) == 0 ? WIO_OK
                                    : wio_error_sys(err, file->name, "cannot ask for its size");
}

static enum wio_status size_of(struct wio_io_file *file, uint64_t *bytes_out, struct wio_error *err)
{
    struct stat st;
    WIO_TRY(stat_file(file, &st, err));
    *bytes_out = (uint64_t)st.st_size;
    return WIO_OK;
}

static enum wio_status used_of(struct wio_io_file *file, uint64_t *bytes_out, struct wio_error *err)
{
    struct stat st;
    WIO_TRY(stat_file(file, &st, err));
    *bytes_out = (uint64_t)st.st_blocks * 512;
    return WIO_OK;
}

static enum wio_status read_file(struct wio_io_file *file, uint64_t offset, void *data, size_t size,
                                 size_t *got_out, struct wio_error *err)
{
    *got_out = size;
    return wio_io_pread_some(file->fd, file->name, data, got_out, offset, err);
}

/* What one call did not write. */
static enum wio_status write_rest(struct wio_io_file *file, uint64_t offset,
                                  const struct wio_io_bytes *parts, size_t count, size_t done,
                                  struct wio_error *err)
{
    for (size_t i = 0; i < count; i++) {
        size_t skip = done < parts[i].size ? done : parts[i].size;
        WIO_TRY(wio_io_pwrite(file->fd, file->name, (const char *)parts[i].data + skip,
                              parts[i].size - skip, offset + skip, err));
        offset += parts[i].size;
        done -= skip;
    }
    return WIO_OK;
}

static enum wio_status write_file(struct wio_io_file *file, uint64_t offset,
                                  const struct wio_io_bytes *parts, size_t count,
                                  struct wio_error *err)
{
    struct iovec iov[WIO_IO_BYTES_MAX];
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        iov[i] = (struct iovec){(void *)(uintptr_t)parts[i].data, parts[i].size};
        size += parts[i].size;
    }
    ssize_t put = pwritev(file->fd, iov, (int)count, (off_t)offset);
    return put >= 0 && (size_t)put == size
               ? WIO_OK
               : write_rest(file, offset, parts, count, put > 0 ? (size_t)put : 0, err);
}

static enum wio_status truncate_file(struct wio_io_file *file, uint64_t bytes,
                                     struct wio_error *err)
{
    return ftruncate(file->fd, (off_t)bytes) == 0
               ? WIO_OK
               : wio_error_sys(err, file->name, "cannot set its size");
}

static enum wio_status allocate(struct wio_io_file *file, uint64_t bytes, struct wio_error *err)
{
    int failed = posix_fallocate(file->fd, 0, (off_t)bytes);
    errno = failed;
    return failed == 0 ? WIO_OK : wio_error_sys(err, file->name, "cannot allocate its blocks");
}

static enum wio_status sync_file(struct wio_io_file *file, struct wio_error *err)
{
    return fdatasync(file->fd) == 0 ? WIO_OK : wio_error_sys(err, file->name, "cannot flush");
}

static enum wio_status settle_file(struct wio_io_file *file, struct wio_error *err)
{
    WIO_TRY(sync_file(file, err));
    int failed = posix_fadvise(file->fd, 0, 0, POSIX_FADV_DONTNEED);
    errno = failed;
    return failed == 0 ? WIO_OK : wio_error_sys(err, file->name, "cannot drop what is cached");
}

/* ---- flushes, off the loop ----------------------------------------------------------------- */

static void flush_run(uv_work_t *work)
{
    struct flush *flush = work->data;
    flush->failed = fdatasync(flush->file->fd) == 0 ? 0 : errno;
}

static void flush_done(uv_work_t *work, int status)
{
    struct flush *flush = work->data;
    int failed = status != 0 ? ECANCELED : flush->failed;
    flush->done(flush->context, failed == 0 ? WIO_OK : WIO_ERR_IO, failed);
    free(flush);
}

static enum wio_status flush_file(struct wio_io_file *file, wio_io_done *done, void *context)
{
    struct flush *flush = calloc(1, sizeof(*flush));
    if (flush == NULL) {
        return WIO_ERR_NOMEM;
    }
    *flush = (struct flush){.file = file, .done = done, .context = context};
    flush->work.data = flush;
    if (uv_queue_work(&file->net->loop, &flush->work, flush_run, flush_done) != 0) {
        free(flush);
        return WIO_ERR_NOMEM;
    }
    return WIO_OK;
}

void wio_net_file_ops(struct wio_io_ops *ops)
{
    ops->file_open = open_file;
    ops->file_close = close_file;
    ops->file_size = size_of;
    ops->file_used = used_of;
    ops->file_read = read_file;
    ops->file_write = write_file;
    ops->file_truncate = truncate_file;
    ops->file_allocate = allocate;
    ops->file_flush = flush_file;
    ops->file_sync = sync_file;
    ops->file_settle = settle_file;
    ops->make_dir = make_dir;
    ops->remove = remove_name;
    ops->rename = rename_to;
    ops->list = list;
    ops->dir_sync = dir_sync;
    ops->space = space;
}
