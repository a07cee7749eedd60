/* SPDX-License-Identifier: Apache-2.0 */
/* A mount from its begin to its end. */
#include "store/mount/mount.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/mount/guard.h"
#include "store/mount/mount_internal.h"
#include "store/mount/watch.h"

static enum wio_status refuse(const struct wio_mount_config *config, struct wio_error *err,
                              int number, const char *what)
{
    err->sys_errno = number;
    return wio_error_set(err, WIO_ERR_IO, config->point, WIO_ERROR_NO_OFFSET, "%s", what);
}

enum { IDLE_THREADS = 10 };

#if FUSE_USE_VERSION >= 312
static int loop(struct fuse *fuse)
{
    struct fuse_loop_config *config = fuse_loop_cfg_create();
    if (config == NULL) {
        return -ENOMEM;
    }
    fuse_loop_cfg_set_idle_threads(config, IDLE_THREADS);
    fuse_loop_cfg_set_max_threads(config, MOUNT_THREADS);
    int ended = fuse_loop_mt(fuse, config);
    fuse_loop_cfg_destroy(config);
    return ended;
}
#else /* as many threads as there are requests */
static int loop(struct fuse *fuse)
{
    struct fuse_loop_config config = {.clone_fd = 0, .max_idle_threads = IDLE_THREADS};
    return fuse_loop_mt(fuse, &config);
}
#endif

/* Mounted: until the end. */
static enum wio_status serve(const struct wio_mount_config *config, struct fuse *fuse,
                             struct wio_error *err)
{
    struct mount_watch watch;
    struct fuse_session *session = fuse_get_session(fuse);
    if (fuse_set_signal_handlers(session) != 0) {
        return refuse(config, err, errno, "cannot set signal handlers");
    }
    enum wio_status status = mount_watch_begin(&watch, &config->connect, err);
    if (status == WIO_OK) {
        config->ready(config->context, config->point);
        int ended = loop(fuse);
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
    char *words[] = {"whyio-mount", "-o",          "fsname=whyio,subtype=whyio,default_permissions",
                     "-o",          "allow_other", NULL};
    const int count = (int)WIO_ARRAY_SIZE(words) - (config->is_for_all ? 1 : 3);
    struct fuse_args args = FUSE_ARGS_INIT(count, words);
    struct fuse *fuse = fuse_new(&args, &mount_operations, sizeof(mount_operations), mount);
    fuse_opt_free_args(&args);
    if (fuse == NULL) {
        return refuse(config, err, 0, "libfuse cannot be started");
    }
    enum wio_status status = WIO_OK;
    errno = 0;
    if (fuse_mount(fuse, mount->point) != 0) {
        status = refuse(config, err, errno, "cannot be mounted (fuse(4), fusermount3(1))");
    } else {
        status = serve(config, fuse, err);
        fuse_unmount(fuse);
    }
    fuse_destroy(fuse);
    return status;
}

static enum wio_status mount_with_jobs(const struct wio_mount_config *config, struct mount *mount,
                                       struct wio_error *err)
{
    WIO_TRY(mount_jobs_begin(&mount->jobs, config->jobs, mount->store, err));
    enum wio_status status = mount_and_serve(config, mount, err);
    mount_jobs_end(&mount->jobs);
    return status;
}

/* One that a killed mount left is freed first. */
static enum wio_status check_point(const struct wio_mount_config *config, const char *point,
                                   struct wio_error *err)
{
    struct stat status;
    (void)mount_guard_free(point);
    if (stat(point, &status) != 0) {
        return refuse(config, err, errno, "no mount point");
    }
    if (!S_ISDIR(status.st_mode)) {
        return refuse(config, err, ENOTDIR, "no mount point: expected a directory");
    }
    if (config->is_for_all && geteuid() != 0) {
        return wio_error_set(err, WIO_ERR_USAGE, config->point, WIO_ERROR_NO_OFFSET,
                             "only user 0 can mount for all users");
    }
    return WIO_OK;
}

static enum wio_status connect_and_mount(const struct wio_mount_config *config, const char *point,
                                         struct wio_error *err)
{
    struct wio_store_params connect = config->connect;
    struct mount *mount = calloc(1, sizeof(*mount));
    if (mount == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    (void)pthread_mutex_init(&mount->files.lock, NULL);
    mount_locks_init(&mount->locks);
    mount->point = point;
    mount->is_for_all = config->is_for_all;
    connect.job = config->jobs != NULL ? "" : connect.job;
    enum wio_status status = wio_store_connect(&connect, &mount->store, err);
    status = status == WIO_OK ? mount_with_jobs(config, mount, err) : status;
    wio_store_disconnect(mount->store);
    mount_locks_fini(&mount->locks);
    (void)pthread_mutex_destroy(&mount->files.lock);
    free(mount);
    return status;
}

/* Links to it are followed once, here. "/" behind it would be a look into it, which the point of a
 * killed mount refuses. False and errno. */
static bool resolve(const char *name, char point_out[PATH_MAX])
{
    char path[PATH_MAX];
    size_t bytes = strlen(name);
    while (bytes > 1 && name[bytes - 1] == '/') {
        bytes--;
    }
    if (bytes >= sizeof(path)) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(path, name, bytes);
    path[bytes] = '\0';
    return realpath(path, point_out) != NULL;
}

enum wio_status wio_mount(const struct wio_mount_config *config, struct wio_error *err)
{
    struct mount_guard guard;
    char point[PATH_MAX];
    if (!resolve(config->point, point)) {
        return refuse(config, err, errno, "no mount point");
    }
    WIO_TRY(check_point(config, point, err));
    WIO_TRY(mount_guard_begin(&guard, point, err));
    enum wio_status status = connect_and_mount(config, point, err);
    mount_guard_end(&guard);
    return status;
}
