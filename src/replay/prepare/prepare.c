/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/prepare/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "replay/prepare/collide.h"
#include "replay/prepare/fill.h"

#define FILL_BYTES (1u << 20)

struct prepare_work {
    const struct rp_prepare *params;
    const struct rp_space *space;
    uint32_t *order; /* files of before the run, directories before what they hold */
    uint32_t count;
    uint64_t done;
    uint64_t total;
    uint8_t *data; /* FILL_BYTES */
    struct wio_error *err;
};

static const char *path_of(const struct rp_space *space, uint32_t file)
{
    return wio_strtab_get(&space->texts, space->files[file].path, NULL);
}

static enum wio_status fail(const struct prepare_work *work, const char *what, const char *path)
{
    return wio_error_sys(work->err, work->params->root->path, "cannot %s '%s' in the target", what,
                         path);
}

static bool is_to_make(const struct rp_file *file)
{
    return file->origin == RP_ORIGIN_INITIAL && file->path > 1;
}

void rp_prepare_measure(const struct rp_space *space, struct rp_tree_size *size_out)
{
    *size_out = (struct rp_tree_size){0};
    for (uint32_t i = 0; i < space->file_count; i++) {
        const struct rp_file *file = &space->files[i];
        if (!is_to_make(file)) {
            continue;
        }
        size_out->files += file->type == WIO_FILE_REGULAR;
        size_out->directories += file->type == WIO_FILE_DIRECTORY;
        size_out->links += file->type == WIO_FILE_SYMLINK;
        if (file->type == WIO_FILE_REGULAR) {
            size_out->bytes += rp_extents_bytes(&file->reads);
            size_out->from_memory += file->warm.memory_bytes;
            size_out->from_device += file->warm.device_bytes;
        }
    }
    for (uint32_t i = 0; i < space->node_count; i++) {
        const struct rp_file *file = rp_space_file(space, i);
        if (space->nodes[i].state == RP_STATE_PRESENT && file->type == WIO_FILE_REGULAR) {
            size_out->written += file->wrote < file->wrote_end ? file->wrote : file->wrote_end;
        }
    }
}

static enum wio_status check_room(const struct prepare_work *work)
{
    struct rp_tree_size size;
    struct statvfs st;
    if (fstatvfs(work->params->root->fd, &st) != 0 || st.f_blocks == 0) {
        return WIO_OK; /* file systems that do not tell */
    }
    rp_prepare_measure(work->space, &size);
    uint64_t need = size.bytes + size.written;
    uint64_t have = (uint64_t)(geteuid() == 0 ? st.f_bfree : st.f_bavail) * st.f_frsize;
    if (need <= have) {
        return WIO_OK;
    }
    return wio_error_set(work->err, WIO_ERR_IO, work->params->root->path, WIO_ERROR_NO_OFFSET,
                         "the target is too small: the replay needs %.1f MiB, free are %.1f MiB",
                         (double)need / 1048576.0, (double)have / 1048576.0);
}

/* Where the target has none, the operations that look at them show it. */
static void set_attrs(const struct prepare_work *work, const struct rp_file *file, int fd)
{
    const struct rp_attrs *attrs = &work->space->attrs;
    for (uint32_t at = file->attrs; at != 0; at = attrs->items[at - 1].next) {
        const struct rp_attr *attr = &attrs->items[at - 1];
        uint64_t seed = at;
        if (attr->is_initial) {
            rp_fill(work->data, attr->bytes, &seed);
            (void)fsetxattr(fd, wio_strtab_get(&work->space->texts, attr->name, NULL), work->data,
                            attr->bytes, 0);
        }
    }
}

static enum wio_status make_directory(const struct prepare_work *work, int dir, const char *name,
                                      const struct rp_file *file, const char *path)
{
    if (mkdirat(dir, name, 0700) != 0) {
        if (errno != EEXIST) {
            return fail(work, "create directory", path);
        }
    } else if (file->attrs != 0) {
        int fresh WIO_CLEANUP(wio_fd_cleanup) =
            openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        set_attrs(work, file, fresh);
    }
    if (!file->is_not_empty) {
        return WIO_OK;
    }
    int made WIO_CLEANUP(wio_fd_cleanup) =
        openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int entry WIO_CLEANUP(wio_fd_cleanup) =
        made < 0 ? -1
                 : openat(made, RP_ENTRY_NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                          0666);
    /* the directory may have two names in the trace, and hold an entry since the first one */
    bool is_done = entry >= 0 || (made >= 0 && errno == EEXIST);
    return is_done ? WIO_OK : fail(work, "create an entry in", path);
}

static enum wio_status make_link(const struct prepare_work *work, int dir, const char *name,
                                 const struct rp_file *file, const char *path)
{
    const char *text = wio_strtab_get(&work->space->texts, file->target, NULL);
    if (symlinkat(file->target == 0 ? "unknown" : text, dir, name) != 0 && errno != EEXIST) {
        return fail(work, "create link", path);
    }
    return WIO_OK;
}

static enum wio_status fill_range(struct prepare_work *work, int fd, const struct rp_extent *range,
                                  uint64_t *seed, const char *path)
{
    for (uint64_t at = range->start; at < range->end;) {
        size_t bytes = range->end - at < FILL_BYTES ? (size_t)(range->end - at) : FILL_BYTES;
        rp_fill(work->data, bytes, seed);
        enum wio_status status = wio_io_pwrite(fd, path, work->data, bytes, at, work->err);
        if (status != WIO_OK) {
            wio_error_add(work->err, "while preparing the target '%s'", work->params->root->path);
            return status;
        }
        at += bytes;
        work->done += bytes;
        if (work->params->progress != NULL) {
            work->params->progress(work->params->progress_arg, work->done, work->total, "bytes");
        }
        if (work->params->should_stop != NULL && work->params->should_stop()) {
            return wio_error_set(work->err, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET,
                                 "interrupted while preparing the target");
        }
    }
    return WIO_OK;
}

static enum wio_status make_file(struct prepare_work *work, int dir, const char *name,
                                 uint32_t index, const char *path)
{
    const struct rp_file *file = &work->space->files[index];
    uint64_t seed = (uint64_t)index << 40 | 1;
    int fd WIO_CLEANUP(wio_fd_cleanup) =
        openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return fail(work, "create", path);
    }
    if (file->size > INT64_MAX || ftruncate(fd, (off_t)file->size) != 0) {
        return fail(work, "set the size of", path);
    }
    for (uint32_t i = 0; i < file->reads.count; i++) {
        WIO_TRY(fill_range(work, fd, &file->reads.items[i], &seed, path));
    }
    set_attrs(work, file, fd);
    /* no set-user-id: what the file holds is not what had that right */
    if (fchmod(fd, file->mode & 0777) != 0) {
        return fail(work, "set the mode of", path);
    }
    return WIO_OK;
}

static enum wio_status make_one(struct prepare_work *work, uint32_t index)
{
    char name[NAME_MAX + 1];
    const struct rp_file *file = &work->space->files[index];
    const char *path = path_of(work->space, index);
    int dir WIO_CLEANUP(wio_fd_cleanup) = rp_root_parent(work->params->root, path, name);
    if (dir < 0) {
        return fail(work, "enter the directory of", path);
    }
    switch ((enum wio_file_type)file->type) {
    case WIO_FILE_DIRECTORY:
        return make_directory(work, dir, name, file, path);
    case WIO_FILE_SYMLINK:
        return make_link(work, dir, name, file, path);
    case WIO_FILE_REGULAR:
        return make_file(work, dir, name, index, path);
    case WIO_FILE_UNKNOWN:
    case WIO_FILE_NONE:
    case WIO_FILE_FIFO:
    case WIO_FILE_SOCKET:
    case WIO_FILE_CHARDEV:
    case WIO_FILE_BLOCKDEV:
    default:
        return WIO_OK; /* operations on these are skipped */
    }
}

/* Modes of directories at last: they may forbid to write. Foreign ones keep theirs. */
static enum wio_status set_mode(const struct prepare_work *work, uint32_t index)
{
    const struct rp_file *file = &work->space->files[index];
    const char *path = path_of(work->space, index);
    if (file->type != WIO_FILE_DIRECTORY ||
        wio_strtab_find(&work->params->manifest->planned, path, strlen(path)) == 0) {
        return WIO_OK;
    }
    int fd WIO_CLEANUP(wio_fd_cleanup) =
        rp_root_openat(work->params->root, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0 || fchmod(fd, file->mode & 01777) != 0) {
        return fail(work, "set the mode of directory", path);
    }
    return WIO_OK;
}

/* After this the data lies on the storage, and not in the page cache. */
static enum wio_status flush(const struct prepare_work *work)
{
    if (syncfs(work->params->root->fd) != 0) {
        return wio_error_sys(work->err, work->params->root->path, "cannot flush the target");
    }
    for (uint32_t i = 0; i < work->count && !work->params->keep_cache; i++) {
        const struct rp_file *file = &work->space->files[work->order[i]];
        if (file->type != WIO_FILE_REGULAR || file->reads.count == 0) {
            continue;
        }
        int fd WIO_CLEANUP(wio_fd_cleanup) = rp_root_openat(
            work->params->root, path_of(work->space, work->order[i]), O_RDONLY | O_NOFOLLOW, 0);
        if (fd >= 0) {
            (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); /* a wish, by its nature */
        }
    }
    return WIO_OK;
}

static int by_path(const void *a, const void *b, void *arg)
{
    const struct rp_space *space = arg;
    return strcmp(path_of(space, *(const uint32_t *)a), path_of(space, *(const uint32_t *)b));
}

static void choose(struct prepare_work *work)
{
    for (uint32_t i = 0; i < work->space->file_count; i++) {
        if (is_to_make(&work->space->files[i])) {
            work->order[work->count++] = i;
        }
    }
    qsort_r(work->order, work->count, sizeof(*work->order), by_path,
            (void *)(uintptr_t)work->space);
}

static enum wio_status make_tree(struct prepare_work *work)
{
    struct rp_manifest *manifest = work->params->manifest;
    WIO_TRY(rp_collide_check(work->params->root, manifest, work->space, work->err));
    WIO_TRY(rp_manifest_write(manifest, work->params->root, work->err));
    WIO_TRY(rp_manifest_reset(manifest, work->params->root, work->err));
    WIO_TRY(check_room(work));
    for (uint32_t i = 0; i < work->count; i++) {
        WIO_TRY(make_one(work, work->order[i]));
    }
    for (uint32_t i = work->count; i-- > 0;) {
        WIO_TRY(set_mode(work, work->order[i]));
    }
    return flush(work);
}

enum wio_status rp_prepare(const struct rp_prepare *params, const struct rp_space *space,
                           struct wio_error *err)
{
    struct rp_tree_size size;
    rp_prepare_measure(space, &size);
    struct prepare_work work = {.params = params, .space = space, .total = size.bytes, .err = err};
    work.order = calloc((size_t)space->file_count + 1, sizeof(*work.order));
    work.data = malloc(FILL_BYTES);
    enum wio_status status = WIO_ERR_NOMEM;
    if (work.order != NULL && work.data != NULL) {
        choose(&work);
        status = make_tree(&work);
    } else {
        (void)wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET,
                            "no memory for preparing the target");
    }
    free(work.order);
    free(work.data);
    return status;
}
