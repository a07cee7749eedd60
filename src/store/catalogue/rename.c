/* SPDX-License-Identifier: Apache-2.0 */
#include "store/catalogue/catalogue.h"

#include <errno.h>
#include <sys/stat.h>

#include "store/catalogue/permission.h"
#include "store/catalogue/walk.h"

/* Is `dir` the directory `id` or anywhere below it? */
static int is_beneath(struct wio_catalogue *catalogue, struct node dir, uint64_t id,
                      bool *is_beneath_out)
{
    int result = 0;
    *is_beneath_out = dir.stat.file == id;
    while (result == 0 && !*is_beneath_out && dir.parent != 0) {
        result = node_by_id(catalogue, dir.parent, &dir);
        *is_beneath_out = dir.stat.file == id;
    }
    return result;
}

static bool is_dir(const struct path_end *place)
{
    return S_ISDIR(place->node.stat.mode);
}

/* What is to go may go from there, and to there. */
static int check_rights(const struct wio_catalogue_user *user, const struct path_end *from,
                        const struct path_end *to)
{
    int result = user_may_remove(user, &from->parent.stat, &from->node.stat);
    if (result == 0) {
        result = to->is_there ? user_may_remove(user, &to->parent.stat, &to->node.stat)
                              : user_may(user, &to->parent.stat, MAY_WRITE | MAY_EXECUTE);
    }
    if (result == 0 && is_dir(from) && from->parent.stat.file != to->parent.stat.file) {
        result = user_may(user, &from->node.stat, MAY_WRITE); /* its ".." changes */
    }
    return result;
}

/* What is there may be replaced. */
static int check_replaced(struct wio_catalogue *catalogue, const struct path_end *from,
                          const struct path_end *to)
{
    bool has_entries = false;
    if (is_dir(to) && !is_dir(from)) {
        return EISDIR;
    }
    if (!is_dir(to)) {
        return is_dir(from) ? ENOTDIR : 0;
    }
    int result = node_has_entries(catalogue, to->node.stat.file, &has_entries);
    return result == 0 && has_entries ? ENOTEMPTY : result;
}

static int check(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                 const struct path_end *from, const struct path_end *to)
{
    bool is_into_itself = false;
    if (from->last != LAST_NAME || to->last != LAST_NAME) {
        return EBUSY;
    }
    if (to->is_directory_wanted && !is_dir(from)) {
        return ENOTDIR;
    }
    int result = 0;
    if (is_dir(from)) {
        result = is_beneath(catalogue, to->parent, from->node.stat.file, &is_into_itself);
    }
    if (result == 0 && is_into_itself) {
        return EINVAL;
    }
    result = result == 0 ? check_rights(user, from, to) : result;
    return result == 0 && to->is_there ? check_replaced(catalogue, from, to) : result;
}

static int move(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                const struct path_end *from, const struct path_end *to)
{
    int result = to->is_there ? node_delete(catalogue, to->node.stat.file) : 0;
    result = result == 0
                 ? node_move(catalogue, &from->node, to->parent.stat.file, &to->name, user->now_ns)
                 : result;
    result = result == 0 ? node_touch(catalogue, from->parent.stat.file, user->now_ns) : result;
    return result == 0 ? node_touch(catalogue, to->parent.stat.file, user->now_ns) : result;
}

int wio_catalogue_rename(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                         struct wio_catalogue_path from_path, struct wio_catalogue_path to_path,
                         struct wio_store_stat *replaced_out)
{
    struct path_end from;
    struct path_end to;
    struct wio_store_stat replaced = {0};
    int result = db_begin(catalogue);
    result = result == 0 ? walk_to(catalogue, user, from_path, false, &from) : result;
    result = result == 0 ? walk(catalogue, user, to_path, false, &to) : result;
    bool is_same = result == 0 && to.is_there && from.last == LAST_NAME && to.last == LAST_NAME &&
                   from.node.stat.file == to.node.stat.file;
    if (result == 0 && !is_same) {
        result = check(catalogue, user, &from, &to);
        if (result == 0 && to.is_there) {
            replaced = to.node.stat;
        }
        result = result == 0 ? move(catalogue, user, &from, &to) : result;
    }
    result = db_end(catalogue, result);
    if (result == 0) {
        *replaced_out = replaced;
    }
    return result;
}
