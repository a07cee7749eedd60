/* SPDX-License-Identifier: Apache-2.0 */
#include "record/old_trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/text.h"
#include "trace/format.h"
#include "trace/ring.h"

#define MAGIC_BYTES 8

static bool is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool starts_with_magic(int dir_fd, const char *name, const char *magic)
{
    char head[MAGIC_BYTES];
    WIO_CLEANUP(wio_fd_cleanup) int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return fd >= 0 && wio_io_pread(fd, name, head, sizeof(head), 0, NULL) == WIO_OK &&
           memcmp(head, magic, sizeof(head)) == 0;
}

/* Rings in `name` below dir_fd, and with `depth` > 0 in the directories in it. */
static bool has_rings(int dir_fd, const char *name, unsigned depth)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    WIO_CLEANUP(wio_dir_cleanup) DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (stream == NULL) {
        return false;
    }
    const struct dirent *entry;
    while ((entry = readdir(stream)) != NULL) {
        if (is_dot(entry->d_name)) {
            continue;
        }
        if (wio_text_ends_with(entry->d_name, ".ring") &&
            starts_with_magic(fd, entry->d_name, WIO_RING_MAGIC)) {
            return true;
        }
        if (depth > 0 && has_rings(fd, entry->d_name, depth - 1)) {
            return true;
        }
    }
    return false;
}

/* Segments carry the launch at the end of their name: record/directory.h. */
static bool has_launch_and(const char *name, const char *launch, const char *suffix)
{
    char end[64];
    snprintf(end, sizeof(end), ".%s%s", launch, suffix);
    return launch[0] != '\0' && wio_text_ends_with(name, end);
}

static bool is_of_launch(const char *name, const char *launch)
{
    return has_launch_and(name, launch, ".seg") || has_launch_and(name, launch, ".begin.seg");
}

/* trace.edges, or one that was being written. */
static bool is_edges(int dir_fd, const char *name)
{
    return (strcmp(name, WIO_EDGES_NAME) == 0 &&
            starts_with_magic(dir_fd, name, WIO_EDGES_MAGIC)) ||
           (strncmp(name, WIO_EDGES_NAME ".", strlen(WIO_EDGES_NAME ".")) == 0 &&
            wio_text_ends_with(name, ".tmp"));
}

static void look_at(int dir_fd, const char *name, const char *launch, struct wio_old_trace *found)
{
    if (is_dot(name) || strcmp(name, "lock") == 0 || wio_text_ends_with(name, ".seg.tmp") ||
        is_edges(dir_fd, name)) {
        return;
    }
    if (wio_text_ends_with(name, ".seg") && starts_with_magic(dir_fd, name, WIO_SEGMENT_MAGIC)) {
        found->has_trace = true;
        found->has_siblings = found->has_siblings || is_of_launch(name, launch);
    } else if (strcmp(name, "raw") == 0) {
        found->has_trace = found->has_trace || has_rings(dir_fd, name, 1);
    } else {
        found->has_other = true;
    }
}

enum wio_status wio_old_trace_scan(const char *dir, const char *launch,
                                   struct wio_old_trace *found_out, struct wio_error *err)
{
    *found_out = (struct wio_old_trace){0};
    WIO_CLEANUP(wio_dir_cleanup) DIR *stream = opendir(dir);
    if (stream == NULL) {
        return wio_error_sys(err, dir, "cannot look into the directory");
    }
    const struct dirent *entry;
    while ((entry = readdir(stream)) != NULL) {
        look_at(dirfd(stream), entry->d_name, launch, found_out);
    }
    return WIO_OK;
}

unsigned wio_old_trace_finished(const char *dir, const char *launch)
{
    unsigned count = 0;
    WIO_CLEANUP(wio_dir_cleanup) DIR *stream = opendir(dir);
    const struct dirent *entry;
    while (stream != NULL && (entry = readdir(stream)) != NULL) {
        count += has_launch_and(entry->d_name, launch, ".seg");
    }
    return count;
}

/* raw/<name> may be a link to a local directory that nobody else knows of. */
static void remove_local_rings(const char *raw)
{
    WIO_CLEANUP(wio_dir_cleanup) DIR *stream = opendir(raw);
    const struct dirent *entry;
    while (stream != NULL && (entry = readdir(stream)) != NULL) {
        char target[PATH_MAX];
        ssize_t size = readlinkat(dirfd(stream), entry->d_name, target, sizeof(target) - 1);
        if (size <= 0) {
            continue;
        }
        target[size] = '\0';
        const char *slash = strrchr(target, '/');
        bool is_rings = slash != NULL && strncmp(slash + 1, WIO_LOCAL_RINGS_PREFIX,
                                                 strlen(WIO_LOCAL_RINGS_PREFIX)) == 0;
        if (is_rings && wio_io_remove_tree(target, NULL) != WIO_OK) {
            continue; /* gone, or on another host */
        }
    }
}

bool wio_old_trace_is_held(const char *dir)
{
    char raw[PATH_MAX];
    (void)snprintf(raw, sizeof(raw), "%s/raw", dir);
    WIO_CLEANUP(wio_dir_cleanup) DIR *stream = opendir(raw);
    const struct dirent *entry;
    while (stream != NULL && (entry = readdir(stream)) != NULL) {
        WIO_CLEANUP(wio_fd_cleanup)
        int fd = is_dot(entry->d_name)
                     ? -1
                     : openat(dirfd(stream), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            return true;
        }
    }
    return false;
}

static bool is_own_file(int dir_fd, const char *name)
{
    return wio_text_ends_with(name, ".seg.tmp") || is_edges(dir_fd, name) ||
           (wio_text_ends_with(name, ".seg") && starts_with_magic(dir_fd, name, WIO_SEGMENT_MAGIC));
}

enum wio_status wio_old_trace_remove(const char *dir, struct wio_error *err)
{
    char raw[PATH_MAX];
    WIO_CLEANUP(wio_dir_cleanup) DIR *stream = opendir(dir);
    if (stream == NULL || snprintf(raw, sizeof(raw), "%s/raw", dir) >= PATH_MAX) {
        return wio_error_sys(err, dir, "cannot look into the directory");
    }
    const struct dirent *entry;
    while ((entry = readdir(stream)) != NULL) {
        if (is_own_file(dirfd(stream), entry->d_name) &&
            unlinkat(dirfd(stream), entry->d_name, 0) != 0 && errno != ENOENT) {
            return wio_error_sys(err, dir, "cannot remove the old trace, '%s'", entry->d_name);
        }
    }
    remove_local_rings(raw);
    if (access(raw, F_OK) == 0) {
        return wio_io_remove_tree(raw, err);
    }
    return WIO_OK;
}
