/* SPDX-License-Identifier: Apache-2.0 */
#include "store/catalogue/permission.h"

#include <errno.h>
#include <sys/stat.h>

bool user_is_in(const struct wio_catalogue_user *user, uint32_t gid)
{
    if (user->gid == gid) {
        return true;
    }
    for (size_t i = 0; i < user->group_count; i++) {
        if (user->groups[i] == gid) {
            return true;
        }
    }
    return false;
}

bool user_owns(const struct wio_catalogue_user *user, const struct wio_store_stat *stat)
{
    return user->uid == 0 || user->uid == stat->uid;
}

int user_may(const struct wio_catalogue_user *user, const struct wio_store_stat *stat,
             unsigned wanted)
{
    if (user->uid == 0) {
        return 0; /* no file of the store is executed */
    }
    unsigned shift = 0;
    if (user->uid == stat->uid) {
        shift = 6;
    } else if (user_is_in(user, stat->gid)) {
        shift = 3;
    }
    return (stat->mode >> shift & wanted) == wanted ? 0 : EACCES;
}

int user_may_remove(const struct wio_catalogue_user *user, const struct wio_store_stat *dir,
                    const struct wio_store_stat *stat)
{
    int result = user_may(user, dir, MAY_WRITE | MAY_EXECUTE);
    if (result == 0 && (dir->mode & S_ISVTX) != 0 && !user_owns(user, dir) &&
        !user_owns(user, stat)) {
        return EPERM;
    }
    return result;
}
