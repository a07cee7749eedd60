/* SPDX-License-Identifier: Apache-2.0 */
/* What several requests need. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/mount/mount_internal.h"

int mount_answer(enum wio_status status, const struct wio_error *err)
{
    if (status == WIO_OK) {
        return 0;
    }
    if (err->sys_errno != 0) {
        return -err->sys_errno;
    }
    if (status == WIO_ERR_NOMEM) {
        return -ENOMEM;
    }
    if (status == WIO_ERR_USAGE) {
        return -EINVAL;
    }
    return status == WIO_ERR_UNSUPPORTED ? -EOPNOTSUPP : -EIO;
}

mode_t mount_first_mode(mode_t mode)
{
    return mount_this()->is_for_all ? mode & ~(mode_t)(S_ISUID | S_ISGID) : mode;
}

/* The group is that of the directory where that one says so. */
static enum wio_status give(const char *path, mode_t mode, struct wio_error *err)
{
    const struct fuse_context *request = fuse_get_context();
    struct wio_store_attr attr = {.struct_size = sizeof(attr)};
    WIO_TRY(
        wio_store_stat(mount_store(), path, WIO_STORE_NOFOLLOW | WIO_STORE_NO_SIZE, &attr, err));
    const uint32_t gid = attr.gid == getegid() ? request->gid : UINT32_MAX;
    WIO_TRY(wio_store_chown(mount_store(), path, request->uid, gid, WIO_STORE_NOFOLLOW, err));
    const bool is_more = mount_first_mode(mode) != mode;
    return is_more ? wio_store_chmod(mount_store(), path, mode & 07777, err) : WIO_OK;
}

int mount_give(const char *path, mode_t mode, int (*undo)(const char *path))
{
    struct wio_error err = WIO_ERROR_INIT;
    if (!mount_this()->is_for_all) {
        return 0;
    }
    const enum wio_status status = give(path, mode, &err);
    if (status != WIO_OK) {
        (void)undo(path);
    }
    return mount_answer(status, &err);
}

void mount_settle_time(const char *path, uint64_t number)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store_attr attr = {.struct_size = sizeof(attr)};
    const unsigned itself = WIO_STORE_NOFOLLOW | WIO_STORE_NO_SIZE;
    if (wio_store_stat(mount_store(), path, itself, &attr, &err) == WIO_OK && attr.file == number) {
        (void)!wio_store_utimens(mount_store(), path, WIO_STORE_KEEP_TIME, WIO_STORE_NOW,
                                 WIO_STORE_NOFOLLOW, &err);
    }
}
