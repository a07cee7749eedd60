/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "trace/frame.h"
#include "trace/segment_internal.h"

enum wio_status wio_segment_fail(const struct wio_segment *segment, enum wio_status status,
                                 struct wio_error *err)
{
    return wio_error_set(err, status, segment->label, segment->file.size, "cannot write a segment");
}

static enum wio_status write_header(struct wio_segment *segment,
                                    const struct wio_segment_params *params, struct wio_error *err)
{
    struct wio_frame_header header = {.base_unix_ns = params->base_unix_ns,
                                      .base_mono_ns = params->base_mono_ns};
    if (params->boot_id != NULL) {
        (void)snprintf(header.boot_id, WIO_BOOT_ID_BYTES, "%s", params->boot_id);
    }
    return wio_frame_write_header(&segment->file, &wio_frame_segment, &header, err);
}

static void segment_free(struct wio_segment *segment)
{
    for (uint32_t i = 0; i < segment->stream_count; i++) {
        free(segment->streams[i].buffer);
    }
    free(segment->streams);
    wio_segment_free_tables(segment);
    wio_fd_cleanup(&segment->file.fd);
    wio_pack_fini(&segment->pack);
    free(segment->scratch);
    free(segment->paths);
    free(segment->label);
    free(segment->final);
    free(segment);
}

void wio_segment_abandon(struct wio_segment *segment)
{
    if (segment == NULL) {
        return;
    }
    if (segment->final != NULL && segment->file.fd >= 0) {
        (void)unlink(segment->label);
    }
    segment_free(segment);
}

static void abandon_cleanup(struct wio_segment **segment)
{
    wio_segment_abandon(*segment);
}

static struct wio_segment *segment_new(const char *label)
{
    struct wio_segment *segment = calloc(1, sizeof(*segment));
    if (segment == NULL) {
        return NULL;
    }
    segment->file.fd = -1;
    segment->label = strdup(label);
    segment->scratch = calloc(WIO_EVENTS_PER_BLOCK, sizeof(*segment->scratch));
    segment->paths = calloc(2 * (size_t)WIO_EVENTS_PER_BLOCK, sizeof(*segment->paths));
    if (segment->label == NULL || segment->scratch == NULL || segment->paths == NULL) {
        segment_free(segment);
        return NULL;
    }
    segment->file.name = segment->label;
    return segment;
}

enum wio_status wio_segment_create_fd(int fd, const char *label,
                                      const struct wio_segment_params *params,
                                      struct wio_segment **segment_out, struct wio_error *err)
{
    WIO_CLEANUP(wio_fd_cleanup) int owned = fd;
    WIO_CLEANUP(abandon_cleanup) struct wio_segment *segment = segment_new(label);
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

enum wio_status wio_segment_create(const char *name, const struct wio_segment_params *params,
                                   struct wio_segment **segment_out, struct wio_error *err)
{
    char tmp[4096];
    if (access(name, F_OK) == 0) {
        return cannot_make(name, EEXIST, err);
    }
    if (snprintf(tmp, sizeof(tmp), "%s.tmp", name) >= (int)sizeof(tmp)) {
        return cannot_make(name, ENAMETOOLONG, err);
    }
    char *final = strdup(name);
    int fd = final == NULL ? -1 : open(tmp, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        int sys_errno = errno;
        free(final);
        return cannot_make(tmp, sys_errno, err);
    }
    enum wio_status status = wio_segment_create_fd(fd, tmp, params, segment_out, err);
    if (status != WIO_OK) {
        (void)unlink(tmp);
        free(final);
        return status;
    }
    (*segment_out)->final = final;
    return WIO_OK;
}

/* A rename that does not replace, where the file system can; then the directory's entry must
 * reach the disk as well. */
static enum wio_status publish(struct wio_segment *segment, struct wio_error *err)
{
    if (renameat2(AT_FDCWD, segment->label, AT_FDCWD, segment->final, RENAME_NOREPLACE) != 0) {
        if (errno != EINVAL && errno != ENOSYS) {
            return wio_error_sys(err, segment->final, "cannot name the finished segment");
        }
        if (rename(segment->label, segment->final) != 0) {
            return wio_error_sys(err, segment->final, "cannot name the finished segment");
        }
    }
    char *slash = strrchr(segment->final, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    WIO_CLEANUP(wio_fd_cleanup)
    int dir = open(slash == NULL ? "." : segment->final, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir >= 0) {
        (void)fsync(dir); /* not every file system can; the segment is complete either way */
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
    if (fsync(segment->file.fd) != 0) {
        return wio_error_sys(err, segment->label, "cannot flush the segment");
    }
    return publish(segment, err);
}

enum wio_status wio_segment_finish(struct wio_segment *segment, struct wio_error *err)
{
    enum wio_status status = finish(segment, err);
    if (status != WIO_OK) {
        wio_segment_abandon(segment);
        return status;
    }
    segment_free(segment);
    return WIO_OK;
}
