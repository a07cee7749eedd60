/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of requests: of each the job of the thread that made it is found first, and those for
 * the control of job ids go there.
 */
#include <errno.h>

#include "base/cleanup.h"
#include "store/mount/control.h"
#include "store/mount/mount_internal.h"

static uint32_t requester(void)
{
    return (uint32_t)fuse_get_context()->pid;
}

static void find_job(void)
{
    mount_jobs_act_for(&mount_this()->jobs, requester());
}

/* A request whose path is `path`: as `served`, or, for the control, as `controlled`. */
#define ON_PATH(name, parameters, served, controlled)                                              \
    static int do_##name parameters                                                                \
    {                                                                                              \
        if (mount_control_is(path)) {                                                              \
            return (controlled);                                                                   \
        }                                                                                          \
        find_job();                                                                                \
        return (served);                                                                           \
    }

/* clang-format off */
ON_PATH(getattr,
        (const char *path, struct stat *stat, struct fuse_file_info *info),
        mount_getattr(path, stat, info),
        mount_control_getattr(&mount_this()->jobs, path, stat))
ON_PATH(readlink,
        (const char *path, char *text, size_t size),
        mount_readlink(path, text, size),
        -EINVAL)
ON_PATH(mknod,
        (const char *path, mode_t mode, dev_t device),
        mount_mknod(path, mode, device),
        -EPERM)
ON_PATH(mkdir, (const char *path, mode_t mode), mount_mkdir(path, mode), -EPERM)
ON_PATH(unlink, (const char *path), mount_unlink(path), -EPERM)
ON_PATH(rmdir, (const char *path), mount_rmdir(path), -EPERM)
ON_PATH(chmod,
        (const char *path, mode_t mode, struct fuse_file_info *info),
        mount_chmod(path, mode, info),
        -EPERM)
ON_PATH(chown,
        (const char *path, uid_t uid, gid_t gid, struct fuse_file_info *info),
        mount_chown(path, uid, gid, info),
        -EPERM)
ON_PATH(truncate,
        (const char *path, off_t size, struct fuse_file_info *info),
        mount_truncate(path, size, info),
        0)
ON_PATH(open,
        (const char *path, struct fuse_file_info *info),
        mount_open(path, info),
        mount_control_open(path, info))
ON_PATH(read,
        (const char *path, char *data, size_t size, off_t offset,
         struct fuse_file_info *info),
        mount_read(path, data, size, offset, info),
        mount_control_read(&mount_this()->jobs, path, data, size, offset))
ON_PATH(write,
        (const char *path, const char *data, size_t size, off_t offset,
         struct fuse_file_info *info),
        mount_write(path, data, size, offset, info),
        mount_control_write(&mount_this()->jobs, path, data, size, requester()))
ON_PATH(flush, (const char *path, struct fuse_file_info *info), mount_flush(path, info), 0)
ON_PATH(release, (const char *path, struct fuse_file_info *info), mount_release(path, info), 0)
ON_PATH(fsync,
        (const char *path, int is_data, struct fuse_file_info *info),
        mount_fsync(path, is_data, info),
        0)
ON_PATH(fsyncdir,
        (const char *path, int is_data, struct fuse_file_info *info),
        mount_fsync(path, is_data, info),
        0)
ON_PATH(readdir,
        (const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
         struct fuse_file_info *info, enum fuse_readdir_flags flags),
        mount_readdir(path, buffer, fill, offset, info, flags),
        mount_control_readdir(path, buffer, fill))
ON_PATH(create,
        (const char *path, mode_t mode, struct fuse_file_info *info),
        mount_create(path, mode, info),
        -EPERM)
ON_PATH(utimens,
        (const char *path, const struct timespec times[2], struct fuse_file_info *info),
        mount_utimens(path, times, info),
        -EPERM)
ON_PATH(lock,
        (const char *path, struct fuse_file_info *info, int command, struct flock *lock),
        mount_lock(path, info, command, lock),
        -ENOLCK)
ON_PATH(flock,
        (const char *path, struct fuse_file_info *info, int operation),
        mount_flock(path, info, operation),
        -ENOLCK)
/* clang-format on */

static int do_statfs(const char *path, struct statvfs *space)
{
    find_job();
    return mount_statfs(path, space);
}

/* The text of a link may be any. */
static int do_symlink(const char *target, const char *path)
{
    find_job();
    return mount_control_is(path) ? -EPERM : mount_symlink(target, path);
}

static int do_rename(const char *from, const char *to, unsigned flags)
{
    find_job();
    return mount_control_is(from) || mount_control_is(to) ? -EPERM : mount_rename(from, to, flags);
}

static int do_link(const char *from, const char *to)
{
    find_job();
    return mount_link(from, to);
}

static void *init(struct fuse_conn_info *kernel, struct fuse_config *config)
{
    kernel->want &= ~(unsigned)FUSE_CAP_WRITEBACK_CACHE;
    config->use_ino = 1;
    config->direct_io = 1;
    config->attr_timeout = 0;
    config->entry_timeout = 0;
    config->negative_timeout = 0;
    return fuse_get_context()->private_data;
}

/* What is not here is ENOSYS, or what the kernel makes of that: extended attributes and fallocate
 * EOPNOTSUPP. */
const struct fuse_operations mount_operations = {
    .init = init,
    .getattr = do_getattr,
    .readlink = do_readlink,
    .mknod = do_mknod,
    .mkdir = do_mkdir,
    .unlink = do_unlink,
    .rmdir = do_rmdir,
    .symlink = do_symlink,
    .rename = do_rename,
    .link = do_link,
    .chmod = do_chmod,
    .chown = do_chown,
    .truncate = do_truncate,
    .open = do_open,
    .read = do_read,
    .write = do_write,
    .statfs = do_statfs,
    .flush = do_flush,
    .release = do_release,
    .fsync = do_fsync,
    .readdir = do_readdir,
    .fsyncdir = do_fsyncdir,
    .create = do_create,
    .utimens = do_utimens,
    .lock = do_lock,
    .flock = do_flock,
};
