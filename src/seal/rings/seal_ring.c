/* SPDX-License-Identifier: Apache-2.0 */
/* One file among the rings: what its header tells, and whether its process still runs. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/system/proc_text.h"
#include "base/text.h"
#include "seal/seal_internal.h"
#include "trace/format/trust.h"

void wio_seal_ring_fini(struct wio_seal_ring *ring)
{
    free(ring->path);
    wio_seal_forget_defs(ring);
    free(ring->defs);
    wio_blob_fini(&ring->exe);
    wio_blob_fini(&ring->argv);
    wio_blob_fini(&ring->cwd);
    *ring = (struct wio_seal_ring){0};
}

/* When a process started; 0 where there is no such process or it has ended and was not waited for
 * yet (Z). */
static uint64_t start_of(int32_t pid)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob stat = {0};
    char path[64];
    uint64_t value = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    if (wio_io_read_file(path, 4096, &stat, NULL) != WIO_OK) {
        return 0;
    }
    const char *name_end = strrchr((const char *)stat.data, ')');
    if (name_end != NULL &&
        (strncmp(name_end, ") Z", 3) == 0 || strncmp(name_end, ") X", 3) == 0)) {
        return 0;
    }
    return wio_proc_stat_start((const char *)stat.data, stat.size, &value) ? value : 0;
}

/* All that is known of a ring without a header is its process's pid. */
static bool is_blank_live(const struct wio_seal *seal, const struct wio_ring_header *header)
{
    return header->boot_id[0] != '\0' && strcmp(header->boot_id, seal->boot_id) == 0 &&
           start_of(header->pid) != 0;
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

static enum wio_status no_memory(const char *path, struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, path, WIO_ERROR_NO_OFFSET, "no memory");
}

static enum wio_status refuse(struct wio_seal *seal, const struct wio_seal_ring *ring,
                              struct wio_error *err)
{
    enum wio_status status = wio_seal_refuse(seal, ring->dir, ring->name, ring->owner);
    return status == WIO_OK ? WIO_OK : no_memory(ring->path, err);
}

static void name_owner(const struct wio_seal_ring *ring, struct wio_error *err)
{
    char user[WIO_USER_BYTES];
    wio_seal_user(ring->owner, user);
    wio_error_add(err, "the ring is of %s", user);
}

/* A file without a header that makes sense: of a neighbour, or damaged. */
static enum wio_status leave_out(struct wio_seal *seal, const struct wio_seal_ring *ring,
                                 struct wio_error *fault, struct wio_error *err)
{
    if (fault->status == WIO_ERR_NOMEM) {
        return wio_error_pass(err, fault);
    }
    if (!wio_trust_ring(seal->dirs[ring->dir].owner, ring->owner)) {
        return refuse(seal, ring, err);
    }
    name_owner(ring, fault);
    if (fault->status == WIO_ERR_UNSUPPORTED) {
        return wio_error_pass(err, fault);
    }
    wio_seal_fault(seal, fault); /* nothing in it can be placed */
    return WIO_OK;
}

/* What cannot be opened, by the errno of that: taken away meanwhile, no ring, or out of reach. */
static enum wio_status not_opened(struct wio_seal *seal, struct wio_seal_ring *ring,
                                  struct wio_error *err)
{
    struct wio_error fault = WIO_ERROR_INIT;
    struct stat st;
    int cause = errno;
    if (cause == ENOENT ||
        fstatat(seal->dirs[ring->dir].fd, ring->name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return WIO_OK;
    }
    ring->owner = st.st_uid;
    if (cause == ELOOP || cause == EINVAL || cause == EISDIR) {
        (void)wio_error_set(&fault, WIO_ERR_FORMAT, ring->path, WIO_ERROR_NO_OFFSET,
                            "expected a ring, found %s",
                            cause == ELOOP ? "a symbolic link" : "no regular file");
        return leave_out(seal, ring, &fault, err);
    }
    errno = cause;
    (void)wio_error_sys(&fault, ring->path, "cannot open the ring");
    name_owner(ring, &fault);
    return wio_error_pass(err, &fault);
}

/* Copies path, whose end is the name. */
static enum wio_status keep_ring(struct wio_seal *seal, const struct wio_seal_ring *ring,
                                 struct wio_error *err)
{
    void *array = seal->rings;
    char *copy = strdup(ring->path);
    if (copy == NULL || wio_grow(&array, sizeof(*seal->rings), &seal->ring_capacity,
                                 seal->ring_count + 1) != WIO_OK) {
        free(copy);
        return no_memory(ring->path, err);
    }
    seal->rings = array;
    struct wio_seal_ring *kept = &seal->rings[seal->ring_count++];
    *kept = *ring;
    kept->path = copy;
    kept->name = copy + (ring->name - ring->path);
    return WIO_OK;
}

/* R-RING-9 */
static enum wio_status add_blank(struct wio_seal *seal, struct wio_seal_ring *ring,
                                 const struct stat *st, struct wio_error *err)
{
    ring->is_blank = true;
    if (wio_seal_blank_header(seal, ring->name, st, &ring->header)) {
        ring->is_live = is_blank_live(seal, &ring->header);
        return keep_ring(seal, ring, err);
    }
    return wio_trust_ring(seal->dirs[ring->dir].owner, ring->owner) ? WIO_OK
                                                                    : refuse(seal, ring, err);
}

static enum wio_status add_opened(struct wio_seal *seal, int fd, struct wio_seal_ring *ring,
                                  struct wio_error *err)
{
    struct wio_error fault = WIO_ERROR_INIT;
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return wio_error_sys(err, ring->path, "cannot open the ring");
    }
    ring->owner = st.st_uid;
    ring->file_bytes = (uint64_t)st.st_size;
    enum wio_status status = wio_ring_read_header(fd, ring->path, &ring->header, &fault);
    if (status == WIO_END) {
        return add_blank(seal, ring, &st, err);
    }
    if (status != WIO_OK) {
        return leave_out(seal, ring, &fault, err);
    }
    ring->is_live = is_live(seal, &ring->header);
    return keep_ring(seal, ring, err);
}

enum wio_status wio_seal_add_ring(struct wio_seal *seal, uint32_t dir, const char *name,
                                  struct wio_error *err)
{
    char path[PATH_MAX];
    const struct wio_ring_dir *place = &seal->dirs[dir];
    int length = snprintf(path, sizeof(path), "%s/%s", place->path, name);
    if (length >= (int)sizeof(path)) {
        errno = ENAMETOOLONG;
        return wio_error_sys(err, place->path, "cannot open the ring");
    }
    struct wio_seal_ring ring = {
        .path = path,
        .name = path + length - strlen(name),
        .dir = dir,
        .process = UINT32_MAX,
        .parent = UINT32_MAX,
        .is_for_strings = wio_text_ends_with(name, WIO_SEALED_ENDING),
    };
    WIO_CLEANUP(wio_fd_cleanup) int fd = wio_io_open_regular(place->fd, name, O_NOFOLLOW);
    return fd < 0 ? not_opened(seal, &ring, err) : add_opened(seal, fd, &ring, err);
}
