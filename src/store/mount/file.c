/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for open files and their bytes. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "store/mount/mount_internal.h"

static struct mount_handle *file_of(const struct fuse_file_info *info)
{
    return (struct mount_handle *)(uintptr_t)info->fh; /* NOLINT(performance-no-int-to-ptr) */
}

static enum wio_status open_file(const char *path, int flags, mode_t mode,
                                 struct wio_store_file **file_out, struct wio_error *err)
{
    const struct wio_store_open_params how = {
        .struct_size = sizeof(how),
        .flags = flags & (O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_APPEND),
        .mode = mode & 07777,
        .view = WIO_VIEW_INDEPENDENT,
        .is_stable = true,
        .is_time_own = true};
    return wio_store_file_open(mount_store(), path, &how, file_out, err);
}

static int open_kept(const char *path, int flags, mode_t mode, struct fuse_file_info *info)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store_file *file = NULL;
    enum wio_status status = open_file(path, flags, mode, &file, &err);
    if (status != WIO_OK) {
        return mount_answer(status, &err);
    }
    struct mount_handle *open = mount_handles_add(&mount_this()->files, file);
    info->fh = (uintptr_t)open;
    return open != NULL ? 0 : -ENOMEM;
}

int mount_open(const char *path, struct fuse_file_info *info)
{
    return open_kept(path, info->flags & ~(O_CREAT | O_EXCL), 0, info);
}

/* The kernel has found no such file. In a mount for all users one that another client makes at this
 * moment must not be given to this one's user: there O_EXCL. */
int mount_create(const char *path, mode_t mode, struct fuse_file_info *info)
{
    const int flags = O_CREAT | (mount_this()->is_for_all ? O_EXCL : 0);
    int code = open_kept(path, info->flags | flags, mount_first_mode(mode), info);
    if (code == 0 && (code = mount_give(path, mode, mount_unlink)) != 0) {
        mount_handles_remove(&mount_this()->files, file_of(info));
    }
    return code;
}

/* Regular files; there are no FIFOs, sockets and devices in a store. */
int mount_mknod(const char *path, mode_t mode, dev_t device)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store_file *file = NULL;
    (void)device;
    if (!S_ISREG(mode)) {
        return -EOPNOTSUPP;
    }
    enum wio_status status =
        open_file(path, O_WRONLY | O_CREAT | O_EXCL, mount_first_mode(mode), &file, &err);
    wio_store_file_close(file);
    const int code = mount_answer(status, &err);
    return code == 0 ? mount_give(path, mode, mount_unlink) : code;
}

/* close(2) waits for this one, not for the release. */
int mount_flush(const char *path, struct fuse_file_info *info)
{
    uint64_t number = file_of(info)->number;
    if (mount_handles_clean(&mount_this()->files, number)) {
        mount_settle_time(path, number);
    }
    return 0;
}

int mount_release(const char *path, struct fuse_file_info *info)
{
    if (info->flock_release) {
        (void)mount_flock(path, info, LOCK_UN);
    }
    mount_handles_remove(&mount_this()->files, file_of(info));
    return 0;
}

int mount_read(const char *path, char *data, size_t size, off_t offset, struct fuse_file_info *info)
{
    struct wio_error err = WIO_ERROR_INIT;
    size_t got = 0;
    (void)path;
    enum wio_status status =
        wio_store_pread(file_of(info)->file, NULL, data, size, (uint64_t)offset, &got, &err);
    return status == WIO_OK ? (int)got : mount_answer(status, &err);
}

/* With O_APPEND the end is that of this moment in the store, not what the kernel takes for it. */
int mount_write(const char *path, const char *data, size_t size, off_t offset,
                struct fuse_file_info *info)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct mount_handle *open = file_of(info);
    (void)path;
    enum wio_status status =
        (info->flags & O_APPEND) != 0
            ? wio_store_write(open->file, NULL, data, size, &err)
            : wio_store_pwrite(open->file, NULL, data, size, (uint64_t)offset, &err);
    if (status == WIO_OK) {
        atomic_store(&open->is_dirty, true);
    }
    return status == WIO_OK ? (int)size : mount_answer(status, &err);
}

static int truncate_path(const char *path, uint64_t size)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store_file *file = NULL;
    struct wio_store_layout layout = {.struct_size = sizeof(layout)};
    enum wio_status status = open_file(path, O_WRONLY, 0, &file, &err);
    if (status != WIO_OK) {
        return mount_answer(status, &err);
    }
    status = wio_store_truncate(file, NULL, size, &err);
    wio_store_file_layout(file, &layout);
    wio_store_file_close(file);
    if (status == WIO_OK) {
        mount_settle_time(path, layout.file);
    }
    return mount_answer(status, &err);
}

int mount_truncate(const char *path, off_t size, struct fuse_file_info *info)
{
    struct wio_error err = WIO_ERROR_INIT;
    if (info == NULL) {
        return truncate_path(path, (uint64_t)size);
    }
    struct mount_handle *open = file_of(info);
    enum wio_status status = wio_store_truncate(open->file, NULL, (uint64_t)size, &err);
    if (status == WIO_OK) {
        atomic_store(&open->is_dirty, true);
    }
    return mount_answer(status, &err);
}

/* What was written is durable: files are opened as stable ones. */
int mount_fsync(const char *path, int is_data, struct fuse_file_info *info)
{
    (void)path;
    (void)is_data;
    (void)info;
    return 0;
}
