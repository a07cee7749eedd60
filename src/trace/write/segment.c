/* SPDX-License-Identifier: Apache-2.0 */
#include <whyio/segment.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/sized.h"
#include "trace/format/envelope.h"
#include "trace/format/fresh.h"
#include "trace/write/segment_internal.h"

static enum wio_status write_header(struct wio_segment *segment,
                                    const struct wio_segment_params *asked, struct wio_error *err)
{
    struct wio_segment_params params;
    WIO_TRY(wio_take_sized(&params, sizeof(params), asked, "struct wio_segment_params", err));
    struct wio_frame_header header = {.base_unix_ns = params.base_unix_ns,
                                      .base_mono_ns = params.base_mono_ns};
    if (params.boot_id != NULL) {
        (void)snprintf(header.boot_id, WIO_BOOT_ID_BYTES, "%s", params.boot_id);
    }
    return wio_frame_write_header(&segment->file, &wio_frame_segment, &header, err);
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

void wio_segment_abandon(struct wio_segment *segment)
{
    if (segment == NULL) {
        return;
    }
    if (segment->final != NULL && segment->file.fd >= 0) {
        (void)unlinkat(segment->dir, name_of(segment->label), 0);
    }
    wio_segment_free(segment);
}

static void abandon_cleanup(struct wio_segment **segment)
{
    wio_segment_abandon(*segment);
}

enum wio_status wio_segment_create_fd(int fd, const char *label,
                                      const struct wio_segment_params *params,
                                      struct wio_segment **segment_out, struct wio_error *err)
{
    WIO_CLEANUP(wio_fd_cleanup) int owned = fd;
    WIO_CLEANUP(abandon_cleanup) struct wio_segment *segment = wio_segment_new(label);
    if (segment == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, label, WIO_ERROR_NO_OFFSET, "no memory");
    }
    segment->file.fd = owned;
    owned = -1;
    WIO_TRY(write_header(segment, params, err));
    *segment_out = segment;
    segment = NULL;
    return WIO_OK;
}

static enum wio_status cannot_make(const char *name, int sys_errno, struct wio_error *err)
{
    errno = sys_errno;
    return wio_error_sys(err, name, "cannot make a segment");
}

/* Takes over `dir`, also on failure. */
static enum wio_status create_at(int dir, const char *path, const struct wio_segment_params *params,
                                 struct wio_segment **segment_out, struct wio_error *err)
{
    char tmp[4096];
    WIO_CLEANUP(wio_fd_cleanup) int owned = dir;
    if (snprintf(tmp, sizeof(tmp), "%s.tmp", path) >= (int)sizeof(tmp)) {
        return cannot_make(path, ENAMETOOLONG, err);
    }
    if (faccessat(dir, name_of(path), F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        return cannot_make(path, EEXIST, err);
    }
    char *final = strdup(path);
    int fd = final == NULL ? -1 : wio_fresh_create_at(dir, name_of(tmp));
    if (fd < 0) {
        int sys_errno = errno;
        free(final);
        return cannot_make(tmp, sys_errno, err);
    }
    enum wio_status status = wio_segment_create_fd(fd, tmp, params, segment_out, err);
    if (status != WIO_OK) {
        (void)unlinkat(dir, name_of(tmp), 0);
        free(final);
        return status;
    }
    (*segment_out)->dir = owned;
    (*segment_out)->final = final;
    owned = -1;
    return WIO_OK;
}

enum wio_status wio_segment_create(const char *name, const struct wio_segment_params *params,
                                   struct wio_segment **segment_out, struct wio_error *err)
{
    const char *entry = NULL;
    int dir = wio_fresh_open_parent(name, &entry);
    if (dir < 0) {
        return cannot_make(name, errno, err);
    }
    return create_at(dir, name, params, segment_out, err);
}

enum wio_status wio_segment_create_at(int dir, const char *path,
                                      const struct wio_segment_params *params,
                                      struct wio_segment **segment_out, struct wio_error *err)
{
    int copy = fcntl(dir, F_DUPFD_CLOEXEC, 0);
    return copy < 0 ? cannot_make(path, errno, err)
                    : create_at(copy, path, params, segment_out, err);
}

/* A rename that does not replace, where the file system can. */
static enum wio_status publish(struct wio_segment *segment, struct wio_error *err)
{
    int dir = segment->dir;
    const char *from = name_of(segment->label);
    const char *to = name_of(segment->final);
    if (renameat2(dir, from, dir, to, RENAME_NOREPLACE) != 0) {
        if (errno != EINVAL && errno != ENOSYS) {
            return wio_error_sys(err, segment->final, "cannot name the finished segment");
        }
        if (renameat(dir, from, dir, to) != 0) {
            return wio_error_sys(err, segment->final, "cannot name the finished segment");
        }
    }
    return WIO_OK;
}

static enum wio_status publish_durably(struct wio_segment *segment, struct wio_error *err)
{
    if (fsync(segment->file.fd) != 0) {
        return wio_error_sys(err, segment->label, "cannot flush the segment");
    }
    WIO_TRY(publish(segment, err));
    WIO_CLEANUP(wio_fd_cleanup)
    int whole = openat(segment->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (whole >= 0) {
        (void)fsync(whole); /* not every file system can; the segment is complete either way */
    }
    return WIO_OK;
}

static enum wio_status finish(struct wio_segment *segment, struct wio_error *err)
{
    for (uint32_t i = 0; i < segment->stream_count; i++) {
        WIO_TRY(wio_segment_flush(segment, i, err));
    }
    WIO_TRY(wio_segment_write_tables(segment, err));
    WIO_TRY(wio_segment_write_index(segment, err));
    WIO_TRY(wio_frame_write_trailer(&segment->file, segment->index_offset, err));
    if (segment->final == NULL) {
        return WIO_OK;
    }
    return segment->is_passing ? publish(segment, err) : publish_durably(segment, err);
}

void wio_segment_set_passing(struct wio_segment *segment)
{
    segment->is_passing = true;
}

enum wio_status wio_segment_finish(struct wio_segment *segment, struct wio_error *err)
{
    enum wio_status status = finish(segment, err);
    if (status != WIO_OK) {
        wio_segment_abandon(segment);
        return status;
    }
    wio_segment_free(segment);
    return WIO_OK;
}
