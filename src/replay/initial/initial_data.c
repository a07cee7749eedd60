/* SPDX-License-Identifier: Apache-2.0 */
/* What operations tell of the size of a file and of the bytes that it held before the run. */
#include "replay/initial/initial_names.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "ops/calls.h"
#include "replay/initial/kind.h"
#include "trace/format/file_type.h"

#define MODE_BITS 07777u

/* Proof that bytes were there before the run. */
static void had_bytes(struct rp_file *file, uint64_t end)
{
    if (file->is_truncated || end <= file->wrote_end) {
        return;
    }
    if (file->origin == RP_ORIGIN_MAYBE) {
        file->origin = RP_ORIGIN_INITIAL;
    }
    if (end > file->size_min) {
        file->size_min = end;
    }
}

/* The file was `size` bytes long at this moment. */
static void had_size(struct rp_file *file, uint64_t size)
{
    if (file->is_truncated || file->has_size || (file->wrote_end > 0 && size <= file->wrote_end)) {
        return;
    }
    had_bytes(file, size);
    file->size = size;
    file->has_size = true;
}

static void wrote(struct rp_file *file, int64_t offset, uint64_t bytes)
{
    if (bytes > (uint64_t)INT64_MAX - file->wrote_end ||
        (offset > 0 && bytes > (uint64_t)(INT64_MAX - offset))) {
        return; /* no file is so large */
    }
    uint64_t end = offset < 0 ? file->wrote_end + bytes : (uint64_t)offset + bytes;
    file->wrote += bytes;
    if (end > file->wrote_end) {
        file->wrote_end = end;
    }
}

static enum wio_status was_read(struct rp_file *file, const struct wio_event *event, int64_t offset)
{
    if (offset < 0 || offset > INT64_MAX - event->result) {
        return WIO_OK;
    }
    uint64_t end = (uint64_t)offset + (uint64_t)event->result;
    if (event->result > 0) {
        had_bytes(file, end);
    }
    if ((event->flags & WIO_EVENT_ASYNC) == 0) {
        rp_warm_see(&file->warm, (uint64_t)offset, (uint64_t)event->result, event->dur_ns,
                    file->wrote_end);
    }
    bool is_end = event->size != WIO_NO_SIZE && (uint64_t)event->result < event->size;
    if (is_end && (event->result > 0 || (uint64_t)offset == file->size_min)) {
        had_size(file, end);
    } else if (is_end && file->wrote_end == 0 && file->size_min == 0 && offset == 0) {
        had_size(file, 0);
    }
    return rp_extents_add(&file->reads, (uint64_t)offset, end);
}

enum wio_status rp_see_stat(struct rp_observer *observer, const struct wio_event *event,
                            uint32_t node)
{
    struct rp_space *space = &observer->space;
    enum wio_file_type type = wio_file_type_of_mode((uint32_t)event->arg[1]);
    rp_space_found(space, node);
    struct rp_file *file = rp_space_file(space, node);
    bool is_nameless = event->op == WIO_OP_fstat && file->type == WIO_FILE_DIRECTORY &&
                       type != WIO_FILE_DIRECTORY; /* O_TMPFILE: the path is its directory's */
    if (file->origin == RP_ORIGIN_MADE || type == WIO_FILE_UNKNOWN || is_nameless) {
        return WIO_OK;
    }
    uint8_t kind = rp_kind_of_type(type);
    if (kind != RP_KIND_FILE) {
        WIO_TRY(rp_kinds_found(&observer->kinds, event->path, kind, event->t_ns,
                               event->op != WIO_OP_fstat));
    }
    if (file->origin != RP_ORIGIN_MAYBE) {
        file->type = (uint8_t)type;
        if (!file->has_mode && !file->is_altered) {
            file->mode = (uint32_t)event->arg[1] & MODE_BITS;
            file->has_mode = true;
        }
    }
    if (type == WIO_FILE_REGULAR && event->arg[2] > 0) {
        had_size(file, (uint64_t)event->arg[2]);
    } else if (type == WIO_FILE_REGULAR && file->wrote_end == 0) {
        file->has_size = file->has_size || !file->is_truncated;
    }
    return WIO_OK;
}

enum wio_status rp_see_size(struct rp_observer *observer, const struct wio_event *event,
                            uint32_t node)
{
    rp_space_found(&observer->space, node);
    struct rp_file *file = rp_space_file(&observer->space, node);
    if (event->op == WIO_OP_truncate || event->op == WIO_OP_ftruncate) {
        file->is_truncated = true;
        return WIO_OK;
    }
    bool is_release = event->op == WIO_OP_fallocate &&
                      (event->arg[0] & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_COLLAPSE_RANGE)) != 0;
    if (!is_release && event->size != WIO_NO_SIZE && event->offset >= 0) {
        wrote(file, event->offset, event->size);
    }
    return WIO_OK;
}

/* By the file's own position, which a copy does not tell: as one that reads from its begin to its
 * end. */
static int64_t place_of_copy(struct rp_file *file, const struct wio_event *event)
{
    if (event->offset2 != WIO_NO_OFFSET || event->result > INT64_MAX - (int64_t)file->copied) {
        return event->offset2;
    }
    int64_t at = (int64_t)file->copied;
    file->copied = event->result == 0 ? 0 : file->copied + (uint64_t)event->result;
    return at;
}

enum wio_status rp_see_copy(struct rp_observer *observer, const struct wio_event *event,
                            uint32_t node)
{
    uint32_t source;
    if (node != RP_NONE && event->result > 0) {
        wrote(rp_space_file(&observer->space, node), event->offset, (uint64_t)event->result);
    }
    WIO_TRY(rp_observer_node(observer, event->path2, true, &source));
    if (source == RP_NONE || event->result < 0) {
        return WIO_OK;
    }
    rp_space_found(&observer->space, source);
    struct rp_file *file = rp_space_file(&observer->space, source);
    int64_t at = place_of_copy(file, event);
    struct wio_event all = *event;
    if (node == RP_NONE && event->result > 0) {
        all.size = (uint64_t)event->result; /* a socket or pipe took no more */
    }
    return was_read(file, &all, at);
}

enum wio_status rp_see_seek(struct rp_observer *observer, const struct wio_event *event,
                            uint32_t node)
{
    struct rp_file *file = rp_space_file(&observer->space, node);
    if (event->arg[0] == SEEK_END && event->result >= event->offset &&
        file->type != WIO_FILE_DIRECTORY) {
        had_size(file, (uint64_t)(event->result - event->offset));
    }
    return WIO_OK;
}

enum wio_status rp_see_map(struct rp_observer *observer, const struct wio_event *event,
                           uint32_t node)
{
    if (event->op != WIO_OP_mmap || event->offset < 0 || event->size == WIO_NO_SIZE ||
        event->size > (uint64_t)INT64_MAX - (uint64_t)event->offset) {
        return WIO_OK;
    }
    rp_space_found(&observer->space, node);
    return rp_extents_add(&rp_space_file(&observer->space, node)->reads, (uint64_t)event->offset,
                          (uint64_t)event->offset + event->size);
}

enum wio_status rp_see_data(struct rp_observer *observer, const struct wio_event *event,
                            uint32_t node, bool is_read)
{
    struct rp_file *file = rp_space_file(&observer->space, node);
    rp_space_found(&observer->space, node); /* a descriptor from before the trace */
    if (event->result == WIO_RESULT_PENDING || event->result < 0) {
        return WIO_OK;
    }
    if (is_read) {
        return was_read(file, event, event->offset);
    }
    if (file->wrote_end == 0 && event->offset > 0 && (event->flags & WIO_EVENT_ASYNC) == 0 &&
        (event->op == WIO_OP_write || event->op == WIO_OP_writev) && event->fd <= 2) {
        had_size(file, (uint64_t)event->offset); /* standard output appended to what was there */
    }
    if (event->result > 0) {
        wrote(file, event->offset, (uint64_t)event->result);
    }
    return WIO_OK;
}
