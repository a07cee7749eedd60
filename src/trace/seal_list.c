/* SPDX-License-Identifier: Apache-2.0 */
/* Which rings there are, in which order, whose process still runs; and taking them away. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/text.h"
#include "trace/seal_internal.h"

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

static void dir_cleanup(DIR **dir)
{
    if (*dir != NULL) {
        (void)closedir(*dir);
    }
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name);
    size_t end_length = strlen(end);
    return length > end_length && strcmp(name + length - end_length, end) == 0;
}

/* Field 22 of /proc/PID/stat, behind the name in parentheses, which may hold anything. */
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
    if (copy == NULL || wio_segment_grow(&array, sizeof(*seal->rings), &seal->ring_capacity,
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
        .is_for_strings = ends_with(path, ".sealed"),
    };
    return WIO_OK;
}

/* `depth` 1: also look into the directories below (one for each recorder). */
static enum wio_status scan(struct wio_seal *seal, const char *dir_path, unsigned depth,
                            struct wio_error *err)
{
    WIO_CLEANUP(dir_cleanup) DIR *dir = opendir(dir_path);
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
        if (ends_with(path, ".ring") || ends_with(path, ".sealed")) {
            WIO_TRY(add_ring(seal, path, err));
        } else if (depth > 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
            WIO_TRY(scan(seal, path, depth - 1, err));
        }
    }
    return errno == 0 ? WIO_OK : wio_error_sys(err, dir_path, "cannot read the directory of rings");
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

static uint32_t find_by_name(const struct wio_seal *seal, uint32_t before, const char *name)
{
    size_t length = strlen(name);
    for (uint32_t i = before; i > 0; i--) {
        const char *other = seal->rings[i - 1].name;
        /* NAME.ring or NAME.ring.sealed */
        if (strncmp(other, name, length) == 0 &&
            (other[length] == '\0' || strcmp(other + length, ".sealed") == 0)) {
            return i - 1;
        }
    }
    return UINT32_MAX;
}

static void tie_to_parents(struct wio_seal *seal)
{
    for (uint32_t i = 0; i < seal->ring_count; i++) {
        struct wio_seal_ring *ring = &seal->rings[i];
        if (ring->header.parent_ring[0] == '\0') {
            continue;
        }
        ring->parent = find_by_name(seal, i, ring->header.parent_ring);
        if (ring->parent != UINT32_MAX) {
            seal->rings[ring->parent].has_children = true;
        }
    }
}

enum wio_status wio_seal_find(struct wio_seal *seal, const char *dir, const char *ring_dir,
                              struct wio_error *err)
{
    char raw[PATH_MAX];
    (void)snprintf(raw, sizeof(raw), "%s/raw", dir);
    WIO_TRY(scan(seal, ring_dir == NULL ? raw : ring_dir, ring_dir == NULL ? 1 : 0, err));
    if (seal->ring_count > 1) {
        qsort(seal->rings, seal->ring_count, sizeof(*seal->rings), compare_rings);
    }
    tie_to_parents(seal);
    return WIO_OK;
}

/* R-RING-5: what a ring that stays refers to stays too, under a name that says it is sealed. */
static void mark_needed(const struct wio_seal *seal, bool *needed)
{
    for (uint32_t i = seal->ring_count; i > 0; i--) {
        const struct wio_seal_ring *ring = &seal->rings[i - 1];
        if ((ring->is_skipped || needed[i - 1]) && ring->parent != UINT32_MAX) {
            needed[ring->parent] = true;
        }
    }
}

static void take_away(const struct wio_seal_ring *ring, bool is_needed)
{
    char sealed[PATH_MAX];
    if (!is_needed) {
        (void)unlink(ring->path);
        return;
    }
    if (!ring->is_for_strings &&
        snprintf(sealed, sizeof(sealed), "%s.sealed", ring->path) < (int)sizeof(sealed)) {
        (void)rename(ring->path, sealed);
    }
}

/* Empty directories below raw/, links to directories that are empty now, and raw/ itself. */
static void remove_directories(const char *top)
{
    WIO_CLEANUP(dir_cleanup) DIR *dir = opendir(top);
    const struct dirent *entry = NULL;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        char path[PATH_MAX];
        char target[PATH_MAX];
        if (entry->d_name[0] == '.' ||
            snprintf(path, sizeof(path), "%s/%s", top, entry->d_name) >= (int)sizeof(path)) {
            continue;
        }
        if (rmdir(path) != 0 && realpath(path, target) != NULL && rmdir(target) == 0) {
            (void)unlink(path);
        }
    }
    (void)rmdir(top);
}

void wio_seal_remove(struct wio_seal *seal, const char *dir, const char *ring_dir)
{
    char raw[PATH_MAX];
    bool *needed = calloc((size_t)seal->ring_count + 1, sizeof(*needed));
    if (needed == NULL) {
        return; /* they stay; a later sealing would find them again */
    }
    mark_needed(seal, needed);
    for (uint32_t i = 0; i < seal->ring_count; i++) {
        if (!seal->rings[i].is_skipped) {
            take_away(&seal->rings[i], needed[i]);
        }
    }
    free(needed);
    (void)snprintf(raw, sizeof(raw), "%s/raw", dir);
    remove_directories(ring_dir == NULL ? raw : ring_dir);
}
