/* SPDX-License-Identifier: Apache-2.0 */
/* Which rings there are, in which order, and whose process still runs. */
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
#include "base/io.h"
#include "base/text.h"
#include "trace/seal_internal.h"

enum { MARK_BYTES = 1 << 26 }; /* names of about a million rings */

void wio_seal_ring_fini(struct wio_seal_ring *ring)
{
    free(ring->path);
    wio_map_fini(&ring->def_index);
    free(ring->defs);
    wio_blob_fini(&ring->text);
    wio_blob_fini(&ring->exe);
    wio_blob_fini(&ring->argv);
    wio_blob_fini(&ring->cwd);
    *ring = (struct wio_seal_ring){0};
}

/* Field 22 of /proc/PID/stat, behind the name in parentheses, which may hold anything; 0 where
 * there is no such process or it has ended and nobody has waited for it (Z). */
static uint64_t start_of(int32_t pid)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob stat = {0};
    char path[64];
    uint64_t value = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    if (wio_io_read_file(path, 4096, &stat, NULL) != WIO_OK) {
        return 0;
    }
    char *at = strrchr((char *)stat.data, ')');
    if (at != NULL && (strncmp(at, ") Z", 3) == 0 || strncmp(at, ") X", 3) == 0)) {
        return 0;
    }
    for (unsigned field = 2; at != NULL && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    if (at == NULL) {
        return 0;
    }
    char *end = strchr(at + 1, ' ');
    if (end != NULL) {
        *end = '\0';
    }
    return wio_parse_u64(at + 1, &value) == WIO_OK ? value : 0;
}

/* Alive on this host: same boot, same pid, started at the same moment, and not another image. */
static bool is_live(const struct wio_seal *seal, const struct wio_ring_header *header)
{
    if (header->end == WIO_END_EXIT || header->end == WIO_END_EXEC || header->pid_start == 0 ||
        seal->boot_id[0] == '\0' || strcmp(header->boot_id, seal->boot_id) != 0) {
        return false;
    }
    return start_of(header->pid) == header->pid_start;
}

static enum wio_status add_ring(struct wio_seal *seal, const char *path, struct wio_error *err)
{
    struct wio_error fault = WIO_ERROR_INIT;
    struct wio_ring_header header;
    struct stat st;
    WIO_CLEANUP(wio_fd_cleanup) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) {
        return WIO_OK; /* taken away since the directory was read */
    }
    if (fd < 0 || fstat(fd, &st) != 0) {
        return wio_error_sys(err, path, "cannot open the ring");
    }
    enum wio_status status = wio_ring_read_header(fd, path, &header, &fault);
    if (status == WIO_ERR_UNSUPPORTED) {
        return wio_error_set(err, status, path, fault.offset, "%s", fault.message);
    }
    if (status != WIO_OK) {
        /* Never begun, or its head did not reach the disk: nothing in it can be placed. */
        if (status != WIO_END) {
            wio_seal_fault(seal, &fault);
        }
        return WIO_OK;
    }
    void *array = seal->rings;
    char *copy = strdup(path);
    if (copy == NULL || wio_grow(&array, sizeof(*seal->rings), &seal->ring_capacity,
                                 seal->ring_count + 1) != WIO_OK) {
        free(copy);
        return wio_error_set(err, WIO_ERR_NOMEM, path, WIO_ERROR_NO_OFFSET, "no memory");
    }
    seal->rings = array;
    char *slash = strrchr(copy, '/');
    seal->rings[seal->ring_count++] = (struct wio_seal_ring){
        .path = copy,
        .name = slash == NULL ? copy : slash + 1,
        .header = header,
        .file_bytes = (uint64_t)st.st_size,
        .process = UINT32_MAX,
        .parent = UINT32_MAX,
        .is_live = is_live(seal, &header),
        .is_for_strings = wio_text_ends_with(path, ".sealed"),
    };
    return WIO_OK;
}

/* What WIO_SEALED_AS of a directory of rings says: names that the segment in its first line has.
 * Empty where that segment never appeared. */
static enum wio_status read_mark(const char *trace_dir, const char *dir_path,
                                 struct wio_strtab *done)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob text = {0};
    char path[PATH_MAX];
    if (snprintf(path, sizeof(path), "%s/" WIO_SEALED_AS, dir_path) >= (int)sizeof(path) ||
        wio_io_read_file(path, MARK_BYTES, &text, NULL) != WIO_OK) {
        return WIO_OK;
    }
    char *rest = NULL;
    char *line = strtok_r((char *)text.data, "\n", &rest);
    if (line == NULL || strchr(line, '/') != NULL ||
        snprintf(path, sizeof(path), "%s/%s", trace_dir, line) >= (int)sizeof(path) ||
        access(path, F_OK) != 0) {
        return WIO_OK;
    }
    while ((line = strtok_r(NULL, "\n", &rest)) != NULL) {
        uint32_t id = 0;
        WIO_TRY(wio_strtab_add(done, line, strlen(line), &id));
    }
    return WIO_OK;
}

/* Hold the directory of a recorder until the sealing is over. *busy_out: somebody else does. */
static enum wio_status lock_directory(struct wio_seal *seal, const char *path, bool *busy_out)
{
    void *array = seal->locks;
    *busy_out = false;
    WIO_TRY(wio_grow(&array, sizeof(*seal->locks), &seal->lock_capacity, seal->lock_count + 1));
    seal->locks = array;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        *busy_out = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        seal->locks[seal->lock_count++] = fd;
    }
    return WIO_OK;
}

void wio_seal_unlock(struct wio_seal *seal)
{
    for (uint32_t i = 0; i < seal->lock_count; i++) {
        (void)close(seal->locks[i]);
    }
    free(seal->locks);
    seal->locks = NULL;
    seal->lock_count = 0;
    seal->lock_capacity = 0;
}

/* The rings from number `first` on are of one directory. */
static void set_apart(struct wio_seal *seal, uint32_t first, const struct wio_strtab *done,
                      bool is_busy)
{
    for (uint32_t i = first; i < seal->ring_count; i++) {
        struct wio_seal_ring *ring = &seal->rings[i];
        if (wio_strtab_find(done, ring->name, strlen(ring->name)) != 0) {
            ring->is_for_strings = true;
        }
        ring->is_live = ring->is_live || (is_busy && !ring->is_for_strings);
    }
}

static enum wio_status scan(struct wio_seal *seal, const char *trace_dir, const char *dir_path,
                            unsigned depth, struct wio_error *err);

static enum wio_status scan_below(struct wio_seal *seal, const char *trace_dir, const char *path,
                                  struct wio_error *err)
{
    uint32_t first = seal->ring_count;
    bool is_busy = false;
    const struct wio_strtab none = {0};
    if (lock_directory(seal, path, &is_busy) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, path, WIO_ERROR_NO_OFFSET, "no memory");
    }
    seal->is_held = seal->is_held || is_busy;
    WIO_TRY(scan(seal, trace_dir, path, 0, err));
    set_apart(seal, first, &none, is_busy);
    return WIO_OK;
}

/* `depth` 1: also look into the directories below (one for each recorder). */
static enum wio_status scan(struct wio_seal *seal, const char *trace_dir, const char *dir_path,
                            unsigned depth, struct wio_error *err)
{
    WIO_CLEANUP(wio_strtab_fini) struct wio_strtab done = {0};
    uint32_t first = seal->ring_count;
    WIO_CLEANUP(wio_dir_cleanup) DIR *dir = opendir(dir_path);
    if (dir == NULL && (errno == ENOENT || errno == ENOTDIR)) {
        return WIO_OK;
    }
    if (dir == NULL) {
        return wio_error_sys(err, dir_path, "cannot read the directory of rings");
    }
    const struct dirent *entry = NULL;
    while ((errno = 0, entry = readdir(dir)) != NULL) {
        char path[PATH_MAX];
        struct stat st;
        int length = snprintf(path, sizeof(path), "%s/%s", dir_path, entry->d_name);
        if (entry->d_name[0] == '.' || length >= (int)sizeof(path)) {
            continue;
        }
        if (wio_text_ends_with(path, ".ring") || wio_text_ends_with(path, ".sealed")) {
            WIO_TRY(add_ring(seal, path, err));
        } else if (depth > 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
            WIO_TRY(scan_below(seal, trace_dir, path, err));
        }
    }
    if (errno != 0) {
        return wio_error_sys(err, dir_path, "cannot read the directory of rings");
    }
    if (read_mark(trace_dir, dir_path, &done) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, dir_path, WIO_ERROR_NO_OFFSET, "no memory");
    }
    set_apart(seal, first, &done, false);
    return WIO_OK;
}

static int compare_rings(const void *a, const void *b)
{
    const struct wio_seal_ring *left = a;
    const struct wio_seal_ring *right = b;
    bool same_clock = strcmp(left->header.boot_id, right->header.boot_id) == 0;
    uint64_t left_ns = same_clock ? left->header.start_mono_ns : left->header.start_unix_ns;
    uint64_t right_ns = same_clock ? right->header.start_mono_ns : right->header.start_unix_ns;
    if (left_ns != right_ns) {
        return left_ns < right_ns ? -1 : 1;
    }
    return strcmp(left->path, right->path);
}

enum wio_status wio_seal_find(struct wio_seal *seal, const char *dir, const char *ring_dir,
                              struct wio_error *err)
{
    char raw[PATH_MAX];
    (void)snprintf(raw, sizeof(raw), "%s/raw", dir);
    WIO_TRY(scan(seal, dir, ring_dir == NULL ? raw : ring_dir, ring_dir == NULL ? 1 : 0, err));
    if (seal->ring_count > 1) {
        qsort(seal->rings, seal->ring_count, sizeof(*seal->rings), compare_rings);
    }
    if (wio_seal_tie(seal) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, dir, WIO_ERROR_NO_OFFSET, "no memory");
    }
    return WIO_OK;
}
