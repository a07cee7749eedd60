/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue where this whyio was built without SQLite: none can be opened, so none of the other
 * functions is ever called; they are here to be linked. */
#include "store/catalogue/catalogue.h"

#include <errno.h>

static enum wio_status absent(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                         "a store needs SQLite, which this whyio was built without");
}

enum wio_status wio_catalogue_open(const struct wio_catalogue_config *config,
                                   struct wio_catalogue **catalogue_out, struct wio_error *err)
{
    (void)config;
    (void)catalogue_out;
    return absent(err);
}

void wio_catalogue_close(struct wio_catalogue *catalogue)
{
    (void)catalogue;
}

enum wio_status wio_catalogue_check(struct wio_catalogue *catalogue, struct wio_error *err)
{
    (void)catalogue;
    return absent(err);
}

int wio_catalogue_open_file(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                            struct wio_catalogue_path path, const struct wio_store_request *how,
                            struct wio_store_stat *stat_out)
{
    (void)catalogue;
    (void)user;
    (void)path;
    (void)how;
    (void)stat_out;
    return ENOSYS;
}

int wio_catalogue_mkdir(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                        struct wio_catalogue_path path, uint32_t mode,
                        struct wio_store_stat *stat_out)
{
    (void)catalogue;
    (void)user;
    (void)path;
    (void)mode;
    (void)stat_out;
    return ENOSYS;
}

int wio_catalogue_symlink(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                          struct wio_catalogue_path target, struct wio_catalogue_path path,
                          struct wio_store_stat *stat_out)
{
    (void)catalogue;
    (void)user;
    (void)target;
    (void)path;
    (void)stat_out;
    return ENOSYS;
}

int wio_catalogue_unlink(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                         struct wio_catalogue_path path, struct wio_store_stat *stat_out)
{
    (void)catalogue;
    (void)user;
    (void)path;
    (void)stat_out;
    return ENOSYS;
}

int wio_catalogue_rmdir(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                        struct wio_catalogue_path path)
{
    (void)catalogue;
    (void)user;
    (void)path;
    return ENOSYS;
}

int wio_catalogue_rename(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                         struct wio_catalogue_path from, struct wio_catalogue_path to,
                         struct wio_store_stat *replaced_out)
{
    (void)catalogue;
    (void)user;
    (void)from;
    (void)to;
    (void)replaced_out;
    return ENOSYS;
}

int wio_catalogue_truncate(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                           struct wio_catalogue_path path, struct wio_store_stat *stat_out)
{
    (void)catalogue;
    (void)user;
    (void)path;
    (void)stat_out;
    return ENOSYS;
}

int wio_catalogue_stat(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                       struct wio_catalogue_path path, bool follow, struct wio_store_stat *stat_out)
{
    (void)catalogue;
    (void)user;
    (void)path;
    (void)follow;
    (void)stat_out;
    return ENOSYS;
}

int wio_catalogue_readlink(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                           struct wio_catalogue_path path, char *text, size_t size, size_t *got_out)
{
    (void)catalogue;
    (void)user;
    (void)path;
    (void)text;
    (void)size;
    (void)got_out;
    return ENOSYS;
}

int wio_catalogue_list(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                       struct wio_catalogue_path path, uint64_t cookie, wio_catalogue_each *each,
                       void *context)
{
    (void)catalogue;
    (void)user;
    (void)path;
    (void)cookie;
    (void)each;
    (void)context;
    return ENOSYS;
}

int wio_catalogue_chmod(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                        struct wio_catalogue_path path, uint32_t mode)
{
    (void)catalogue;
    (void)user;
    (void)path;
    (void)mode;
    return ENOSYS;
}

int wio_catalogue_chown(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                        struct wio_catalogue_path path, bool follow, uint32_t uid, uint32_t gid)
{
    (void)catalogue;
    (void)user;
    (void)path;
    (void)follow;
    (void)uid;
    (void)gid;
    return ENOSYS;
}

int wio_catalogue_utimens(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                          struct wio_catalogue_path path, bool follow, int64_t atime_ns,
                          int64_t mtime_ns)
{
    (void)catalogue;
    (void)user;
    (void)path;
    (void)follow;
    (void)atime_ns;
    (void)mtime_ns;
    return ENOSYS;
}
