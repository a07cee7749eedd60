/* SPDX-License-Identifier: Apache-2.0 */
/* R-RING-6: which rings of a directory are in a segment already. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/text.h"
#include "seal/seal_internal.h"
#include "trace/format/trust.h"

enum {
    MARKS_BYTES = 1 << 26, /* of all: names of about a million rings */
    LINE_BYTES = 4096,     /* more than the name of a segment has */
    MARK_MODE = 0600,
    MARKS_MAX = 1000,
    NAME_BYTES = sizeof(WIO_SEALED_AS) + 16
};

#define YOUNG_NS UINT64_C(5000000000)

/* Several sealings may have left rings that cannot be removed: each has a mark of its own. */
static void mark_name(unsigned number, char name_out[NAME_BYTES])
{
    (void)snprintf(name_out, NAME_BYTES, number == 0 ? WIO_SEALED_AS : WIO_SEALED_AS ".%u", number);
}

/* -1: there is none, or it is a neighbour's, which says nothing: R-RING-10. */
static int open_mark(const struct wio_ring_dir *dir, const char *name)
{
    struct stat st;
    WIO_CLEANUP(wio_fd_cleanup) int fd = wio_io_open_regular(dir->fd, name, O_NOFOLLOW);
    if (fd < 0 || fstat(fd, &st) != 0 || !wio_trust_ring(dir->owner, st.st_uid)) {
        return -1;
    }
    int opened = fd;
    fd = -1;
    return opened;
}

/* Its first line; *rest_out: the others. NULL where the segment that it names never appeared. */
static const char *first_line(const struct wio_seal *seal, char *text, char **rest_out)
{
    const char *line = strtok_r(text, "\n", rest_out);
    return line == NULL || strchr(line, '/') != NULL || !wio_text_ends_with(line, ".seg") ||
                   faccessat(seal->raw.dir, line, F_OK, AT_SYMLINK_NOFOLLOW) != 0
               ? NULL
               : line;
}

/* *left: bytes that may still be read of marks of the directory; no sealing leaves that many. */
static enum wio_status read_mark(const struct wio_seal *seal, const struct wio_ring_dir *dir,
                                 const char *name, size_t *left, struct wio_strtab *done)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob text = {0};
    WIO_CLEANUP(wio_fd_cleanup) int fd = open_mark(dir, name);
    char *rest = NULL;
    enum wio_status status =
        fd < 0 ? WIO_ERR_IO : wio_io_read_fd(fd, dir->path, *left, &text, NULL);
    *left -= text.size < *left ? text.size : *left;
    if (status != WIO_OK || first_line(seal, (char *)text.data, &rest) == NULL) {
        return status == WIO_ERR_NOMEM ? status : WIO_OK;
    }
    for (const char *line = NULL; (line = strtok_r(NULL, "\n", &rest)) != NULL;) {
        uint32_t id = 0;
        WIO_TRY(wio_strtab_add(done, line, strlen(line), &id));
    }
    return WIO_OK;
}

enum wio_status wio_seal_read_marks(const struct wio_seal *seal, const struct wio_ring_dir *dir,
                                    struct wio_strtab *done)
{
    char name[NAME_BYTES];
    size_t left = MARKS_BYTES;
    for (unsigned i = 0; i < MARKS_MAX; i++) {
        mark_name(i, name);
        if (faccessat(dir->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0) {
            break;
        }
        WIO_TRY(read_mark(seal, dir, name, &left, done));
    }
    return WIO_OK;
}

/* Does the mark name a segment that is there? One of a sealing that died before is worth nothing.
 */
static bool is_valid(const struct wio_seal *seal, const struct wio_ring_dir *dir, const char *name)
{
    char line[LINE_BYTES];
    WIO_CLEANUP(wio_fd_cleanup) int fd = open_mark(dir, name);
    ssize_t bytes = fd >= 0 ? pread(fd, line, sizeof(line) - 1, 0) : -1;
    char *rest = NULL;
    line[bytes > 0 ? bytes : 0] = '\0';
    return bytes > 0 && first_line(seal, line, &rest) != NULL;
}

/* A fresh file for a mark, -1 where there cannot be one. */
static int make_mark(const struct wio_seal *seal, const struct wio_ring_dir *dir)
{
    char name[NAME_BYTES];
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    for (unsigned i = 0; i < MARKS_MAX; i++) {
        mark_name(i, name);
        int fd = openat(dir->fd, name, flags, MARK_MODE);
        if (fd < 0 && errno == EEXIST && !is_valid(seal, dir, name)) {
            (void)unlinkat(dir->fd, name, 0);
            fd = openat(dir->fd, name, flags, MARK_MODE);
        }
        if (fd >= 0 || errno != EEXIST) {
            return fd;
        }
    }
    return -1;
}

/* Where the power fails, may the rings be on the disk and the mark not? Their pages are written to
 * the disk when they are 30 s old: rings that began a moment ago are lost then in any case. */
static bool may_outlive_mark(const struct wio_seal *seal, uint32_t dir)
{
    const uint64_t now_ns = wio_clock_mono_ns();
    for (uint32_t i = 0; i < seal->ring_count; i++) {
        const struct wio_seal_ring *ring = &seal->rings[i];
        const struct wio_ring_header *header = &ring->header;
        bool is_young = strcmp(header->boot_id, seal->boot_id) == 0 && seal->boot_id[0] != '\0' &&
                        header->start_mono_ns <= now_ns &&
                        now_ns - header->start_mono_ns < YOUNG_NS;
        if (!ring->is_skipped && ring->dir == dir && !is_young) {
            return true;
        }
    }
    return false;
}

static enum wio_status write_mark(const struct wio_seal *seal, uint32_t dir, const char *segment)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob text = {0};
    WIO_TRY(wio_blob_put(&text, segment, strlen(segment)));
    WIO_TRY(wio_blob_put(&text, ".seg\n", strlen(".seg\n")));
    for (uint32_t i = 0; i < seal->ring_count; i++) {
        const struct wio_seal_ring *ring = &seal->rings[i];
        if (!ring->is_skipped && ring->dir == dir) {
            WIO_TRY(wio_blob_put(&text, ring->name, strlen(ring->name)));
            WIO_TRY(wio_blob_u8(&text, '\n'));
        }
    }
    WIO_CLEANUP(wio_fd_cleanup) int fd = make_mark(seal, &seal->dirs[dir]);
    if (fd < 0) {
        return WIO_ERR_IO;
    }
    WIO_TRY(wio_io_write(fd, seal->dirs[dir].path, text.data, text.size, NULL));
    return !may_outlive_mark(seal, dir) || fsync(fd) == 0 ? WIO_OK : WIO_ERR_IO;
}

void wio_seal_mark(struct wio_seal *seal, const char *name)
{
    for (uint32_t i = 0; i < seal->dir_count; i++) {
        bool has_rings = false;
        for (uint32_t k = 0; k < seal->ring_count && !has_rings; k++) {
            has_rings = seal->rings[k].dir == i && !seal->rings[k].is_skipped;
        }
        seal->dirs[i].is_marked = has_rings && write_mark(seal, i, name) == WIO_OK;
    }
}

/* Is there nothing but marks, and what says where the directory belongs? */
static bool has_rings_left(const struct wio_ring_dir *dir)
{
    WIO_CLEANUP(wio_dir_cleanup) DIR *list = wio_io_list(dir->fd);
    const struct dirent *entry = NULL;
    if (list == NULL) {
        return true;
    }
    while ((errno = 0, entry = readdir(list)) != NULL) {
        if (wio_text_ends_with(entry->d_name, ".ring") ||
            wio_text_ends_with(entry->d_name, WIO_SEALED_ENDING)) {
            return true;
        }
    }
    return errno != 0;
}

bool wio_seal_unmark(const struct wio_ring_dir *dir)
{
    char name[NAME_BYTES];
    if (has_rings_left(dir)) {
        return false;
    }
    for (unsigned i = 0; i < MARKS_MAX; i++) {
        mark_name(i, name);
        if (unlinkat(dir->fd, name, 0) != 0) {
            break;
        }
    }
    wio_seal_remove_bounds(dir);
    return true;
}
