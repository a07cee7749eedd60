/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What operations do to descriptors: open, duplicate and close them. A reader of 0 bytes waits for
 * the last close, and a flock lasts until it.
 */
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/socket.h>

#include "causal/files/files.h"
#include "causal/infer/name.h"

static enum wio_status drop(struct wio_infer *infer, uint32_t file, const struct wio_event *event)
{
    struct wio_infer_file *f = &infer->files.items[file];
    if (f->can_write && f->object != 0) {
        WIO_TRY(wio_infer_note_closing(infer, f->object, event));
    }
    if (--f->refs > 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_infer_unlock_file(infer, file, event));
    if (f->is_opening) {
        wio_infer_fifo_close(infer, file, event);
    }
    f->next_free = infer->files.free;
    infer->files.free = file;
    return WIO_OK;
}

static enum wio_status close_fd(struct wio_infer *infer, uint32_t image, int64_t fd,
                                const struct wio_event *event)
{
    uint32_t *slot = wio_infer_fd_slot(infer, image, fd);
    if (slot == NULL || *slot == 0) {
        return WIO_OK;
    }
    uint32_t file = (*slot & ~WIO_INFER_CLOEXEC) - 1;
    *slot = 0;
    return drop(infer, file, event);
}

/* The event closes the descriptor for sure: the image's locks of ranges of that file go. */
static enum wio_status close_file(struct wio_infer *infer, uint32_t image, int64_t fd,
                                  const struct wio_event *event)
{
    const uint32_t *slot = wio_infer_fd_slot(infer, image, fd);
    if (slot == NULL || *slot == 0) {
        return WIO_OK;
    }
    uint64_t id = infer->files.items[(*slot & ~WIO_INFER_CLOEXEC) - 1].id;
    WIO_TRY(wio_infer_unlock_ranges(infer, event, id));
    return close_fd(infer, image, fd, event);
}

static enum wio_status set_fd(struct wio_infer *infer, const struct wio_event *event, int64_t fd,
                              uint32_t file, bool cloexec)
{
    uint32_t image = wio_infer_stream(infer, event)->process;
    if (fd < 0 || fd >= WIO_INFER_DESCRIPTORS_MAX) {
        return WIO_OK;
    }
    WIO_TRY(close_fd(infer, image, fd, event)); /* its close was not seen */
    return wio_infer_put_fd(infer, image, fd, file, cloexec);
}

static enum wio_status open_fd(struct wio_infer *infer, const struct wio_event *event, int64_t fd,
                               uint32_t object, bool can_write, bool cloexec)
{
    uint32_t file;
    if (fd < 0 || fd >= WIO_INFER_DESCRIPTORS_MAX) {
        return WIO_OK;
    }
    WIO_TRY(wio_infer_make_file(infer, event, object, can_write, &file));
    return set_fd(infer, event, fd, file, cloexec);
}

enum wio_status wio_infer_close_all(struct wio_infer *infer, uint32_t image,
                                    const struct wio_event *event)
{
    struct wio_infer_image *table = &infer->processes.images[image];
    WIO_TRY(wio_infer_unlock_ranges(infer, event, WIO_INFER_ALL_FILES));
    for (size_t fd = 0; fd < table->fd_room; fd++) {
        WIO_TRY(close_fd(infer, image, (int64_t)fd, event));
    }
    infer->alloc.put(infer->alloc.context, table->fds);
    table->fds = NULL;
    table->fd_room = 0;
    return WIO_OK;
}

static enum wio_status close_range(struct wio_infer *infer, uint32_t image, uint64_t first,
                                   uint64_t last, const struct wio_event *event)
{
    size_t room = infer->processes.images[image].fd_room;
    for (uint64_t fd = first; fd <= last && fd < room; fd++) {
        WIO_TRY(close_file(infer, image, (int64_t)fd, event));
    }
    return WIO_OK;
}

/* Nothing is closed before exec. */
static void mark_range(struct wio_infer *infer, uint32_t image, uint64_t first, uint64_t last)
{
    struct wio_infer_image *table = &infer->processes.images[image];
    for (uint64_t fd = first; fd <= last && fd < table->fd_room; fd++) {
        table->fds[fd] |= table->fds[fd] != 0 ? WIO_INFER_CLOEXEC : 0;
    }
}

static enum wio_status do_close_range(struct wio_infer *infer, uint32_t image,
                                      const struct wio_event *event)
{
    uint64_t first = (uint64_t)event->arg[0];
    uint64_t last = (uint64_t)event->arg[1];
    if ((event->arg[2] & CLOSE_RANGE_CLOEXEC) != 0) {
        mark_range(infer, image, first, last);
        return WIO_OK;
    }
    return close_range(infer, image, first, last, event);
}

static enum wio_status do_close(struct wio_infer *infer, const struct wio_event *event)
{
    uint64_t file;
    uint32_t image = wio_infer_stream(infer, event)->process;
    switch (event->op) {
    case WIO_OP_close_range:
        return do_close_range(infer, image, event);
    case WIO_OP_closefrom:
        return close_range(infer, image, (uint64_t)event->arg[0], UINT64_MAX, event);
    default:
        WIO_TRY(wio_infer_opened(infer, event, event->fd, event->path, &file));
        WIO_TRY(wio_infer_unlock_ranges(infer, event, file));
        return close_fd(infer, image, event->fd, event);
    }
}

static enum wio_status duplicate(struct wio_infer *infer, const struct wio_event *event,
                                 bool cloexec)
{
    uint32_t file;
    if (event->result < 0 || event->result == event->fd) {
        return WIO_OK;
    }
    WIO_TRY(wio_infer_file(infer, event, event->fd, &file));
    WIO_TRY(close_file(infer, wio_infer_stream(infer, event)->process, event->result, event));
    return file == WIO_INFER_NONE ? WIO_OK : set_fd(infer, event, event->result, file, cloexec);
}

static enum wio_status control(struct wio_infer *infer, const struct wio_event *event)
{
    if (event->op != WIO_OP_fcntl || event->result < 0) {
        return WIO_OK;
    }
    uint32_t *slot = wio_infer_fd_slot(infer, wio_infer_stream(infer, event)->process, event->fd);
    switch (event->arg[0]) {
    case F_DUPFD:
        return duplicate(infer, event, false);
    case F_DUPFD_CLOEXEC:
        return duplicate(infer, event, true);
    case F_SETFD:
        if (slot != NULL && *slot != 0) {
            *slot &= ~WIO_INFER_CLOEXEC;
            *slot |= (event->arg[1] & FD_CLOEXEC) != 0 ? WIO_INFER_CLOEXEC : 0;
        }
        return WIO_OK;
    default:
        return WIO_OK;
    }
}

/* A new one, or another mask for one that is there. */
static enum wio_status make_signals(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t file;
    if (event->result != event->fd) {
        WIO_TRY(open_fd(infer, event, event->result, 0, false, (event->arg[1] & O_CLOEXEC) != 0));
    }
    WIO_TRY(wio_infer_file(infer, event, (int32_t)event->result, &file));
    if (file != WIO_INFER_NONE) {
        infer->files.items[file].signals = (uint64_t)event->arg[0];
    }
    return WIO_OK;
}

static enum wio_status make_channel(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    uint32_t other;
    WIO_TRY(wio_infer_channel(infer, event, event->path, &object));
    switch (event->op) {
    case WIO_OP_pipe:
        WIO_TRY(
            open_fd(infer, event, event->arg[0], object, false, (event->arg[2] & O_CLOEXEC) != 0));
        return open_fd(infer, event, event->arg[1], object, true, (event->arg[2] & O_CLOEXEC) != 0);
    case WIO_OP_socketpair:
        WIO_TRY(wio_infer_channel(infer, event, event->path2, &other));
        WIO_TRY(open_fd(infer, event, event->arg[0], object, true,
                        (event->arg[2] & SOCK_CLOEXEC) != 0));
        return open_fd(infer, event, event->arg[1], other, true,
                       (event->arg[2] & SOCK_CLOEXEC) != 0);
    case WIO_OP_socket:
        return open_fd(infer, event, event->result, object, true,
                       (event->arg[1] & SOCK_CLOEXEC) != 0);
    case WIO_OP_eventfd:
        return open_fd(infer, event, event->result, object, false,
                       (event->arg[1] & O_CLOEXEC) != 0);
    case WIO_OP_timerfd_create:
        return open_fd(infer, event, event->result, 0, false, (event->arg[1] & O_CLOEXEC) != 0);
    case WIO_OP_pidfd_open:
        return open_fd(infer, event, event->result, 0, false, true);
    case WIO_OP_signalfd:
        return make_signals(infer, event);
    case WIO_OP_accept:
        return open_fd(infer, event, event->fd2, object, true, (event->arg[0] & SOCK_CLOEXEC) != 0);
    default:
        return WIO_OK;
    }
}

/* A FIFO that fopen has opened: the open inside of it, which ends at the same moment, is no other.
 */
static bool is_open_already(struct wio_infer *infer, const struct wio_event *event)
{
    const uint32_t *slot =
        wio_infer_fd_slot(infer, wio_infer_stream(infer, event)->process, event->result);
    if ((event->flags & WIO_EVENT_CAUSED) == 0 || slot == NULL || *slot == 0) {
        return false;
    }
    return infer->files.items[(*slot & ~WIO_INFER_CLOEXEC) - 1].is_opening;
}

/* Its name may stand for another file by now: the call has waited. */
static enum wio_status open_fifo(struct wio_infer *infer, const struct wio_event *event,
                                 uint32_t object, bool can_write)
{
    uint32_t file;
    WIO_TRY(wio_infer_make_file(infer, event, object, can_write, &file));
    infer->files.items[file].id = infer->objects.items[object].object.id;
    return set_fd(infer, event, event->result, file, (event->arg[0] & O_CLOEXEC) != 0);
}

static enum wio_status do_open(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    if (event->op == WIO_OP_fdopen || event->op == WIO_OP_fdopendir) {
        return WIO_OK; /* the same descriptor */
    }
    bool can_write = (event->arg[0] & O_ACCMODE) != O_RDONLY;
    if (is_open_already(infer, event)) {
        return WIO_OK;
    }
    object = wio_infer_fifo_opened(infer, event);
    if (object != 0 && event->result >= 0 && event->result < WIO_INFER_DESCRIPTORS_MAX) {
        return open_fifo(infer, event, object, can_write);
    }
    WIO_TRY(wio_infer_channel(infer, event, event->path, &object));
    return open_fd(infer, event, event->result, object, can_write,
                   (event->arg[0] & O_CLOEXEC) != 0);
}

enum wio_status wio_infer_descriptors(struct wio_infer *infer, const struct wio_event *event)
{
    if (event->error != 0) {
        return WIO_OK;
    }
    switch (wio_infer_class(event)) {
    case WIO_CLASS_CLOSE:
        return do_close(infer, event);
    case WIO_CLASS_DUP:
        return duplicate(infer, event, (event->arg[1] & O_CLOEXEC) != 0);
    case WIO_CLASS_FCNTL:
        return control(infer, event);
    case WIO_CLASS_OPEN:
        return do_open(infer, event);
    case WIO_CLASS_CHANNEL:
        return make_channel(infer, event);
    default:
        return WIO_OK;
    }
}
