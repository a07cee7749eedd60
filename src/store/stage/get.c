/* SPDX-License-Identifier: Apache-2.0 */
/* Files and trees of a store to local ones. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "store/stage/list.h"
#include "store/stage/stage_internal.h"

/* ---- one file ------------------------------------------------------------------------------ */

enum { HOLE_UNIT = 64 << 10 };

static bool is_zero(const uint8_t *data, size_t bytes)
{
    return bytes > 0 && data[0] == 0 && memcmp(data, data + 1, bytes - 1) == 0;
}

/* Bytes from the begin of `data`, whole units, that are all zeros, or of which no unit is. */
static size_t run_of(const uint8_t *data, size_t bytes, bool *is_hole_out)
{
    size_t run = 0;
    do {
        const size_t unit = bytes - run < HOLE_UNIT ? bytes - run : HOLE_UNIT;
        const bool is_hole = is_zero(data + run, unit);
        if (run > 0 && is_hole != *is_hole_out) {
            break;
        }
        *is_hole_out = is_hole;
        run += unit;
    } while (run < bytes);
    return run;
}

/* Into a new or empty file: what is zero becomes a hole. */
static enum wio_status write_sparse(int fd, const char *path, const uint8_t *data, size_t bytes,
                                    uint64_t at, struct wio_error *err)
{
    size_t done = 0;
    while (done < bytes) {
        bool is_hole = false;
        const size_t run = run_of(data + done, bytes - done, &is_hole);
        if (!is_hole) {
            WIO_TRY(wio_io_pwrite(fd, path, data + done, run, at + done, err));
        }
        done += run;
    }
    return WIO_OK;
}

/* A file that is none (a device) gets all bytes. */
static enum wio_status copy_bytes(struct stage *stage, struct wio_store_file *from, int fd,
                                  const char *path, void *buffer, struct wio_error *err)
{
    struct stat status;
    uint64_t at = 0;
    size_t got = 0;
    const bool is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    do {
        WIO_TRY(wio_store_pread(from, NULL, buffer, STAGE_CHUNK, at, &got, err));
        WIO_TRY(is_file ? write_sparse(fd, path, buffer, got, at, err)
                        : wio_io_pwrite(fd, path, buffer, got, at, err));
        at += got;
        stage_moved(stage, got);
    } while (got == STAGE_CHUNK);
    const bool is_sized = !is_file || ftruncate(fd, (off_t)at) == 0;
    return is_sized ? WIO_OK : wio_error_sys(err, path, "cannot set its size");
}

static enum wio_status copy_from(struct stage *stage, const struct stage_file *file, int fd,
                                 void *buffer, struct wio_error *err)
{
    const struct wio_store_open_params how = {.struct_size = sizeof(how),
                                              .flags = O_RDONLY | (file->is_met ? O_NOFOLLOW : 0),
                                              .view = WIO_VIEW_INDEPENDENT};
    struct wio_store_file *from = NULL;
    WIO_TRY(wio_store_file_open(stage->store, file->remote, &how, &from, err));
    enum wio_status status = copy_bytes(stage, from, fd, file->local, buffer, err);
    wio_store_file_close(from);
    return status;
}

static bool set_attributes(int fd, const struct stage_file *file)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, stage_time(file->mtime_ns)};
    return futimens(fd, times) == 0;
}

/* Access bits are kept, also of a local file that was there; a device keeps its own. */
static bool set_mode(int fd, const struct stage_file *file)
{
    struct stat status;
    return fstat(fd, &status) == 0 && (!S_ISREG(status.st_mode) || fchmod(fd, file->mode) == 0);
}

/* The time is set when all bytes are there: a copy that was interrupted has another one. */
static bool is_there(struct stage *stage, const struct stage_file *file)
{
    struct stat status;
    struct wio_store_attr attr = {.struct_size = sizeof(attr)};
    const unsigned how = file->is_met ? WIO_STORE_NOFOLLOW : 0;
    WIO_CLEANUP(wio_fd_cleanup) int fd = stage_open(file->root, file->local, O_RDONLY, 0);
    if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
        wio_store_stat(stage->store, file->remote, how, &attr, NULL) != WIO_OK) {
        return false;
    }
    const struct timespec time = stage_time(attr.mtime_ns);
    return attr.size == (uint64_t)status.st_size && time.tv_sec == status.st_mtim.tv_sec &&
           time.tv_nsec == status.st_mtim.tv_nsec;
}

/* One of the user's own that may not be written, as an earlier copy may be, becomes writable. */
static int open_local(const struct stage_file *file)
{
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    int fd = stage_open(file->root, file->local, flags, file->mode);
    if (fd < 0 && errno == EACCES) {
        WIO_CLEANUP(wio_fd_cleanup) int there = stage_open(file->root, file->local, O_RDONLY, 0);
        const bool is_open = there >= 0 && fchmod(there, file->mode | 0600) == 0;
        errno = EACCES;
        return is_open ? stage_open(file->root, file->local, flags, file->mode) : -1;
    }
    return fd;
}

static void get_file(struct stage *stage, struct stage_file *file, void *buffer)
{
    struct wio_error err = WIO_ERROR_INIT;
    if (stage->params->is_update && is_there(stage, file)) {
        stage_count(stage, &stage->counts.skipped);
        return;
    }
    int fd = open_local(file);
    if (fd < 0) {
        stage_failed_at(stage, file->base, file->local, "cannot make the file");
        return;
    }
    enum wio_status status = set_mode(fd, file)
                                 ? copy_from(stage, file, fd, buffer, &err)
                                 : wio_error_sys(&err, file->local, "cannot set its access bits");
    if (status == WIO_OK && !set_attributes(fd, file)) {
        status = wio_error_sys(&err, file->local, "cannot set its time");
    }
    if (close(fd) != 0 && status == WIO_OK) {
        status = wio_error_sys(&err, file->local, "cannot close");
    }
    if (status == WIO_OK) {
        stage_count(stage, &stage->counts.files);
    } else {
        stage_failed(stage, &err);
    }
}

/* ---- trees --------------------------------------------------------------------------------- */

struct get_walk {
    struct stage *stage;
    const char *to; /* what the root is called, or what is made in it */
    int root;
    unsigned depth;
};

static void get_entry(struct get_walk *walk, const char *remote, const char *local,
                      const struct wio_store_attr *attr);

/* The directory that `local` is to be in, opened beneath the root: links would lead elsewhere. */
static int open_parent(const struct get_walk *walk, const char *local, const char **name_out)
{
    char parent[STAGE_PATH_MAX];
    const char *slash = strrchr(local, '/');
    *name_out = slash != NULL ? slash + 1 : local;
    (void)snprintf(parent, sizeof(parent), "%.*s", slash != NULL ? (int)(slash - local) : 1,
                   slash != NULL ? local : ".");
    return stage_open(walk->root, parent, O_RDONLY | O_DIRECTORY, 0);
}

/* In place of another link, as of an earlier try, but of nothing else. False and errno. */
static bool make_link(int parent, const char *text, const char *name)
{
    char there[STAGE_PATH_MAX];
    if (symlinkat(text, parent, name) == 0) {
        return true;
    }
    const int failed = errno;
    const ssize_t bytes = failed == EEXIST ? readlinkat(parent, name, there, sizeof(there)) : -1;
    if (bytes < 0) {
        errno = failed;
        return false;
    }
    return ((size_t)bytes == strlen(text) && memcmp(there, text, (size_t)bytes) == 0) ||
           (unlinkat(parent, name, 0) == 0 && symlinkat(text, parent, name) == 0);
}

static void get_link(struct get_walk *walk, const char *remote, const char *local)
{
    struct stage *stage = walk->stage;
    struct wio_error err = WIO_ERROR_INIT;
    char text[STAGE_PATH_MAX];
    const char *name = NULL;
    if (wio_store_readlink(stage->store, remote, text, sizeof(text), &err) != WIO_OK) {
        stage_failed(stage, &err);
        return;
    }
    WIO_CLEANUP(wio_fd_cleanup) int parent = open_parent(walk, local, &name);
    if (parent < 0 || !make_link(parent, text, name)) {
        stage_failed_at(stage, walk->to, local, "cannot make the link");
        return;
    }
    stage_count(stage, &stage->counts.links);
}

static bool make_dir(struct get_walk *walk, const char *local, uint32_t mode, bool *was_there_out)
{
    struct stage *stage = walk->stage;
    const char *name = NULL;
    if (strcmp(local, ".") == 0) {
        return true;
    }
    WIO_CLEANUP(wio_fd_cleanup) int parent = open_parent(walk, local, &name);
    if (parent >= 0 && mkdirat(parent, name, (mode & 0777) | 0700) == 0) {
        stage_count(stage, &stage->counts.directories);
        return true;
    }
    *was_there_out = parent >= 0 && errno == EEXIST;
    if (*was_there_out) {
        return true; /* what it is, its files will find out */
    }
    stage_failed_at(stage, walk->to, local, "cannot make the directory");
    return false;
}

static bool set_dir(int fd, const struct stage_dir *dir)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, stage_time(dir->mtime_ns)};
    struct stat now;
    return fstat(fd, &now) == 0 && futimens(fd, times) == 0 &&
           fchmod(fd, stage_dir_mode(now.st_mode, dir->mode)) == 0;
}

static void settle_dir(struct stage *stage, const struct stage_dir *dir)
{
    WIO_CLEANUP(wio_fd_cleanup)
    int fd = stage_open(dir->root, dir->local, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0 || (!set_dir(fd, dir) && !(errno == EPERM && dir->was_there))) {
        stage_failed_at(stage, dir->base, dir->local, "cannot set its time and access bits");
    }
}

static void get_dir(struct get_walk *walk, const char *remote, const char *local,
                    const struct wio_store_attr *attr)
{
    struct stage *stage = walk->stage;
    struct wio_error err = WIO_ERROR_INIT;
    WIO_CLEANUP(stage_list_fini) struct stage_list list = {0};
    char from[STAGE_PATH_MAX];
    char to[STAGE_PATH_MAX];
    if (walk->depth == STAGE_DEPTH_MAX) {
        stage_failed_as(stage, remote, WIO_ERR_UNSUPPORTED, "directories are nested too deeply");
        return;
    }
    bool was_there = false;
    if (!make_dir(walk, local, attr->mode, &was_there)) {
        return;
    }
    if (strcmp(local, ".") != 0) {
        stage_add_dir(stage, &(struct stage_dir){.local = (char *)(uintptr_t)local,
                                                 .root = walk->root,
                                                 .base = walk->to,
                                                 .remote = (char *)(uintptr_t)remote,
                                                 .mode = attr->mode & 0777,
                                                 .mtime_ns = attr->mtime_ns,
                                                 .was_there = was_there});
    }
    if (stage_list_read(&list, stage->store, remote, &err) != WIO_OK) {
        stage_failed(stage, &err);
        return;
    }
    walk->depth++;
    for (size_t i = 0; i < list.count; i++) {
        const struct stage_entry *entry = &list.entries[i];
        if (stage_join(from, remote, entry->name) &&
            stage_join(to, strcmp(local, ".") == 0 ? "" : local, entry->name)) {
            get_entry(walk, from, to, &entry->attr);
        } else {
            stage_failed_as(stage, entry->name, WIO_ERR_UNSUPPORTED, "its path is too long");
        }
    }
    walk->depth--;
}

static void get_entry(struct get_walk *walk, const char *remote, const char *local,
                      const struct wio_store_attr *attr)
{
    if (S_ISREG(attr->mode)) {
        const struct stage_file file = {.local = (char *)(uintptr_t)local,
                                        .root = walk->root,
                                        .base = walk->to,
                                        .remote = (char *)(uintptr_t)remote,
                                        .mode = attr->mode & 0777,
                                        .mtime_ns = attr->mtime_ns,
                                        .is_met = walk->depth > 0};
        stage_add(walk->stage, &file);
    } else if (S_ISDIR(attr->mode)) {
        get_dir(walk, remote, local, attr);
    } else {
        get_link(walk, remote, local);
    }
}

/* ---- what the caller names ----------------------------------------------------------------- */

static void get_source(struct get_walk *walk, const char *source, const char *as)
{
    struct stage *stage = walk->stage;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store_attr attr = {.struct_size = sizeof(attr)};
    if (wio_store_stat(stage->store, source, WIO_STORE_NO_SIZE, &attr, &err) != WIO_OK) {
        stage_failed(stage, &err);
    } else if (S_ISDIR(attr.mode) && !stage->params->is_recursive) {
        stage_failed_as(stage, source, WIO_ERR_USAGE, "is a directory: -r copies those");
    } else {
        get_entry(walk, source, as, &attr);
    }
}

/* Into a directory that is there, each source by its name; else the only one as `to`: its parent is
 * the root, and a directory is made first. */
static enum wio_status open_root(const char *to, size_t count, char as_out[STAGE_PATH_MAX],
                                 int *root_out, struct wio_error *err)
{
    struct stat status;
    char parent[STAGE_PATH_MAX];
    if (stat(to, &status) == 0 && S_ISDIR(status.st_mode)) {
        as_out[0] = '\0';
        (void)snprintf(parent, sizeof(parent), "%s", to);
    } else if (count > 1) {
        return wio_error_set(err, WIO_ERR_USAGE, to, WIO_ERROR_NO_OFFSET,
                             "several sources want a directory");
    } else {
        stage_last(as_out, to);
        size_t bytes = strlen(to);
        while (bytes > 0 && to[bytes - 1] == '/') {
            bytes--;
        }
        bytes -= strlen(as_out);
        (void)snprintf(parent, sizeof(parent), "%.*s", (int)bytes, to);
    }
    *root_out = open(parent[0] != '\0' ? parent : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *root_out >= 0 ? WIO_OK : wio_error_sys(err, to, "cannot open the directory");
}

enum wio_status wio_stage_get(struct wio_store *store, const char *const *paths, size_t count,
                              const struct wio_stage_params *params,
                              struct wio_stage_counts *counts_out, struct wio_error *err)
{
    struct stage stage;
    const char *to = paths[count - 1];
    size_t sources = count - 1;
    struct get_walk walk = {.stage = &stage, .to = to};
    char as[STAGE_PATH_MAX] = "";
    WIO_CLEANUP(wio_fd_cleanup) int root = -1;
    WIO_TRY(open_root(to, sources, as, &root, err));
    WIO_TRY(stage_begin(&stage, store, params, get_file, err));
    stage.settle = settle_dir;
    walk.root = root;
    for (size_t i = 0; i < sources; i++) {
        const char *source = stage_remote(paths[i]);
        char name[STAGE_PATH_MAX] = "";
        stage_last(name, source);
        get_source(&walk, source, as[0] != '\0' ? as : stage_is_content(name) ? "." : name);
    }
    stage_end(&stage, counts_out);
    return WIO_OK;
}
