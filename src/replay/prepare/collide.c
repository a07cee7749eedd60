/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/prepare/collide.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

#define PATH_BYTES 8192

struct check {
    const struct rp_root *root;
    struct rp_manifest *manifest;
    const struct rp_space *space;
    struct wio_error *err;
};

static bool is_same_link(int dir, const char *name, const char *text)
{
    char found[PATH_MAX];
    ssize_t bytes = readlinkat(dir, name, found, sizeof(found) - 1);
    if (bytes < 0) {
        return false;
    }
    found[bytes] = '\0';
    return strcmp(found, text) == 0;
}

/* May the trace use what lies there? */
static bool is_usable(const struct check *check, int dir, const char *name, const struct stat *st,
                      const struct rp_file *file)
{
    if (file == NULL || file->is_altered || file->origin == RP_ORIGIN_MADE) {
        return false;
    }
    if (S_ISDIR(st->st_mode)) {
        return file->type == WIO_FILE_DIRECTORY || file->origin == RP_ORIGIN_UNKNOWN;
    }
    return S_ISLNK(st->st_mode) && file->type == WIO_FILE_SYMLINK &&
           is_same_link(dir, name, wio_strtab_get(&check->space->texts, file->target, NULL));
}

/* `file` is NULL for a name that was only there for a while. */
static enum wio_status check_name(const struct check *check, const char *path,
                                  const struct rp_file *file, bool is_planned)
{
    char name[NAME_MAX + 1];
    struct stat st;
    bool is_foreign = false;
    if (!rp_manifest_has(check->manifest, path)) {
        int dir WIO_CLEANUP(wio_fd_cleanup) = rp_root_parent(check->root, path, name);
        is_foreign = dir >= 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
        if (is_foreign && !is_usable(check, dir, name, &st, file)) {
            return wio_error_set(check->err, WIO_ERR_IO, check->root->path, WIO_ERROR_NO_OFFSET,
                                 "'%s' is in the target, the trace touches it, and no replay has "
                                 "made it: remove it or choose another target",
                                 path);
        }
    }
    if (is_planned && !is_foreign && rp_manifest_plan(check->manifest, path) != WIO_OK) {
        return wio_error_set(check->err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for the list of the target");
    }
    return WIO_OK;
}

/* What prepare puts into a directory that was not empty. */
static enum wio_status plan_entry(const struct check *check, const char *path,
                                  const struct rp_file *file)
{
    char entry[PATH_BYTES];
    if (!file->is_not_empty ||
        snprintf(entry, sizeof(entry), "%s/" RP_ENTRY_NAME, path) >= (int)sizeof(entry)) {
        return WIO_OK;
    }
    return check_name(check, entry, NULL, true);
}

/* A name below a link is another name of something that has one of its own. */
static bool is_behind_link(const struct rp_space *space, uint32_t node)
{
    while (node != 0) {
        node = space->nodes[node].parent;
        if (rp_space_file(space, node)->type == WIO_FILE_SYMLINK &&
            space->nodes[node].state == RP_STATE_PRESENT) {
            return true;
        }
    }
    return false;
}

enum wio_status rp_collide_check(const struct rp_root *root, struct rp_manifest *manifest,
                                 const struct rp_space *space, struct wio_error *err)
{
    struct check check = {root, manifest, space, err};
    char buffer[PATH_BYTES];
    for (uint32_t i = 1; i < space->node_count; i++) {
        const char *path = rp_space_path(space, i, buffer, sizeof(buffer));
        if (path != NULL && !is_behind_link(space, i)) {
            /* also names that were missing: a replay that diverges may make them */
            WIO_TRY(check_name(&check, path, rp_space_file(space, i),
                               space->nodes[i].state != RP_STATE_UNKNOWN));
        }
    }
    for (uint32_t i = 0; i < space->file_count; i++) {
        const struct rp_file *file = &space->files[i];
        if (file->origin == RP_ORIGIN_INITIAL && file->path > 1) {
            const char *path = wio_strtab_get(&space->texts, file->path, NULL);
            WIO_TRY(check_name(&check, path, file, true));
            WIO_TRY(plan_entry(&check, path, file));
        }
    }
    for (uint32_t id = 1; id <= space->past.count; id++) {
        const char *path = wio_strtab_get(&space->past, id, NULL);
        WIO_TRY(check_name(&check, path, NULL, true));
    }
    return WIO_OK;
}
