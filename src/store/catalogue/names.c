/* SPDX-License-Identifier: Apache-2.0 */
/* Making and removing names. */
#include "store/catalogue/catalogue.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "store/catalogue/permission.h"
#include "store/catalogue/walk.h"

enum { MODE_BITS = 07777, SEGMENTS_MAX = 4096 };

/* A new node at a free place, where the user may write into the directory. A directory with the
 * group bit gives its group, and the bit to directories. */
static int make(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                const struct path_end *place, struct node *node,
                const struct wio_catalogue_path *target)
{
    const struct wio_store_stat *dir = &place->parent.stat;
    int result = user_may(user, dir, MAY_WRITE | MAY_EXECUTE);
    if (result != 0) {
        return result;
    }
    bool gives_group = (dir->mode & S_ISGID) != 0;
    node->parent = dir->file;
    node->stat.uid = user->uid;
    node->stat.gid = gives_group ? dir->gid : user->gid;
    node->stat.mode |= gives_group && S_ISDIR(node->stat.mode) ? S_ISGID : 0u;
    node->stat.generation = 1;
    node->stat.links = S_ISDIR(node->stat.mode) ? 2 : 1;
    node->stat.atime_ns = node->stat.mtime_ns = node->stat.ctime_ns = user->now_ns;
    result = node_insert(catalogue, node, &place->name, target);
    return result == 0 ? node_touch(catalogue, dir->file, user->now_ns) : result;
}

/* ---- files ---- */

static int open_there(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                      struct path_end *place, const struct wio_store_request *how)
{
    unsigned flags = how->open_flags;
    unsigned exclusive = WIO_STORE_OPEN_CREATE | WIO_STORE_OPEN_EXCL;
    unsigned wanted = (flags & WIO_STORE_OPEN_READ) != 0 ? MAY_READ : 0;
    bool does_write = (flags & (WIO_STORE_OPEN_WRITE | WIO_STORE_OPEN_TRUNC)) != 0;
    if ((flags & exclusive) == exclusive) {
        return EEXIST;
    }
    if (S_ISLNK(place->node.stat.mode)) {
        return ELOOP; /* FLAG_NOFOLLOW */
    }
    if (S_ISDIR(place->node.stat.mode) && (does_write || (flags & WIO_STORE_OPEN_CREATE) != 0)) {
        return EISDIR;
    }
    if (place->is_directory_wanted && !S_ISDIR(place->node.stat.mode)) {
        return ENOTDIR;
    }
    int result = user_may(user, &place->node.stat, wanted | (does_write ? MAY_WRITE : 0));
    if (result == 0 && (flags & WIO_STORE_OPEN_TRUNC) != 0) {
        place->node.stat.generation++;
        place->node.stat.mtime_ns = place->node.stat.ctime_ns = user->now_ns;
        result = node_update(catalogue, &place->node);
    }
    return result;
}

static int open_new(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                    struct path_end *place, const struct wio_store_request *how)
{
    if ((how->open_flags & WIO_STORE_OPEN_CREATE) == 0) {
        return ENOENT;
    }
    if (place->is_directory_wanted) {
        return EISDIR;
    }
    if (how->segments == 0 || how->segments > SEGMENTS_MAX || how->stripe_unit == 0) {
        return EINVAL;
    }
    place->node = (struct node){.stat = {.mode = S_IFREG | (how->file_mode & MODE_BITS),
                                         .segments = how->segments,
                                         .stripe_unit = how->stripe_unit}};
    return make(catalogue, user, place, &place->node, NULL);
}

int wio_catalogue_open_file(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                            struct wio_catalogue_path path, const struct wio_store_request *how,
                            struct wio_store_stat *stat_out)
{
    struct path_end place;
    unsigned exclusive = WIO_STORE_OPEN_CREATE | WIO_STORE_OPEN_EXCL;
    bool follow =
        (how->open_flags & exclusive) != exclusive && (how->flags & WIO_STORE_FLAG_NOFOLLOW) == 0;
    int result = db_begin(catalogue);
    result = result == 0 ? walk(catalogue, user, path, follow, &place) : result;
    if (result == 0) {
        result = place.is_there ? open_there(catalogue, user, &place, how)
                                : open_new(catalogue, user, &place, how);
    }
    result = db_end(catalogue, result);
    if (result == 0) {
        *stat_out = place.node.stat;
    }
    return result;
}

/* ---- directories and links ---- */

/* A new node where nothing is. */
static int make_at(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                   struct wio_catalogue_path path, struct node *node,
                   const struct wio_catalogue_path *target)
{
    struct path_end place;
    int result = db_begin(catalogue);
    result = result == 0 ? walk(catalogue, user, path, false, &place) : result;
    if (result == 0 && place.is_there) {
        result = EEXIST;
    }
    if (result == 0 && place.is_directory_wanted && !S_ISDIR(node->stat.mode)) {
        result = ENOENT;
    }
    result = result == 0 ? make(catalogue, user, &place, node, target) : result;
    return db_end(catalogue, result);
}

int wio_catalogue_mkdir(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                        struct wio_catalogue_path path, uint32_t mode,
                        struct wio_store_stat *stat_out)
{
    struct node node = {.stat = {.mode = S_IFDIR | (mode & MODE_BITS & ~(unsigned)S_ISGID)}};
    int result = make_at(catalogue, user, path, &node, NULL);
    if (result == 0) {
        *stat_out = node.stat;
    }
    return result;
}

int wio_catalogue_symlink(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                          struct wio_catalogue_path target, struct wio_catalogue_path path,
                          struct wio_store_stat *stat_out)
{
    struct node node = {.stat = {.mode = S_IFLNK | 0777}};
    if (target.size == 0) {
        return ENOENT;
    }
    if (target.size > LINK_BYTES) {
        return ENAMETOOLONG;
    }
    if (memchr(target.text, '\0', target.size) != NULL) {
        return EINVAL;
    }
    int result = make_at(catalogue, user, path, &node, &target);
    if (result == 0) {
        *stat_out = node.stat;
    }
    return result;
}

/* ---- removing ---- */

static int take_away(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                     const struct path_end *place)
{
    int result = node_delete(catalogue, place->node.stat.file);
    return result == 0 ? node_touch(catalogue, place->parent.stat.file, user->now_ns) : result;
}

static int check_unlink(const struct wio_catalogue_user *user, const struct path_end *place)
{
    if (place->last != LAST_NAME) {
        return EISDIR;
    }
    int result = user_may_remove(user, &place->parent.stat, &place->node.stat);
    return result == 0 && S_ISDIR(place->node.stat.mode) ? EISDIR : result;
}

int wio_catalogue_unlink(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                         struct wio_catalogue_path path, struct wio_store_stat *stat_out)
{
    struct path_end place;
    int result = db_begin(catalogue);
    result = result == 0 ? walk_to(catalogue, user, path, false, &place) : result;
    result = result == 0 ? check_unlink(user, &place) : result;
    result = result == 0 ? take_away(catalogue, user, &place) : result;
    result = db_end(catalogue, result);
    if (result == 0) {
        place.node.stat.links = 0;
        *stat_out = place.node.stat;
    }
    return result;
}

static int check_rmdir(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                       const struct path_end *place)
{
    static const int not_by_name[] = {
        [LAST_NAME] = 0, [LAST_DOT] = EINVAL, [LAST_DOT_DOT] = ENOTEMPTY, [LAST_ROOT] = EBUSY};
    bool has_entries = false;
    if (not_by_name[place->last] != 0) {
        return not_by_name[place->last];
    }
    int result = user_may_remove(user, &place->parent.stat, &place->node.stat);
    if (result != 0) {
        return result;
    }
    if (!S_ISDIR(place->node.stat.mode)) {
        return ENOTDIR;
    }
    result = node_has_entries(catalogue, place->node.stat.file, &has_entries);
    return result == 0 && has_entries ? ENOTEMPTY : result;
}

int wio_catalogue_rmdir(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                        struct wio_catalogue_path path)
{
    struct path_end place;
    int result = db_begin(catalogue);
    result = result == 0 ? walk_to(catalogue, user, path, false, &place) : result;
    result = result == 0 ? check_rmdir(catalogue, user, &place) : result;
    result = result == 0 ? take_away(catalogue, user, &place) : result;
    return db_end(catalogue, result);
}
