/* SPDX-License-Identifier: Apache-2.0 */
/* Local trees into a store. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "store/stage/stage_internal.h"

static int64_t ns_of(struct timespec time)
{
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void failed_as(struct stage *stage, const char *base, const char *local, const char *what)
{
    char name[STAGE_PATH_MAX];
    stage_name(name, base, local);
    stage_failed_as(stage, name, WIO_ERR_UNSUPPORTED, what);
}

/* ---- trees --------------------------------------------------------------------------------- */

/* Where a walk is. */
struct put_walk {
    struct stage *stage;
    const char *source; /* what the root is called */
    int root;
    unsigned depth;
    bool is_content; /* "dir/.", "..", "/": what is in it goes into a directory that is there */
};

static void put_entry(struct put_walk *walk, const char *local, const char *remote);

/* In place of another link, as of an earlier try, but of nothing else. */
static enum wio_status make_link(struct stage *stage, const char *text, const char *remote,
                                 struct wio_error *err)
{
    char there[STAGE_PATH_MAX];
    struct wio_error own = WIO_ERROR_INIT;
    enum wio_status status = wio_store_symlink(stage->store, text, remote, &own);
    if (status == WIO_OK || own.sys_errno != EEXIST ||
        wio_store_readlink(stage->store, remote, there, sizeof(there), NULL) != WIO_OK) {
        return status == WIO_OK ? WIO_OK : wio_error_pass(err, &own);
    }
    if (strcmp(there, text) == 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_store_unlink(stage->store, remote, err));
    return wio_store_symlink(stage->store, text, remote, err);
}

static void put_link(struct put_walk *walk, const char *local, const char *remote)
{
    struct stage *stage = walk->stage;
    struct wio_error err = WIO_ERROR_INIT;
    char text[STAGE_PATH_MAX];
    ssize_t bytes = readlinkat(walk->root, local, text, sizeof(text) - 1);
    if (bytes < 0) {
        stage_failed_at(stage, walk->source, local, "cannot read the link");
        return;
    }
    text[bytes] = '\0';
    if (make_link(stage, text, remote, &err) == WIO_OK) {
        stage_count(stage, &stage->counts.links);
    } else {
        stage_failed(stage, &err);
    }
}

/* Whether what is there is a directory. A link to one is, where the caller names it (`how`). */
static bool is_dir_there(struct stage *stage, const char *remote, unsigned how)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store_attr attr = {.struct_size = sizeof(attr)};
    if (wio_store_stat(stage->store, remote, how | WIO_STORE_NO_SIZE, &attr, &err) != WIO_OK) {
        stage_failed(stage, &err);
        return false;
    }
    if (!S_ISDIR(attr.mode)) {
        stage_failed_as(stage, remote, WIO_ERR_IO,
                        S_ISLNK(attr.mode) ? "cannot make the directory: a symbolic link is there"
                                           : "cannot make the directory: a file is there");
    }
    return S_ISDIR(attr.mode);
}

/* One that is there already is as good. */
static bool make_dir(struct stage *stage, const char *remote, uint32_t mode, unsigned how,
                     bool *was_there_out)
{
    struct wio_error err = WIO_ERROR_INIT;
    if (wio_store_mkdir(stage->store, remote, mode & 0777, &err) == WIO_OK) {
        stage_count(stage, &stage->counts.directories);
        return true;
    }
    *was_there_out = err.sys_errno == EEXIST;
    if (*was_there_out) {
        return is_dir_there(stage, remote, how);
    }
    stage_failed(stage, &err);
    return false;
}

/* NULL: the end, or errno. */
static const struct dirent *next_entry(DIR *dir)
{
    const struct dirent *entry = NULL;
    do {
        errno = 0;
        entry = readdir(dir);
    } while (entry != NULL &&
             (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    return entry;
}

static enum wio_status set_dir(struct stage *stage, const struct stage_dir *dir,
                               struct wio_error *err)
{
    struct wio_store_attr now = {.struct_size = sizeof(now)};
    WIO_TRY(wio_store_stat(stage->store, dir->remote, WIO_STORE_NOFOLLOW | WIO_STORE_NO_SIZE, &now,
                           err));
    WIO_TRY(wio_store_utimens(stage->store, dir->remote, WIO_STORE_KEEP_TIME, dir->mtime_ns,
                              WIO_STORE_NOFOLLOW, err));
    return wio_store_chmod(stage->store, dir->remote, stage_dir_mode(now.mode, dir->mode), err);
}

static void settle_dir(struct stage *stage, const struct stage_dir *dir)
{
    struct wio_error err = WIO_ERROR_INIT;
    enum wio_status status = set_dir(stage, dir, &err);
    if (status != WIO_OK && !(err.sys_errno == EPERM && dir->was_there)) {
        stage_failed(stage, &err);
    }
}

static void put_dir(struct put_walk *walk, const char *local, const char *remote,
                    const struct stat *source)
{
    struct stage *stage = walk->stage;
    char below[STAGE_PATH_MAX];
    char there[STAGE_PATH_MAX];
    if (walk->depth == STAGE_DEPTH_MAX) {
        failed_as(stage, walk->source, local, "directories are nested too deeply");
        return;
    }
    int fd = stage_open(walk->root, local, O_RDONLY | O_DIRECTORY, 0);
    WIO_CLEANUP(wio_dir_cleanup) DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir == NULL) {
        stage_failed_at(stage, walk->source, local, "cannot open the directory");
        return;
    }
    const bool is_named = walk->depth == 0 && walk->is_content;
    bool was_there = false;
    if (!make_dir(stage, remote, source->st_mode | 0700, is_named ? 0 : WIO_STORE_NOFOLLOW,
                  &was_there)) {
        return;
    }
    if (!is_named) {
        stage_add_dir(stage, &(struct stage_dir){.local = (char *)(uintptr_t)local,
                                                 .root = walk->root,
                                                 .base = walk->source,
                                                 .remote = (char *)(uintptr_t)remote,
                                                 .mode = source->st_mode & 0777,
                                                 .mtime_ns = ns_of(source->st_mtim),
                                                 .was_there = was_there});
    }
    walk->depth++;
    const struct dirent *entry = NULL;
    while ((entry = next_entry(dir)) != NULL) {
        if (stage_join(below, strcmp(local, ".") == 0 ? "" : local, entry->d_name) &&
            stage_join(there, remote, entry->d_name)) {
            put_entry(walk, below, there);
        } else {
            failed_as(stage, walk->source, entry->d_name, "its path is too long");
        }
    }
    if (errno != 0) {
        stage_failed_at(stage, walk->source, local, "cannot read the directory");
    }
    walk->depth--;
}

static void put_entry(struct put_walk *walk, const char *local, const char *remote)
{
    struct stat status;
    if (fstatat(walk->root, local, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        stage_failed_at(walk->stage, walk->source, local, "cannot look at it");
    } else if (S_ISREG(status.st_mode)) {
        const struct stage_file file = {.local = (char *)(uintptr_t)local,
                                        .root = walk->root,
                                        .base = walk->source,
                                        .remote = (char *)(uintptr_t)remote,
                                        .mode = status.st_mode & 0777,
                                        .mtime_ns = ns_of(status.st_mtim),
                                        .bytes = (uint64_t)status.st_size,
                                        .is_met = walk->depth > 0};
        stage_add(walk->stage, &file);
    } else if (S_ISDIR(status.st_mode)) {
        put_dir(walk, local, remote, &status);
    } else if (S_ISLNK(status.st_mode)) {
        put_link(walk, local, remote);
    } else {
        failed_as(walk->stage, walk->source, local, "neither a file nor a directory nor a link");
    }
}

/* ---- what the caller names ----------------------------------------------------------------- */

/* The directory that a source is below, and its name there; of a directory, it and ".". Kept until
 * all files were copied. */
static int open_root(const char *source, char name_out[STAGE_PATH_MAX], bool *is_dir_out)
{
    char real[PATH_MAX];
    struct stat status;
    if (realpath(source, real) == NULL || stat(real, &status) != 0) {
        return -1;
    }
    *is_dir_out = S_ISDIR(status.st_mode);
    if (*is_dir_out) {
        (void)snprintf(name_out, STAGE_PATH_MAX, ".");
        return open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    char *slash = strrchr(real, '/');
    (void)snprintf(name_out, STAGE_PATH_MAX, "%s", slash + 1);
    slash[slash == real ? 1 : 0] = '\0';
    return open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void put_source(struct stage *stage, const char *source, const char *to, bool is_into,
                       int *root_out)
{
    char last[STAGE_PATH_MAX];
    char name[STAGE_PATH_MAX];
    char remote[STAGE_PATH_MAX];
    bool is_dir = false;
    struct put_walk walk = {
        .stage = stage, .source = source, .root = open_root(source, name, &is_dir)};
    *root_out = walk.root;
    stage_last(last, source);
    walk.is_content = is_into && stage_is_content(last);
    if (walk.root < 0) {
        stage_failed_sys(stage, source, "cannot open");
    } else if (is_dir && !stage->params->is_recursive) {
        stage_failed_as(stage, source, WIO_ERR_USAGE, "is a directory: -r copies those");
    } else if (!stage_join(remote, to, is_into && !walk.is_content ? last : "")) {
        stage_failed_as(stage, source, WIO_ERR_UNSUPPORTED, "its path is too long");
    } else {
        put_entry(&walk, name, is_into ? remote : to);
    }
}

static bool is_remote_dir(struct wio_store *store, const char *path)
{
    struct wio_store_attr attr = {.struct_size = sizeof(attr)};
    return wio_store_stat(store, path, WIO_STORE_NO_SIZE, &attr, NULL) == WIO_OK &&
           S_ISDIR(attr.mode);
}

enum wio_status wio_stage_put(struct wio_store *store, const char *const *paths, size_t count,
                              const struct wio_stage_params *params,
                              struct wio_stage_counts *counts_out, struct wio_error *err)
{
    struct stage stage;
    const char *to = paths[count - 1];
    size_t sources = count - 1;
    const char *remote = stage_remote(to);
    bool is_into = is_remote_dir(store, remote);
    if (sources > 1 && !is_into) {
        return wio_error_set(err, WIO_ERR_USAGE, to, WIO_ERROR_NO_OFFSET,
                             "several sources want a directory of the store");
    }
    int *roots = calloc(sources + 1, sizeof(*roots));
    if (roots == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    enum wio_status status = stage_begin(&stage, store, params, stage_put_file, err);
    if (status == WIO_OK) {
        stage.settle = settle_dir;
        for (size_t i = 0; i < sources; i++) {
            put_source(&stage, paths[i], remote, is_into, &roots[i]);
        }
        stage_end(&stage, counts_out);
        for (size_t i = 0; i < sources; i++) {
            wio_fd_cleanup(&roots[i]);
        }
    }
    free(roots);
    return status;
}
