/* SPDX-License-Identifier: Apache-2.0 */
#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

void wio_fd_cleanup(int *fd)
{
    if (*fd >= 0) {
        int saved = errno;
        (void)close(*fd);
        errno = saved;
        *fd = -1;
    }
}

void wio_dir_cleanup(DIR **dir)
{
    if (*dir != NULL) {
        int saved = errno;
        (void)closedir(*dir);
        errno = saved;
        *dir = NULL;
    }
}

DIR *wio_io_list(int dir)
{
    WIO_CLEANUP(wio_fd_cleanup) int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    if (list != NULL) {
        fd = -1; /* closedir closes it */
    }
    return list;
}

enum wio_status wio_io_pread_some(int fd, const char *label, void *data, size_t *size_inout,
                                  uint64_t offset, struct wio_error *err)
{
    size_t size = *size_inout;
    size_t done = 0;
    ssize_t got = 1;
    while (done < size && got != 0) {
        got = pread(fd, (char *)data + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno != EINTR) {
            return wio_error_sys(err, label, "cannot read %zu bytes at %llu", size,
                                 (unsigned long long)offset);
        }
        done += got > 0 ? (size_t)got : 0;
    }
    *size_inout = done;
    return WIO_OK;
}

enum wio_status wio_io_pread(int fd, const char *label, void *data, size_t size, uint64_t offset,
                             struct wio_error *err)
{
    size_t got = size;
    WIO_TRY(wio_io_pread_some(fd, label, data, &got, offset, err));
    return got == size
               ? WIO_OK
               : wio_error_set(err, WIO_ERR_TRUNCATED, label, offset + got,
                               "expected %zu bytes more, found the end of the file", size - got);
}

enum wio_status wio_io_pwrite(int fd, const char *label, const void *data, size_t size,
                              uint64_t offset, struct wio_error *err)
{
    size_t done = 0;
    while (done < size) {
        ssize_t put = pwrite(fd, (const char *)data + done, size - done, (off_t)(offset + done));
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            errno = put == 0 ? ENOSPC : errno; /* nothing taken: it is full */
            return wio_error_sys(err, label, "cannot write %zu bytes at %llu", size,
                                 (unsigned long long)offset);
        }
        done += (size_t)put;
    }
    return WIO_OK;
}

enum wio_status wio_io_write(int fd, const char *label, const void *data, size_t size,
                             struct wio_error *err)
{
    size_t done = 0;
    while (done < size) {
        ssize_t put = write(fd, (const char *)data + done, size - done);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            errno = put == 0 ? ENOSPC : errno;
            return wio_error_sys(err, label, "cannot write %zu bytes", size);
        }
        done += (size_t)put;
    }
    return WIO_OK;
}

/* One read into the blob; *got_out = 0 at the end of the file. */
static enum wio_status read_some(int fd, const char *path, struct wio_blob *blob, size_t *got_out,
                                 struct wio_error *err)
{
    if (wio_blob_reserve(blob, 4096 + 1) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, path, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    ssize_t got;
    do {
        got = read(fd, blob->data + blob->size, blob->capacity - blob->size - 1);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        return wio_error_sys(err, path, "cannot read");
    }
    blob->size += (size_t)got;
    *got_out = (size_t)got;
    return WIO_OK;
}

enum wio_status wio_io_read_fd(int fd, const char *path, size_t max, struct wio_blob *blob_out,
                               struct wio_error *err)
{
    wio_blob_clear(blob_out);
    size_t got = 0;
    do {
        WIO_TRY(read_some(fd, path, blob_out, &got, err));
        if (blob_out->size > max) {
            return wio_error_set(err, WIO_ERR_FORMAT, path, max,
                                 "expected at most %zu bytes, found more", max);
        }
    } while (got > 0);
    blob_out->data[blob_out->size] = '\0';
    return WIO_OK;
}

enum wio_status wio_io_read_file(const char *path, size_t max, struct wio_blob *blob_out,
                                 struct wio_error *err)
{
    WIO_CLEANUP(wio_fd_cleanup) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return wio_error_sys(err, path, "cannot open");
    }
    return wio_io_read_fd(fd, path, max, blob_out, err);
}

enum wio_status wio_io_read_private(const char *path, size_t max, struct wio_blob *blob_out,
                                    struct wio_error *err)
{
    struct stat st;
    WIO_CLEANUP(wio_fd_cleanup) int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        return wio_error_sys(err, path, "cannot open");
    }
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
        return wio_error_set(err, WIO_ERR_USAGE, path, WIO_ERROR_NO_OFFSET,
                             "expected a regular file of this user");
    }
    if ((st.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return wio_error_set(err, WIO_ERR_USAGE, path, WIO_ERROR_NO_OFFSET,
                             "other users can read the key: expected mode 0600, found %04o",
                             (unsigned)st.st_mode & 07777);
    }
    return wio_io_read_fd(fd, path, max, blob_out, err);
}

static enum wio_status make_directory(const char *path, struct wio_error *err)
{
    if (mkdir(path, 0777) == 0) {
        return WIO_OK;
    }
    int cause = errno;
    struct stat st;
    if (cause == EEXIST || cause == EROFS || cause == EACCES || cause == EPERM) {
        if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
            return WIO_OK;
        }
    }
    errno = cause == EEXIST ? ENOTDIR : cause;
    return wio_error_sys(err, path, "cannot make the directory");
}

enum wio_status wio_io_mkdirs(const char *path, struct wio_error *err)
{
    char part[PATH_MAX];
    size_t bytes = strlen(path);
    if (bytes == 0 || bytes >= sizeof(part)) {
        errno = bytes == 0 ? ENOENT : ENAMETOOLONG;
        return wio_error_sys(err, path, "cannot make the directory");
    }
    memcpy(part, path, bytes + 1);
    for (size_t i = 1; i < bytes; i++) {
        if (part[i] == '/' && part[i - 1] != '/') {
            part[i] = '\0';
            WIO_TRY(make_directory(part, err));
            part[i] = '/';
        }
    }
    return make_directory(part, err);
}

static enum wio_status remove_below(int parent, const char *name, dev_t device, const char *root,
                                    struct wio_error *err);

/* `name` in `parent`, whatever it is, but not across a mount. */
static enum wio_status remove_entry(int parent, const char *name, dev_t device, const char *root,
                                    struct wio_error *err)
{
    struct stat st;
    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT ? WIO_OK : wio_error_sys(err, root, "cannot look at '%s'", name);
    }
    if (!S_ISDIR(st.st_mode)) {
        if (unlinkat(parent, name, 0) != 0 && errno != ENOENT) {
            return wio_error_sys(err, root, "cannot remove '%s'", name);
        }
        return WIO_OK;
    }
    if (st.st_dev != device) {
        return wio_error_set(err, WIO_ERR_BUSY, root, WIO_ERROR_NO_OFFSET,
                             "cannot remove '%s': another file system is mounted there", name);
    }
    WIO_TRY(remove_below(parent, name, device, root, err));
    if (unlinkat(parent, name, AT_REMOVEDIR) != 0 && errno != ENOENT) {
        return wio_error_sys(err, root, "cannot remove '%s'", name);
    }
    return WIO_OK;
}

static enum wio_status remove_below(int parent, const char *name, dev_t device, const char *root,
                                    struct wio_error *err)
{
    WIO_CLEANUP(wio_fd_cleanup)
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return wio_error_sys(err, root, "cannot open the directory '%s'", name);
    }
    WIO_CLEANUP(wio_dir_cleanup) DIR *dir = fdopendir(fd);
    if (dir == NULL) {
        return wio_error_sys(err, root, "cannot list the directory '%s'", name);
    }
    fd = -1; /* closedir closes it */
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (entry == NULL) {
            break;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            WIO_TRY(remove_entry(dirfd(dir), entry->d_name, device, root, err));
        }
    }
    return errno == 0 ? WIO_OK : wio_error_sys(err, root, "cannot list the directory '%s'", name);
}

enum wio_status wio_io_remove_tree_at(int parent, const char *name, struct wio_error *err)
{
    struct stat st;
    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT ? WIO_OK : wio_error_sys(err, name, "cannot look at it");
    }
    return remove_entry(parent, name, st.st_dev, name, err);
}

enum wio_status wio_io_remove_tree(const char *path, struct wio_error *err)
{
    return wio_io_remove_tree_at(AT_FDCWD, path, err);
}

/* What `path` (an O_PATH descriptor) is, opened for reading. Without /proc by its name again. */
static int open_again(int path, int dir, const char *name, int flags)
{
    char again[64];
    (void)snprintf(again, sizeof(again), "/proc/self/fd/%d", path);
    int fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return fd >= 0 || errno != ENOENT
               ? fd
               : openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
}

int wio_io_open_regular(int dir, const char *name, int flags)
{
    struct stat st;
    WIO_CLEANUP(wio_fd_cleanup) int path = openat(dir, name, O_PATH | O_CLOEXEC | flags);
    if (path < 0 || fstat(path, &st) != 0) {
        return -1;
    }
    if (!S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : S_ISLNK(st.st_mode) ? ELOOP : EINVAL;
        return -1;
    }
    return open_again(path, dir, name, flags);
}
