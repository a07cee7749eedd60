/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked and set of a node. */
#include "store/catalogue/catalogue.h"

#include <errno.h>
#include <sys/stat.h>

#include "store/catalogue/permission.h"
#include "store/catalogue/walk.h"

/* In a transaction: find, let `change` change the node, store it. */
struct change {
    const struct wio_catalogue_user *user;
    uint32_t mode;
    uint32_t uid;
    uint32_t gid;
    int64_t atime_ns;
    int64_t mtime_ns;
};

static int change_node(struct wio_catalogue *catalogue, struct wio_catalogue_path path, bool follow,
                       int (*apply)(const struct change *change, struct wio_store_stat *stat),
                       const struct change *change, struct wio_store_stat *stat_out)
{
    struct path_end place;
    int result = db_begin(catalogue);
    result = result == 0 ? walk_to(catalogue, change->user, path, follow, &place) : result;
    result = result == 0 ? apply(change, &place.node.stat) : result;
    if (result == 0) {
        place.node.stat.ctime_ns = change->user->now_ns;
        result = node_update(catalogue, &place.node);
    }
    result = db_end(catalogue, result);
    if (result == 0 && stat_out != NULL) {
        *stat_out = place.node.stat;
    }
    return result;
}

static int apply_chmod(const struct change *change, struct wio_store_stat *stat)
{
    uint32_t mode = change->mode & 07777;
    if (!user_owns(change->user, stat)) {
        return EPERM;
    }
    if (change->user->uid != 0 && !user_is_in(change->user, stat->gid)) {
        mode &= ~(uint32_t)S_ISGID;
    }
    stat->mode = (stat->mode & (uint32_t)S_IFMT) | mode;
    return 0;
}

int wio_catalogue_chmod(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                        struct wio_catalogue_path path, uint32_t mode)
{
    struct change change = {.user = user, .mode = mode};
    return change_node(catalogue, path, true, apply_chmod, &change, NULL);
}

static int apply_chown(const struct change *change, struct wio_store_stat *stat)
{
    const struct wio_catalogue_user *user = change->user;
    uint32_t uid = change->uid == UINT32_MAX ? stat->uid : change->uid;
    uint32_t gid = change->gid == UINT32_MAX ? stat->gid : change->gid;
    bool is_allowed = user->uid == 0 || (user->uid == stat->uid && uid == stat->uid &&
                                         (gid == stat->gid || user_is_in(user, gid)));
    if (!is_allowed) {
        return EPERM;
    }
    if (user->uid != 0 && S_ISREG(stat->mode)) {
        stat->mode &= ~(uint32_t)(S_ISUID | S_ISGID);
    }
    stat->uid = uid;
    stat->gid = gid;
    return 0;
}

int wio_catalogue_chown(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                        struct wio_catalogue_path path, bool follow, uint32_t uid, uint32_t gid)
{
    struct change change = {.user = user, .uid = uid, .gid = gid};
    return change_node(catalogue, path, follow, apply_chown, &change, NULL);
}

static void set_time(int64_t *time, int64_t wanted, int64_t now_ns)
{
    if (wanted != WIO_STORE_TIME_OMIT) {
        *time = wanted == WIO_STORE_TIME_NOW ? now_ns : wanted;
    }
}

/* utimensat(2): who may write may set both to now, other times only the owner. */
static int apply_utimens(const struct change *change, struct wio_store_stat *stat)
{
    int64_t atime = change->atime_ns;
    int64_t mtime = change->mtime_ns;
    bool is_now = atime == WIO_STORE_TIME_NOW && mtime == WIO_STORE_TIME_NOW;
    bool is_nothing = atime == WIO_STORE_TIME_OMIT && mtime == WIO_STORE_TIME_OMIT;
    if (!is_nothing && !user_owns(change->user, stat)) {
        if (!is_now) {
            return EPERM;
        }
        if (user_may(change->user, stat, MAY_WRITE) != 0) {
            return EACCES;
        }
    }
    set_time(&stat->atime_ns, atime, change->user->now_ns);
    set_time(&stat->mtime_ns, mtime, change->user->now_ns);
    return 0;
}

int wio_catalogue_utimens(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                          struct wio_catalogue_path path, bool follow, int64_t atime_ns,
                          int64_t mtime_ns)
{
    struct change change = {.user = user, .atime_ns = atime_ns, .mtime_ns = mtime_ns};
    return change_node(catalogue, path, follow, apply_utimens, &change, NULL);
}

static int apply_truncate(const struct change *change, struct wio_store_stat *stat)
{
    if (S_ISDIR(stat->mode)) {
        return EISDIR;
    }
    stat->generation++;
    stat->mtime_ns = change->user->now_ns;
    return user_may(change->user, stat, MAY_WRITE);
}

int wio_catalogue_truncate(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                           struct wio_catalogue_path path, struct wio_store_stat *stat_out)
{
    struct change change = {.user = user};
    return change_node(catalogue, path, true, apply_truncate, &change, stat_out);
}

/* ---- asking ---- */

int wio_catalogue_stat(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                       struct wio_catalogue_path path, bool follow, struct wio_store_stat *stat_out)
{
    struct path_end place;
    int result = walk_to(catalogue, user, path, follow, &place);
    if (result == 0 && S_ISDIR(place.node.stat.mode)) {
        result = node_count_links(catalogue, &place.node);
    }
    if (result == 0) {
        *stat_out = place.node.stat;
    }
    return result;
}

int wio_catalogue_readlink(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                           struct wio_catalogue_path path, char *text, size_t size, size_t *got_out)
{
    struct path_end place;
    int result = walk_to(catalogue, user, path, false, &place);
    if (result == 0 && !S_ISLNK(place.node.stat.mode)) {
        result = EINVAL;
    }
    return result == 0 ? node_target(catalogue, place.node.stat.file, text, size, got_out) : result;
}

static int list_rows(struct wio_catalogue *catalogue, uint64_t dir, uint64_t cookie,
                     wio_catalogue_each *each, void *context)
{
    int result = 0;
    int code = SQLITE_DONE;
    sqlite3_stmt *rows = db_statement(catalogue, SQL_LIST, &result);
    if (rows == NULL) {
        return result;
    }
    (void)sqlite3_bind_int64(rows, 1, (sqlite3_int64)dir);
    (void)sqlite3_bind_int64(rows, 2, (sqlite3_int64)cookie);
    while ((code = sqlite3_step(rows)) == SQLITE_ROW) {
        struct node node;
        node_of_row(rows, &node);
        if (!each(context, sqlite3_column_blob(rows, 11), (size_t)sqlite3_column_bytes(rows, 11),
                  &node.stat, node.stat.file)) {
            code = SQLITE_DONE;
            break;
        }
    }
    (void)sqlite3_reset(rows);
    return db_errno(catalogue, code);
}

int wio_catalogue_list(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                       struct wio_catalogue_path path, uint64_t cookie, wio_catalogue_each *each,
                       void *context)
{
    struct path_end place;
    int result = walk_to(catalogue, user, path, true, &place);
    if (result == 0 && !S_ISDIR(place.node.stat.mode)) {
        result = ENOTDIR;
    }
    result = result == 0 ? user_may(user, &place.node.stat, MAY_READ) : result;
    return result == 0 ? list_rows(catalogue, place.node.stat.file, cookie, each, context) : result;
}
