/* SPDX-License-Identifier: Apache-2.0 */
/* Which user may do what to a node, by uid, groups and mode as POSIX has it. 0 or an errno value;
 * pure. */
#ifndef WIO_STORE_CATALOGUE_PERMISSION_H
#define WIO_STORE_CATALOGUE_PERMISSION_H

#include "store/catalogue/catalogue.h"

enum { MAY_EXECUTE = 1, MAY_WRITE = 2, MAY_READ = 4 };

bool user_is_in(const struct wio_catalogue_user *user, uint32_t gid);
bool user_owns(const struct wio_catalogue_user *user, const struct wio_store_stat *stat);
/* EACCES unless all of `wanted` is allowed. */
int user_may(const struct wio_catalogue_user *user, const struct wio_store_stat *stat,
             unsigned wanted);
/* Take the entry `stat` out of `dir`: EACCES, or EPERM by the sticky bit. */
int user_may_remove(const struct wio_catalogue_user *user, const struct wio_store_stat *dir,
                    const struct wio_store_stat *stat);

#endif
