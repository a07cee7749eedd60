/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for names and attributes. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/cleanup.h"
#include "store/mount/mount_internal.h"

#define SECOND_NS INT64_C(1000000000)

static struct timespec to_time(int64_t ns)
{
    int64_t part = ns % SECOND_NS;
    part = part < 0 ? part + SECOND_NS : part;
    return (struct timespec){.tv_sec = (ns - part) / SECOND_NS, .tv_nsec = part};
}

static int64_t from_time(struct timespec time)
{
    if (time.tv_nsec == UTIME_NOW) {
        return WIO_STORE_NOW;
    }
    if (time.tv_nsec == UTIME_OMIT) {
        return WIO_STORE_KEEP_TIME;
    }
    return (int64_t)time.tv_sec * SECOND_NS + time.tv_nsec;
}

static struct stat to_stat(const struct wio_store_attr *attr)
{
    return (struct stat){.st_ino = attr->file,
                         .st_mode = attr->mode,
                         .st_nlink = attr->links,
                         .st_uid = attr->uid,
                         .st_gid = attr->gid,
                         .st_size = (off_t)attr->size,
                         .st_blksize = 1 << 20,
                         .st_blocks = (blkcnt_t)((attr->size + 511) / 512),
                         .st_atim = to_time(attr->atime_ns),
                         .st_mtim = to_time(attr->mtime_ns),
                         .st_ctim = to_time(attr->ctime_ns)};
}

/* A symbolic link is as long as its text. */
static enum wio_status link_size(const char *path, struct wio_store_attr *attr,
                                 struct wio_error *err)
{
    char text[PATH_MAX];
    WIO_TRY(wio_store_readlink(mount_store(), path, text, sizeof(text), err));
    attr->size = strlen(text);
    return WIO_OK;
}

int mount_getattr(const char *path, struct stat *stat, struct fuse_file_info *info)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store_attr attr = {.struct_size = sizeof(attr)};
    (void)info;
    enum wio_status status = wio_store_stat(mount_store(), path, WIO_STORE_NOFOLLOW, &attr, &err);
    if (status == WIO_OK && mount_handles_clean(&mount_this()->files, attr.file)) {
        mount_settle_time(path, attr.file);
        status = wio_store_stat(mount_store(), path, WIO_STORE_NOFOLLOW, &attr, &err);
    }
    if (status == WIO_OK && S_ISLNK(attr.mode)) {
        status = link_size(path, &attr, &err);
    }
    if (status == WIO_OK) {
        *stat = to_stat(&attr);
    }
    return mount_answer(status, &err);
}

int mount_readlink(const char *path, char *text, size_t size)
{
    struct wio_error err = WIO_ERROR_INIT;
    return mount_answer(wio_store_readlink(mount_store(), path, text, size, &err), &err);
}

int mount_mkdir(const char *path, mode_t mode)
{
    struct wio_error err = WIO_ERROR_INIT;
    const mode_t first = mount_first_mode(mode) & 07777;
    const int code = mount_answer(wio_store_mkdir(mount_store(), path, first, &err), &err);
    return code == 0 ? mount_give(path, mode, mount_rmdir) : code;
}

int mount_rmdir(const char *path)
{
    struct wio_error err = WIO_ERROR_INIT;
    return mount_answer(wio_store_rmdir(mount_store(), path, &err), &err);
}

int mount_unlink(const char *path)
{
    struct wio_error err = WIO_ERROR_INIT;
    return mount_answer(wio_store_unlink(mount_store(), path, &err), &err);
}

int mount_symlink(const char *target, const char *path)
{
    struct wio_error err = WIO_ERROR_INIT;
    const int code = mount_answer(wio_store_symlink(mount_store(), target, path, &err), &err);
    return code == 0 ? mount_give(path, 0, mount_unlink) : code;
}

/* A file of a store has one name. */
int mount_link(const char *from, const char *to)
{
    (void)from;
    (void)to;
    return -EOPNOTSUPP;
}

int mount_rename(const char *from, const char *to, unsigned flags)
{
    struct wio_error err = WIO_ERROR_INIT;
    if (flags != 0) {
        return -EINVAL; /* renameat2(2): the file system does not support the flag */
    }
    return mount_answer(wio_store_rename(mount_store(), from, to, &err), &err);
}

int mount_chmod(const char *path, mode_t mode, struct fuse_file_info *info)
{
    struct wio_error err = WIO_ERROR_INIT;
    (void)info;
    return mount_answer(wio_store_chmod(mount_store(), path, mode & 07777, &err), &err);
}

int mount_chown(const char *path, uid_t uid, gid_t gid, struct fuse_file_info *info)
{
    struct wio_error err = WIO_ERROR_INIT;
    (void)info;
    return mount_answer(wio_store_chown(mount_store(), path, uid, gid, WIO_STORE_NOFOLLOW, &err),
                        &err);
}

int mount_utimens(const char *path, const struct timespec times[2], struct fuse_file_info *info)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store_attr attr = {.struct_size = sizeof(attr)};
    const unsigned itself = WIO_STORE_NOFOLLOW | WIO_STORE_NO_SIZE;
    (void)info;
    if (wio_store_stat(mount_store(), path, itself, &attr, &err) == WIO_OK &&
        mount_handles_clean(&mount_this()->files, attr.file) && times[1].tv_nsec == UTIME_OMIT) {
        mount_settle_time(path, attr.file);
    }
    return mount_answer(wio_store_utimens(mount_store(), path, from_time(times[0]),
                                          from_time(times[1]), WIO_STORE_NOFOLLOW, &err),
                        &err);
}

struct mount_listing {
    void *buffer;
    fuse_fill_dir_t fill;
    bool is_full; /* no memory */
};

static bool add(void *context, const char *name, const struct wio_store_attr *attr)
{
    struct mount_listing *listing = context;
    const struct stat stat = to_stat(attr);
    listing->is_full = listing->fill(listing->buffer, name, &stat, 0, 0) != 0;
    return !listing->is_full;
}

int mount_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
                  struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct mount_listing listing = {.buffer = buffer, .fill = fill};
    (void)offset;
    (void)info;
    (void)flags;
    if (fill(buffer, ".", NULL, 0, 0) != 0 || fill(buffer, "..", NULL, 0, 0) != 0) {
        return -ENOMEM;
    }
    enum wio_status status = wio_store_list(mount_store(), path, add, &listing, &err);
    return listing.is_full ? -ENOMEM : mount_answer(status, &err);
}

int mount_statfs(const char *path, struct statvfs *space)
{
    enum { BLOCK = 4096, NAME_BYTES = 255 };
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store_space store = {.struct_size = sizeof(store)};
    (void)path;
    enum wio_status status = wio_store_statfs(mount_store(), &store, &err);
    uint64_t used = store.used_bytes < store.total_bytes ? store.used_bytes : store.total_bytes;
    uint64_t free_blocks = (store.total_bytes - used) / BLOCK;
    *space = (struct statvfs){.f_bsize = BLOCK,
                              .f_frsize = BLOCK,
                              .f_blocks = store.total_bytes / BLOCK,
                              .f_bfree = free_blocks,
                              .f_bavail = free_blocks,
                              .f_namemax = NAME_BYTES};
    return mount_answer(status, &err);
}
