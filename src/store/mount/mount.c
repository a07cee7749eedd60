/* SPDX-License-Identifier: Apache-2.0 */
/* A mount from its begin to its end. */
#include "store/mount/mount.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "store/mount/mount_internal.h"
#include "store/mount/watch.h"

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
 * EOPNOTSUPP. Advisory locks are kept by the kernel, for the processes of this mount. */
static const struct fuse_operations operations = {
    .init = init,
    .getattr = mount_getattr,
    .readlink = mount_readlink,
    .mknod = mount_mknod,
    .mkdir = mount_mkdir,
    .unlink = mount_unlink,
    .rmdir = mount_rmdir,
    .symlink = mount_symlink,
    .rename = mount_rename,
    .link = mount_link,
    .chmod = mount_chmod,
    .chown = mount_chown,
    .truncate = mount_truncate,
    .open = mount_open,
    .read = mount_read,
    .write = mount_write,
    .statfs = mount_statfs,
    .flush = mount_flush,
    .release = mount_release,
    .fsync = mount_fsync,
    .readdir = mount_readdir,
    .fsyncdir = mount_fsync,
    .create = mount_create,
    .utimens = mount_utimens,
};

static enum wio_status refuse(const struct wio_mount_config *config, struct wio_error *err,
                              int number, const char *what)
{
    err->sys_errno = number;
    return wio_error_set(err, WIO_ERR_IO, config->point, WIO_ERROR_NO_OFFSET, "%s", what);
}

/* Mounted: until the end. */
static enum wio_status serve(const struct wio_mount_config *config, struct fuse *fuse,
                             struct wio_error *err)
{
    struct mount_watch watch;
    struct fuse_loop_config loop = {.clone_fd = 0, .max_idle_threads = 10};
    struct fuse_session *session = fuse_get_session(fuse);
    if (fuse_set_signal_handlers(session) != 0) {
        return refuse(config, err, errno, "cannot set signal handlers");
    }
    enum wio_status status = mount_watch_begin(&watch, &config->connect, err);
    if (status == WIO_OK) {
        config->ready(config->context, config->point);
        int ended = fuse_loop_mt(fuse, &loop);
        mount_watch_end(&watch);
        if (atomic_load(&watch.is_lost)) {
            *err = watch.why;
            status = wio_error_set(err, WIO_ERR_IO, config->point, WIO_ERROR_NO_OFFSET,
                                   "unmounted: the store does not answer any more");
        } else if (ended < 0) {
            status = refuse(config, err, -ended, "the kernel's requests cannot be read");
        }
    }
    fuse_remove_signal_handlers(session);
    return status;
}

static enum wio_status mount_and_serve(const struct wio_mount_config *config, struct mount *mount,
                                       struct wio_error *err)
{
    char *words[] = {"whyio-mount",  "-o", "fsname=whyio,subtype=whyio,default_permissions", "-o",
                     "auto_unmount", NULL};
    struct fuse_args args = FUSE_ARGS_INIT((int)WIO_ARRAY_SIZE(words) - 1, words);
    struct fuse *fuse = fuse_new(&args, &operations, sizeof(operations), mount);
    fuse_opt_free_args(&args);
    if (fuse == NULL) {
        return refuse(config, err, 0, "libfuse cannot be started");
    }
    enum wio_status status = WIO_OK;
    errno = 0;
    if (fuse_mount(fuse, config->point) != 0) {
        status = refuse(config, err, errno, "cannot be mounted (fuse(4), fusermount3(1))");
    } else {
        status = serve(config, fuse, err);
        fuse_unmount(fuse);
    }
    fuse_destroy(fuse);
    return status;
}

enum wio_status wio_mount(const struct wio_mount_config *config, struct wio_error *err)
{
    struct stat stat_of;
    struct mount mount = {.files = {.lock = PTHREAD_MUTEX_INITIALIZER}};
    if (stat(config->point, &stat_of) != 0) {
        return refuse(config, err, errno, "no mount point");
    }
    if (!S_ISDIR(stat_of.st_mode)) {
        return refuse(config, err, ENOTDIR, "no mount point: expected a directory");
    }
    WIO_TRY(wio_store_connect(&config->connect, &mount.store, err));
    enum wio_status status = mount_and_serve(config, &mount, err);
    wio_store_disconnect(mount.store);
    return status;
}
