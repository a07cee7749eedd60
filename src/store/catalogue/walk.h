/* SPDX-License-Identifier: Apache-2.0 */
/* From a path to the place that it names: path_resolution(7). */
#ifndef WIO_STORE_CATALOGUE_WALK_H
#define WIO_STORE_CATALOGUE_WALK_H

#include "store/catalogue/database.h"

/* What the last component of a path is. */
enum last_kind { LAST_NAME, LAST_DOT, LAST_DOT_DOT, LAST_ROOT };

struct path_end {
    struct node parent; /* of LAST_NAME */
    struct leaf_name name;
    struct node node;
    bool is_there; /* `node` is one; else the name is free */
    enum last_kind last;
    bool is_directory_wanted; /* the path ends with a slash */
};

/* Search permission is needed in each directory on the way. `follow`: where the last component is a
 * symbolic link, the place that it leads to. That the place is empty is no error. */
WIO_MUST_CHECK int walk(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                        struct wio_catalogue_path path, bool follow, struct path_end *place_out);
/* The same for something that has to be there: ENOENT, ENOTDIR. */
WIO_MUST_CHECK int walk_to(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                           struct wio_catalogue_path path, bool follow, struct path_end *place_out);

#endif
