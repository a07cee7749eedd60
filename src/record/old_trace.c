/* SPDX-License-Identifier: Apache-2.0 */
#include "record/old_trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/text.h"
#include "ring/ring.h"
#include "seal/rings/raw.h"
#include "trace/format/format.h"
#include "trace/format/trust.h"

#define MAGIC_BYTES 8

static bool is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool starts_with_magic(int dir_fd, const char *name, const char *magic)
{
    char head[MAGIC_BYTES];
    WIO_CLEANUP(wio_fd_cleanup) int fd = wio_io_open_regular(dir_fd, name, 0);
    return fd >= 0 && wio_io_pread(fd, name, head, sizeof(head), 0, NULL) == WIO_OK &&
           memcmp(head, magic, sizeof(head)) == 0;
}

/* Rings in `name` below dir_fd, and with `depth` > 0 in the directories in it, but behind no link.
 */
static bool has_rings(int dir_fd, const char *name, unsigned depth)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    WIO_CLEANUP(wio_dir_cleanup) DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (stream == NULL) {
        wio_fd_cleanup(&fd);
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

/* The file `own`, or one that was being written. */
static bool is_edges_file(int dir_fd, const char *name, const char *own)
{
    size_t size = strlen(own);
    return strncmp(name, own, size) == 0 &&
           (name[size] == '\0' ? starts_with_magic(dir_fd, name, WIO_EDGES_MAGIC)
                               : name[size] == '.' && wio_text_ends_with(name, ".tmp"));
}

static bool is_edges(int dir_fd, const char *name)
{
    return is_edges_file(dir_fd, name, WIO_EDGES_NAME) ||
           is_edges_file(dir_fd, name, WIO_HELD_NAME);
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

/* The next entry of raw/ that is a directory of rings, or a link that a recorder of this trace made
 * (trace/format/trust.h) to one; false at the end. The caller closes it. */
static bool next_rings(DIR *list, const struct wio_raw *raw, struct wio_ring_dir *out)
{
    const struct dirent *entry;
    while (list != NULL && (entry = readdir(list)) != NULL) {
        if (!is_dot(entry->d_name) && wio_ring_dir_enter(out, raw, entry->d_name, NULL) == WIO_OK) {
            return true;
        }
    }
    return false;
}

static DIR *list_raw(const struct wio_raw *raw)
{
    return raw->fd < 0 ? NULL : wio_io_list(raw->fd);
}

/* raw/<name> may be a link to a local directory that nothing else leads to. */
static void remove_local_rings(const struct wio_raw *raw)
{
    WIO_CLEANUP(wio_dir_cleanup) DIR *list = list_raw(raw);
    struct wio_ring_dir rings;
    while (next_rings(list, raw, &rings)) {
        if (rings.is_link) {
            wio_ring_dir_empty(&rings);
            wio_ring_dir_remove(raw, &rings);
        }
        wio_ring_dir_close(&rings);
    }
}

bool wio_old_trace_is_held(const char *dir)
{
    WIO_CLEANUP(wio_raw_close) struct wio_raw raw = WIO_RAW_INIT;
    if (wio_raw_open(&raw, dir, NULL) != WIO_OK) {
        return false;
    }
    WIO_CLEANUP(wio_dir_cleanup) DIR *list = list_raw(&raw);
    struct wio_ring_dir rings;
    bool is_held = false;
    while (!is_held && next_rings(list, &raw, &rings)) {
        wio_ring_dir_lock(&rings, true);
        is_held = rings.is_held;
        wio_ring_dir_close(&rings);
    }
    return is_held;
}

static bool is_own_file(int dir_fd, const char *name)
{
    return wio_text_ends_with(name, ".seg.tmp") || is_edges(dir_fd, name) ||
           (wio_text_ends_with(name, ".seg") && starts_with_magic(dir_fd, name, WIO_SEGMENT_MAGIC));
}

static enum wio_status remove_files(DIR *stream, const char *dir, struct wio_error *err)
{
    const struct dirent *entry;
    while ((entry = readdir(stream)) != NULL) {
        if (is_own_file(dirfd(stream), entry->d_name) &&
            unlinkat(dirfd(stream), entry->d_name, 0) != 0 && errno != ENOENT) {
            return wio_error_sys(err, dir, "cannot remove the old trace, '%s'", entry->d_name);
        }
    }
    return WIO_OK;
}

enum wio_status wio_old_trace_remove(const char *dir, struct wio_error *err)
{
    struct stat st;
    WIO_CLEANUP(wio_raw_close) struct wio_raw raw = WIO_RAW_INIT;
    WIO_CLEANUP(wio_dir_cleanup) DIR *stream = opendir(dir);
    if (stream == NULL || fstat(dirfd(stream), &st) != 0) {
        return wio_error_sys(err, dir, "cannot look into the directory");
    }
    if (!wio_trust_is_own(&st)) {
        return wio_error_set(
            err, WIO_ERR_USAGE, dir, WIO_ERROR_NO_OFFSET,
            "expected a trace of user %u, found one of user %u: it is not replaced",
            (unsigned)geteuid(), (unsigned)st.st_uid);
    }
    WIO_TRY(remove_files(stream, dir, err));
    if (wio_raw_open(&raw, dir, NULL) == WIO_OK) {
        remove_local_rings(&raw);
    }
    return wio_io_remove_tree_at(dirfd(stream), "raw", err);
}
