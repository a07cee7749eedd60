/* SPDX-License-Identifier: Apache-2.0 */
#include "seal/rings/raw.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "trace/format/trust.h"

#define MILLISECOND_NS UINT64_C(1000000)

enum { POLL_MS = 20, OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_CLOEXEC };

static enum wio_status no_memory(const char *path, struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, path, WIO_ERROR_NO_OFFSET, "no memory");
}

static bool is_own_directory(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && wio_trust_is_own(&st);
}

static enum wio_status open_raw(struct wio_raw *raw, struct wio_error *err)
{
    struct stat st;
    raw->fd = openat(raw->dir, "raw", OPEN_DIRECTORY | O_NOFOLLOW);
    if (raw->fd >= 0) {
        raw->is_own = raw->is_own && is_own_directory(raw->fd);
        return WIO_OK;
    }
    int cause = errno;
    if (fstatat(raw->dir, "raw", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode)) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, raw->path, WIO_ERROR_NO_OFFSET,
                             "expected the directory of the rings, found a symbolic link: what is "
                             "behind it is neither read nor removed");
    }
    errno = cause;
    return cause == ENOENT || cause == ENOTDIR
               ? WIO_OK
               : wio_error_sys(err, raw->path, "cannot read the directory of rings");
}

enum wio_status wio_raw_open_at(struct wio_raw *raw_out, int at, const char *dir,
                                struct wio_error *err)
{
    *raw_out = (struct wio_raw)WIO_RAW_INIT;
    if (asprintf(&raw_out->path, "%s/raw", dir) < 0) {
        raw_out->path = NULL;
        return no_memory(dir, err);
    }
    raw_out->dir = at < 0 ? open(dir, OPEN_DIRECTORY) : openat(at, ".", OPEN_DIRECTORY);
    if (raw_out->dir < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        return WIO_OK; /* no rings; reading segments says what is wrong */
    }
    if (raw_out->dir < 0) {
        return wio_error_sys(err, dir, "cannot open the trace directory");
    }
    raw_out->is_own = is_own_directory(raw_out->dir);
    return open_raw(raw_out, err);
}

enum wio_status wio_raw_open(struct wio_raw *raw_out, const char *dir, struct wio_error *err)
{
    return wio_raw_open_at(raw_out, -1, dir, err);
}

/* Has it been removed, or replaced, since it was opened? */
static bool is_gone(const struct wio_raw *raw)
{
    struct stat held;
    struct stat named;
    return fstat(raw->fd, &held) != 0 ||
           fstatat(raw->dir, "raw", &named, AT_SYMLINK_NOFOLLOW) != 0 ||
           held.st_ino != named.st_ino || held.st_dev != named.st_dev;
}

static bool wait_for_lock(int fd)
{
    for (unsigned waited_ms = 0; waited_ms <= WIO_RAW_WAIT_MS; waited_ms += POLL_MS) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            return true;
        }
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return true; /* a file system without locks: there is only this process */
        }
        wio_clock_sleep_ns(POLL_MS * MILLISECOND_NS);
    }
    return false;
}

bool wio_raw_lock(struct wio_raw *raw)
{
    if (raw->fd < 0 || !raw->is_own || !wait_for_lock(raw->fd)) {
        return false;
    }
    if (is_gone(raw)) {
        wio_fd_cleanup(&raw->fd);
        return false;
    }
    raw->is_locked = true;
    return true;
}

enum wio_status wio_raw_reopen(struct wio_raw *raw, struct wio_error *err)
{
    do {
        WIO_TRY(open_raw(raw, err));
    } while (raw->fd >= 0 && !wio_raw_lock(raw) && raw->fd < 0);
    return WIO_OK;
}

void wio_raw_close(struct wio_raw *raw)
{
    wio_fd_cleanup(&raw->fd);
    wio_fd_cleanup(&raw->dir);
    free(raw->path);
    *raw = (struct wio_raw)WIO_RAW_INIT;
}

void wio_ring_dir_close(struct wio_ring_dir *dir)
{
    wio_fd_cleanup(&dir->fd);
    free(dir->name);
    free(dir->path);
    *dir = (struct wio_ring_dir){.fd = -1};
}

/* Takes over `fd`, also on failure. */
static enum wio_status ring_dir_init(struct wio_ring_dir *out, int fd, const char *name,
                                     const char *path, struct wio_error *err)
{
    *out = (struct wio_ring_dir){.fd = fd, .name = strdup(name), .path = strdup(path)};
    if (out->name == NULL || out->path == NULL) {
        wio_ring_dir_close(out);
        return no_memory(path, err);
    }
    struct stat st;
    if (fstat(fd, &st) != 0) {
        enum wio_status status = wio_error_sys(err, path, "cannot look at the directory of rings");
        wio_ring_dir_close(out);
        return status;
    }
    out->owner = st.st_uid;
    out->is_own = wio_trust_is_own(&st);
    return WIO_OK;
}

enum wio_status wio_ring_dir_of_raw(struct wio_ring_dir *out, const struct wio_raw *raw,
                                    struct wio_error *err)
{
    int fd = openat(raw->fd, ".", OPEN_DIRECTORY);
    if (fd < 0) {
        return wio_error_sys(err, raw->path, "cannot read the directory of rings");
    }
    return ring_dir_init(out, fd, "", raw->path, err);
}

enum wio_status wio_ring_dir_open(struct wio_ring_dir *out, const char *path, struct wio_error *err)
{
    int fd = open(path, OPEN_DIRECTORY | O_NOFOLLOW);
    if (fd < 0) {
        return errno == ENOENT || errno == ENOTDIR
                   ? WIO_END
                   : wio_error_sys(err, path, "cannot read the directory of rings");
    }
    return ring_dir_init(out, fd, "", path, err);
}

static enum wio_status refuse_link(const char *path, const char *target, struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_UNSUPPORTED, path, WIO_ERROR_NO_OFFSET,
                         "expected rings, found a link to '%s' that no recorder of this trace "
                         "made: it is not followed",
                         target);
}

/* *fd_out: the directory that the link leads to. */
static enum wio_status follow(const struct wio_raw *raw, const char *name, const char *path,
                              const struct stat *link, int *fd_out, struct wio_error *err)
{
    char target[PATH_MAX];
    ssize_t size = readlinkat(raw->fd, name, target, sizeof(target) - 1);
    if (size < 0) {
        return WIO_END;
    }
    target[size] = '\0';
    const char *slash = strrchr(target, '/');
    if (target[0] != '/' ||
        strncmp(slash + 1, WIO_LOCAL_RINGS_PREFIX, strlen(WIO_LOCAL_RINGS_PREFIX)) != 0) {
        return refuse_link(path, target, err);
    }
    WIO_CLEANUP(wio_fd_cleanup) int fd = open(target, OPEN_DIRECTORY | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT) {
        return WIO_END; /* of another host, or cleared by its recorder */
    }
    if (fd < 0 || !wio_trust_link(raw->fd, raw->path, link, fd)) {
        return refuse_link(path, target, err);
    }
    *fd_out = fd;
    fd = -1;
    return WIO_OK;
}

static enum wio_status enter(struct wio_ring_dir *out, const struct wio_raw *raw, const char *name,
                             const char *path, struct wio_error *err)
{
    struct stat st;
    int fd = -1;
    if (fstatat(raw->fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT ? WIO_END : wio_error_sys(err, path, "cannot look at it");
    }
    if (S_ISLNK(st.st_mode)) {
        WIO_TRY(follow(raw, name, path, &st, &fd, err));
    } else if (S_ISDIR(st.st_mode)) {
        fd = openat(raw->fd, name, OPEN_DIRECTORY | O_NOFOLLOW);
    } else {
        return WIO_END;
    }
    if (fd < 0) {
        return errno == ENOENT ? WIO_END
                               : wio_error_sys(err, path, "cannot read the directory of rings");
    }
    WIO_TRY(ring_dir_init(out, fd, name, path, err));
    out->is_link = S_ISLNK(st.st_mode);
    return WIO_OK;
}

enum wio_status wio_ring_dir_enter(struct wio_ring_dir *out, const struct wio_raw *raw,
                                   const char *name, struct wio_error *err)
{
    char *path = NULL;
    *out = (struct wio_ring_dir){.fd = -1};
    if (asprintf(&path, "%s/%s", raw->path, name) < 0) {
        return no_memory(raw->path, err);
    }
    enum wio_status status = enter(out, raw, name, path, err);
    free(path);
    return status;
}

void wio_ring_dir_lock(struct wio_ring_dir *dir, bool is_alone)
{
    int how = is_alone ? LOCK_EX : LOCK_SH;
    dir->is_held = flock(dir->fd, how | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

void wio_ring_dir_empty(const struct wio_ring_dir *dir)
{
    WIO_CLEANUP(wio_dir_cleanup) DIR *list = wio_io_list(dir->fd);
    const struct dirent *entry = NULL;
    while (list != NULL && (entry = readdir(list)) != NULL) {
        if (strcmp(entry->d_name, WIO_RINGS_OF) != 0) {
            (void)unlinkat(dir->fd, entry->d_name, 0);
        }
    }
}

static bool has_more(int fd, const char *but)
{
    WIO_CLEANUP(wio_dir_cleanup) DIR *list = wio_io_list(fd);
    const struct dirent *entry = NULL;
    if (list == NULL) {
        return true;
    }
    while ((errno = 0, entry = readdir(list)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            strcmp(entry->d_name, but) != 0) {
            return true;
        }
    }
    return errno != 0;
}

bool wio_ring_dir_remove_local(const char *path)
{
    WIO_CLEANUP(wio_fd_cleanup) int fd = open(path, OPEN_DIRECTORY | O_NOFOLLOW);
    if (fd >= 0 && !has_more(fd, WIO_RINGS_OF)) {
        (void)unlinkat(fd, WIO_RINGS_OF, 0);
    }
    return rmdir(path) == 0 || errno == ENOENT;
}

/* The directory that the link raw/<name> leads to, if it is still the one that is open. */
static void remove_target(const struct wio_raw *raw, const struct wio_ring_dir *dir)
{
    char target[PATH_MAX];
    struct stat open;
    struct stat named;
    ssize_t size = readlinkat(raw->fd, dir->name, target, sizeof(target) - 1);
    if (size <= 0) {
        return;
    }
    target[size] = '\0';
    if (fstat(dir->fd, &open) == 0 && lstat(target, &named) == 0 && open.st_ino == named.st_ino &&
        open.st_dev == named.st_dev && wio_ring_dir_remove_local(target)) {
        (void)unlinkat(raw->fd, dir->name, 0);
    }
}

void wio_ring_dir_remove(const struct wio_raw *raw, const struct wio_ring_dir *dir)
{
    if (dir->is_link) {
        remove_target(raw, dir);
    } else if (dir->name[0] != '\0') {
        (void)unlinkat(raw->fd, dir->name, AT_REMOVEDIR);
    }
}
