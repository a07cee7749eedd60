/* SPDX-License-Identifier: Apache-2.0 */
/* File locks: flock(2), which locks whole files until the last descriptor of the open file is
 * closed. Ranges of bytes: range.c. */
#include <fcntl.h>
#include <sys/file.h>

#include "causal/files/files.h"

static enum wio_status unlock(struct wio_infer *infer, struct wio_infer_file *file,
                              const struct wio_event *event)
{
    uint32_t object = file->flock;
    file->flock = 0;
    return wio_match_release(infer->match, object, WIO_EVIDENCE_LOCK, wio_infer_point(infer, event),
                             file->is_shared_lock);
}

static enum wio_status flock_begin(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t file;
    WIO_TRY(wio_infer_file(infer, event, event->fd, &file));
    if (file == WIO_INFER_NONE || infer->files.items[file].flock == 0 || event->error != 0) {
        return WIO_OK;
    }
    return unlock(infer, &infer->files.items[file], event); /* LOCK_UN, or another lock instead */
}

static enum wio_status flock_end(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    uint32_t file;
    bool is_shared = (event->arg[0] & LOCK_SH) != 0;
    if (event->error != 0 || (event->arg[0] & LOCK_UN) != 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_infer_lock_object(infer, event, WIO_INFER_FLOCK, &object));
    WIO_TRY(wio_infer_file(infer, event, event->fd, &file));
    if (file != WIO_INFER_NONE) {
        infer->files.items[file].flock = object;
        infer->files.items[file].is_shared_lock = is_shared;
    }
    return wio_match_acquire(infer->match, object, WIO_EVIDENCE_LOCK, wio_infer_point(infer, event),
                             is_shared);
}

/* Locks of side files order MPI-IO's own work, which is not the program's: FORMAT.md R-MPI-10. */
static bool is_internal(const struct wio_event *event)
{
    return (event->flags & WIO_EVENT_MPI) != 0;
}

enum wio_status wio_infer_lock_begin(struct wio_infer *infer, const struct wio_event *event)
{
    if (is_internal(event)) {
        return WIO_OK;
    }
    return event->op == WIO_OP_flock ? flock_begin(infer, event)
                                     : wio_infer_range_begin(infer, event);
}

enum wio_status wio_infer_lock_end(struct wio_infer *infer, const struct wio_event *event)
{
    if (event->op == WIO_OP_flock) {
        return is_internal(event) ? WIO_OK : flock_end(infer, event);
    }
    if (event->op == WIO_OP_fcntl && event->arg[0] == F_SETPIPE_SZ && event->result > 0) {
        uint32_t pipe;
        WIO_TRY(wio_infer_channel_behind(infer, event, event->fd, event->path, &pipe));
        if (wio_infer_is(infer, pipe, WIO_INFER_PIPE)) {
            wio_infer_pipe(infer, pipe)->capacity = (uint64_t)event->result;
        }
        return WIO_OK;
    }
    return is_internal(event) ? WIO_OK : wio_infer_range_end(infer, event);
}

enum wio_status wio_infer_unlock_file(struct wio_infer *infer, uint32_t file,
                                      const struct wio_event *event)
{
    if (infer->files.items[file].flock != 0) {
        WIO_TRY(unlock(infer, &infer->files.items[file], event));
    }
    return wio_infer_unlock_file_ranges(infer, file, event);
}
