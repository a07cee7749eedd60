/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/prepare/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"

/* Then the paths, each ended by NUL. */
#define MAGIC "whyio-replay 1\n"
#define MAGIC_BYTES (sizeof(MAGIC) - 1)
#define PATH_BYTES 8192

static enum wio_status parse(struct rp_manifest *manifest, struct wio_buf *buf,
                             struct wio_error *err)
{
    const uint8_t *magic;
    if (wio_buf_bytes(buf, MAGIC_BYTES, &magic) != WIO_OK ||
        memcmp(magic, MAGIC, MAGIC_BYTES) != 0) {
        return wio_error_set(err, WIO_ERR_FORMAT, RP_MANIFEST_NAME, 0,
                             "expected 'whyio-replay 1': not the list of a replay; remove it");
    }
    while (wio_buf_left(buf) > 0) {
        const char *path = (const char *)buf->data + buf->pos;
        size_t bytes = strnlen(path, wio_buf_left(buf));
        uint32_t id;
        if (bytes == wio_buf_left(buf)) {
            break; /* cut off while it was written: nothing had been made of that name */
        }
        if (bytes > 0 && wio_strtab_add(&manifest->old, path, bytes, &id) != WIO_OK) {
            return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                                 "no memory for the list of the target");
        }
        buf->pos += bytes + 1;
    }
    return WIO_OK;
}

static enum wio_status read_list(struct rp_manifest *manifest, struct wio_error *err)
{
    struct wio_blob blob WIO_CLEANUP(wio_blob_fini) = {0};
    struct stat st;
    if (fstat(manifest->fd, &st) != 0) {
        return wio_error_sys(err, RP_MANIFEST_NAME, "cannot look at the list of the target");
    }
    if (st.st_size == 0) {
        return WIO_OK;
    }
    if (!S_ISREG(st.st_mode) || wio_blob_reserve(&blob, (size_t)st.st_size) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_FORMAT, RP_MANIFEST_NAME, WIO_ERROR_NO_OFFSET,
                             "expected the list of a replay; remove it");
    }
    WIO_TRY(wio_io_pread(manifest->fd, RP_MANIFEST_NAME, blob.data, (size_t)st.st_size, 0, err));
    struct wio_buf buf = wio_buf_of(blob.data, (size_t)st.st_size);
    return parse(manifest, &buf, err);
}

enum wio_status rp_manifest_open(struct rp_manifest *manifest, const struct rp_root *root,
                                 struct wio_error *err)
{
    manifest->fd =
        openat(root->fd, RP_MANIFEST_NAME, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (manifest->fd < 0) {
        (void)wio_error_sys(err, root->path, "cannot create '" RP_MANIFEST_NAME "' in the target");
        return WIO_ERR_IO;
    }
    if (flock(manifest->fd, LOCK_EX | LOCK_NB) != 0) {
        return wio_error_set(err, WIO_ERR_BUSY, root->path, WIO_ERROR_NO_OFFSET,
                             "another replay is using this target");
    }
    return read_list(manifest, err);
}

void rp_manifest_close(struct rp_manifest *manifest)
{
    wio_fd_cleanup(&manifest->fd);
    wio_strtab_fini(&manifest->old);
    wio_strtab_fini(&manifest->planned);
}

bool rp_manifest_has(const struct rp_manifest *manifest, const char *path)
{
    return wio_strtab_find(&manifest->old, path, strlen(path)) != 0;
}

enum wio_status rp_manifest_plan(struct rp_manifest *manifest, const char *path)
{
    uint32_t id;
    return wio_strtab_add(&manifest->planned, path, strlen(path), &id);
}

static enum wio_status put_all(struct wio_blob *blob, const struct wio_strtab *paths,
                               const struct wio_strtab *except)
{
    for (uint32_t id = 1; id <= paths->count; id++) {
        size_t bytes;
        const char *path = wio_strtab_get(paths, id, &bytes);
        if (except == NULL || wio_strtab_find(except, path, bytes) == 0) {
            WIO_TRY(wio_blob_put(blob, path, bytes + 1));
        }
    }
    return WIO_OK;
}

static enum wio_status store(struct rp_manifest *manifest, const struct rp_root *root,
                             const struct wio_blob *paths, struct wio_error *err)
{
    /* over the old list first: one that is not longer needs no room on a full target */
    enum wio_status status =
        wio_io_pwrite(manifest->fd, RP_MANIFEST_NAME, paths->data, paths->size, 0, err);
    if (status != WIO_OK) {
        wio_error_add(err, "while writing the list of the target '%s'", root->path);
        return status;
    }
    if (ftruncate(manifest->fd, (off_t)paths->size) != 0) {
        return wio_error_sys(err, root->path, "cannot shorten '" RP_MANIFEST_NAME "'");
    }
    if (fsync(manifest->fd) != 0) {
        return wio_error_sys(err, root->path, "cannot flush '" RP_MANIFEST_NAME "'");
    }
    return WIO_OK;
}

static enum wio_status no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                         "no memory for the list of the target");
}

enum wio_status rp_manifest_write(struct rp_manifest *manifest, const struct rp_root *root,
                                  struct wio_error *err)
{
    struct wio_blob blob WIO_CLEANUP(wio_blob_fini) = {0};
    if (wio_blob_put(&blob, MAGIC, MAGIC_BYTES) != WIO_OK ||
        put_all(&blob, &manifest->old, NULL) != WIO_OK ||
        put_all(&blob, &manifest->planned, &manifest->old) != WIO_OK) {
        return no_memory(err);
    }
    return store(manifest, root, &blob, err);
}

/* A path that is too long for the system, as programs have them that go down step by step: no
 * replay has made anything of that name. */
static bool is_missing(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG;
}

/* Also in a directory that the run has closed: what may not be looked at may be there. */
static bool is_there(const struct rp_root *root, const char *path)
{
    char name[NAME_MAX + 1];
    struct stat st;
    int dir WIO_CLEANUP(wio_fd_cleanup) = rp_root_parent(root, path, name);
    bool is_found = dir >= 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    return is_found || !is_missing(errno);
}

static enum wio_status put_present(struct wio_blob *blob, const struct rp_root *root,
                                   const struct wio_strtab *paths, const struct wio_strtab *except)
{
    for (uint32_t id = 1; id <= paths->count; id++) {
        size_t bytes;
        const char *path = wio_strtab_get(paths, id, &bytes);
        bool is_double = except != NULL && wio_strtab_find(except, path, bytes) != 0;
        if (!is_double && is_there(root, path)) {
            WIO_TRY(wio_blob_put(blob, path, bytes + 1));
        }
    }
    return WIO_OK;
}

enum wio_status rp_manifest_prune(struct rp_manifest *manifest, const struct rp_root *root,
                                  struct wio_error *err)
{
    struct wio_blob blob WIO_CLEANUP(wio_blob_fini) = {0};
    if (wio_blob_put(&blob, MAGIC, MAGIC_BYTES) != WIO_OK ||
        put_present(&blob, root, &manifest->old, NULL) != WIO_OK ||
        put_present(&blob, root, &manifest->planned, &manifest->old) != WIO_OK) {
        return no_memory(err);
    }
    return store(manifest, root, &blob, err);
}

/* Directories behind what they hold. */
static int by_path_descending(const void *a, const void *b)
{
    return strcmp(*(const char *const *)b, *(const char *const *)a);
}

static void allow_all(const struct rp_root *root, const char *path)
{
    char proc[64];
    int dir WIO_CLEANUP(wio_fd_cleanup) =
        rp_root_openat(root, path, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
    if (dir >= 0) {
        (void)snprintf(proc, sizeof(proc), "/proc/self/fd/%d", dir);
        (void)chmod(proc, 0700);
    }
}

/* Missing is as good as removed. */
static int remove_one(const struct rp_root *root, const char *path)
{
    char name[NAME_MAX + 1];
    int dir WIO_CLEANUP(wio_fd_cleanup) = rp_root_parent(root, path, name);
    if (dir < 0) {
        return is_missing(errno) ? 0 : -1;
    }
    if (strcmp(name, ".") == 0 || unlinkat(dir, name, 0) == 0 || errno == ENOENT) {
        return 0;
    }
    if (errno != EISDIR && errno != EPERM) {
        return -1;
    }
    if (unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT) {
        return 0;
    }
    if (errno != ENOTEMPTY && errno != EEXIST) {
        return -1;
    }
    allow_all(root, path); /* it stays, and will be used again */
    return 0;
}

/* The directories above `path`, from the top, as far as a replay has made them: it may have left
 * them without permissions. */
static void open_up(const struct rp_manifest *manifest, const struct rp_root *root,
                    const char *path)
{
    char part[PATH_BYTES];
    if (snprintf(part, sizeof(part), "%s", path) >= (int)sizeof(part)) {
        return;
    }
    for (char *slash = strchr(part + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (rp_manifest_has(manifest, part)) {
            allow_all(root, part);
        }
        *slash = '/';
    }
}

enum wio_status rp_manifest_reset(struct rp_manifest *manifest, const struct rp_root *root,
                                  struct wio_error *err)
{
    uint32_t count = manifest->old.count;
    const char **paths = calloc((size_t)count + 1, sizeof(*paths));
    enum wio_status status = WIO_OK;
    if (paths == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < count; i++) {
        paths[i] = wio_strtab_get(&manifest->old, i + 1, NULL);
    }
    qsort(paths, count, sizeof(*paths), by_path_descending);
    for (uint32_t i = 0; i < count && status == WIO_OK; i++) {
        if (remove_one(root, paths[i]) == 0) {
            continue;
        }
        open_up(manifest, root, paths[i]);
        if (remove_one(root, paths[i]) != 0) {
            status = wio_error_sys(
                err, root->path, "cannot remove '%s', which an earlier replay has made", paths[i]);
        }
    }
    free(paths);
    return status;
}
