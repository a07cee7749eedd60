/* SPDX-License-Identifier: Apache-2.0 */
/* What the requests of a mount share. */
#ifndef WIO_MOUNT_INTERNAL_H
#define WIO_MOUNT_INTERNAL_H

#ifndef FUSE_USE_VERSION
#define FUSE_USE_VERSION 32
#endif
#include <fuse.h>

#include <whyio/store.h>

#include "store/mount/handles.h"
#include "store/mount/jobs.h"
#include "store/mount/locks.h"

struct mount {
    struct wio_store *store;
    const char *point; /* absolute, without links */
    struct mount_handles files;
    struct mount_jobs jobs;
    struct mount_locks locks;
    bool is_for_all;
};

/* Of the request that this thread serves. */
static inline struct mount *mount_this(void)
{
    return fuse_get_context()->private_data;
}

static inline struct wio_store *mount_store(void)
{
    return mount_this()->store;
}

/* 0, or the negative error number that the kernel is answered with. */
int mount_answer(enum wio_status status, const struct wio_error *err);
/* In a mount for all users what is made at first is user 0's, with these rights .. */
mode_t mount_first_mode(mode_t mode);
/* .. and is then given to the requester, with all of them. Where that fails it is removed by
 * `undo`.
 */
int mount_give(const char *path, mode_t mode, int (*undo)(const char *path));

/* operations.c: each finds the job of its request first. */
extern const struct fuse_operations mount_operations;

/* As in struct fuse_operations. */
int mount_getattr(const char *path, struct stat *stat, struct fuse_file_info *info);
int mount_readlink(const char *path, char *text, size_t size);
int mount_mkdir(const char *path, mode_t mode);
int mount_rmdir(const char *path);
int mount_unlink(const char *path);
int mount_symlink(const char *target, const char *path);
int mount_link(const char *from, const char *to);
int mount_rename(const char *from, const char *to, unsigned flags);
int mount_chmod(const char *path, mode_t mode, struct fuse_file_info *info);
int mount_chown(const char *path, uid_t uid, gid_t gid, struct fuse_file_info *info);
int mount_utimens(const char *path, const struct timespec times[2], struct fuse_file_info *info);
int mount_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
                  struct fuse_file_info *info, enum fuse_readdir_flags flags);
int mount_statfs(const char *path, struct statvfs *space);

int mount_mknod(const char *path, mode_t mode, dev_t device);
int mount_create(const char *path, mode_t mode, struct fuse_file_info *info);
int mount_open(const char *path, struct fuse_file_info *info);
/* Of the path that a dirty file has: its time in the catalogue, if it is `number`. */
void mount_settle_time(const char *path, uint64_t number);
int mount_flush(const char *path, struct fuse_file_info *info);
int mount_release(const char *path, struct fuse_file_info *info);
int mount_read(const char *path, char *data, size_t size, off_t offset,
               struct fuse_file_info *info);
int mount_write(const char *path, const char *data, size_t size, off_t offset,
                struct fuse_file_info *info);
int mount_truncate(const char *path, off_t size, struct fuse_file_info *info);
int mount_fsync(const char *path, int is_data, struct fuse_file_info *info);
int mount_lock(const char *path, struct fuse_file_info *info, int command, struct flock *lock);
int mount_flock(const char *path, struct fuse_file_info *info, int operation);

#endif
