/* SPDX-License-Identifier: Apache-2.0 */
/* What several requests need. */
#include <errno.h>

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
