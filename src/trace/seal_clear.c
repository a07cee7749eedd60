/* SPDX-License-Identifier: Apache-2.0 */
/* Rings that are sealed: the mark that says so, and taking them away. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/text.h"
#include "trace/seal_internal.h"

/* Length of the directory in a ring's path. */
static size_t directory_length(const struct wio_seal_ring *ring)
{
    return (size_t)(ring->name - ring->path);
}

static bool is_in_same_directory(const struct wio_seal_ring *a, const struct wio_seal_ring *b)
{
    size_t length = directory_length(a);
    return length == directory_length(b) && strncmp(a->path, b->path, length) == 0;
}

/* R-RING-6: the mark of the directory of ring `first`, which is the first of its directory. */
static enum wio_status write_mark(const struct wio_seal *seal, uint32_t first, const char *name)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob text = {0};
    char path[PATH_MAX];
    const struct wio_seal_ring *one = &seal->rings[first];
    (void)snprintf(path, sizeof(path), "%s.seg\n", name);
    WIO_TRY(wio_blob_put(&text, path, strlen(path)));
    for (uint32_t i = first; i < seal->ring_count; i++) {
        const struct wio_seal_ring *ring = &seal->rings[i];
        if (!ring->is_skipped && is_in_same_directory(ring, one)) {
            WIO_TRY(wio_blob_put(&text, ring->name, strlen(ring->name)));
            WIO_TRY(wio_blob_u8(&text, '\n'));
        }
    }
    if (snprintf(path, sizeof(path), "%.*s" WIO_SEALED_AS, (int)directory_length(one), one->path) >=
        (int)sizeof(path)) {
        return WIO_ERR_IO;
    }
    WIO_CLEANUP(wio_fd_cleanup)
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) {
        return WIO_ERR_IO;
    }
    WIO_TRY(wio_io_write(fd, path, text.data, text.size, NULL));
    return fsync(fd) == 0 ? WIO_OK : WIO_ERR_IO;
}

void wio_seal_mark(const struct wio_seal *seal, const char *name)
{
    for (uint32_t i = 0; i < seal->ring_count; i++) {
        bool is_first = true;
        for (uint32_t j = i; j > 0 && is_first; j--) {
            is_first = !is_in_same_directory(&seal->rings[i], &seal->rings[j - 1]);
        }
        if (is_first && write_mark(seal, i, name) != WIO_OK) {
            continue; /* no room: a death in the next moment would show these events twice */
        }
    }
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
    if (!wio_text_ends_with(ring->path, ".sealed") &&
        snprintf(sealed, sizeof(sealed), "%s.sealed", ring->path) < (int)sizeof(sealed)) {
        (void)rename(ring->path, sealed);
    }
}

/* Remove a directory of rings that is empty but for its mark; not one that a recorder holds. */
static bool remove_directory(const char *path)
{
    char mark[PATH_MAX + sizeof(WIO_SEALED_AS) + 1];
    WIO_CLEANUP(wio_fd_cleanup) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)) {
        return false;
    }
    (void)snprintf(mark, sizeof(mark), "%s/" WIO_SEALED_AS, path);
    (void)unlink(mark);
    return rmdir(path) == 0;
}

/* Empty directories below raw/, links to directories that are empty now, and raw/ itself. */
static void remove_directories(const char *top)
{
    WIO_CLEANUP(wio_dir_cleanup) DIR *dir = opendir(top);
    const struct dirent *entry = NULL;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        char path[PATH_MAX];
        char target[PATH_MAX];
        if (entry->d_name[0] == '.' ||
            snprintf(path, sizeof(path), "%s/%s", top, entry->d_name) >= (int)sizeof(path)) {
            continue;
        }
        if (!remove_directory(path) && realpath(path, target) != NULL &&
            strcmp(path, target) != 0 && remove_directory(target)) {
            (void)unlink(path);
        }
    }
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
    if (ring_dir != NULL) {
        char mark[PATH_MAX + sizeof(WIO_SEALED_AS) + 1];
        (void)snprintf(mark, sizeof(mark), "%s/" WIO_SEALED_AS, ring_dir);
        (void)unlink(mark);
        (void)rmdir(ring_dir);
        return;
    }
    wio_seal_unlock(seal);
    (void)snprintf(raw, sizeof(raw), "%s/raw", dir);
    remove_directories(raw);
    (void)snprintf(raw, sizeof(raw), "%s/raw/" WIO_SEALED_AS, dir);
    (void)unlink(raw);
    (void)snprintf(raw, sizeof(raw), "%s/raw", dir);
    (void)rmdir(raw);
}
