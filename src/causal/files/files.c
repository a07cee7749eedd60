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

static enum wio_status drop(struct wio_feed *feed, uint32_t file, const struct wio_event *event)
{
    struct wio_feed_file *f = &feed->files[file];
    if (f->can_write && f->object != 0 && !feed->objects[f->object].is_shut) {
        WIO_TRY(wio_feed_note_closing(feed, f->object, event));
    }
    if (--f->refs > 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_feed_unlock_file(feed, file, event));
    if (f->is_opening) {
        wio_feed_fifo_close(feed, file, event);
    }
    f->next_free = feed->file_free;
    feed->file_free = file;
    return WIO_OK;
}

static enum wio_status close_fd(struct wio_feed *feed, uint32_t image, int64_t fd,
                                const struct wio_event *event)
{
    uint32_t *slot = wio_feed_fd_slot(feed, image, fd);
    if (slot == NULL || *slot == 0) {
        return WIO_OK;
    }
    uint32_t file = (*slot & ~WIO_FEED_CLOEXEC) - 1;
    *slot = 0;
    return drop(feed, file, event);
}

/* The event closes the descriptor for sure: the image's locks of ranges of that file go. */
static enum wio_status close_file(struct wio_feed *feed, uint32_t image, int64_t fd,
                                  const struct wio_event *event)
{
    const uint32_t *slot = wio_feed_fd_slot(feed, image, fd);
    if (slot == NULL || *slot == 0) {
        return WIO_OK;
    }
    uint64_t id = feed->files[(*slot & ~WIO_FEED_CLOEXEC) - 1].id;
    WIO_TRY(wio_feed_unlock_ranges(feed, event, id));
    return close_fd(feed, image, fd, event);
}

static enum wio_status set_fd(struct wio_feed *feed, const struct wio_event *event, int64_t fd,
                              uint32_t file, bool cloexec)
{
    uint32_t image = wio_feed_stream(feed, event)->process;
    if (fd < 0 || fd >= WIO_FEED_DESCRIPTORS_MAX) {
        return WIO_OK;
    }
    WIO_TRY(close_fd(feed, image, fd, event)); /* its close was not seen */
    return wio_feed_put_fd(feed, image, fd, file, cloexec);
}

static enum wio_status open_fd(struct wio_feed *feed, const struct wio_event *event, int64_t fd,
                               uint32_t object, bool can_write, bool cloexec)
{
    uint32_t file;
    if (fd < 0 || fd >= WIO_FEED_DESCRIPTORS_MAX) {
        return WIO_OK;
    }
    WIO_TRY(wio_feed_make_file(feed, event, object, can_write, &file));
    return set_fd(feed, event, fd, file, cloexec);
}

enum wio_status wio_feed_close_all(struct wio_feed *feed, uint32_t image,
                                   const struct wio_event *event)
{
    struct wio_feed_image *table = &feed->images[image];
    WIO_TRY(wio_feed_unlock_ranges(feed, event, WIO_FEED_ALL_FILES));
    for (size_t fd = 0; fd < table->fd_room; fd++) {
        WIO_TRY(close_fd(feed, image, (int64_t)fd, event));
    }
    feed->alloc.put(feed->alloc.context, table->fds);
    table->fds = NULL;
    table->fd_room = 0;
    return WIO_OK;
}

static enum wio_status close_range(struct wio_feed *feed, uint32_t image, uint64_t first,
                                   uint64_t last, const struct wio_event *event)
{
    size_t room = feed->images[image].fd_room;
    for (uint64_t fd = first; fd <= last && fd < room; fd++) {
        WIO_TRY(close_file(feed, image, (int64_t)fd, event));
    }
    return WIO_OK;
}

/* Nothing is closed before exec. */
static void mark_range(struct wio_feed *feed, uint32_t image, uint64_t first, uint64_t last)
{
    struct wio_feed_image *table = &feed->images[image];
    for (uint64_t fd = first; fd <= last && fd < table->fd_room; fd++) {
        table->fds[fd] |= table->fds[fd] != 0 ? WIO_FEED_CLOEXEC : 0;
    }
}

static enum wio_status do_close_range(struct wio_feed *feed, uint32_t image,
                                      const struct wio_event *event)
{
    uint64_t first = (uint64_t)event->arg[0];
    uint64_t last = (uint64_t)event->arg[1];
    if ((event->arg[2] & CLOSE_RANGE_CLOEXEC) != 0) {
        mark_range(feed, image, first, last);
        return WIO_OK;
    }
    return close_range(feed, image, first, last, event);
}

static enum wio_status do_close(struct wio_feed *feed, const struct wio_event *event)
{
    uint64_t file;
    uint32_t image = wio_feed_stream(feed, event)->process;
    switch (event->op) {
    case WIO_OP_close_range:
        return do_close_range(feed, image, event);
    case WIO_OP_closefrom:
        return close_range(feed, image, (uint64_t)event->arg[0], UINT64_MAX, event);
    default:
        WIO_TRY(wio_feed_opened(feed, event, event->fd, event->path, &file));
        WIO_TRY(wio_feed_unlock_ranges(feed, event, file));
        return close_fd(feed, image, event->fd, event);
    }
}

static enum wio_status duplicate(struct wio_feed *feed, const struct wio_event *event, bool cloexec)
{
    uint32_t file;
    if (event->result < 0 || event->result == event->fd) {
        return WIO_OK;
    }
    WIO_TRY(wio_feed_file(feed, event, event->fd, &file));
    WIO_TRY(close_file(feed, wio_feed_stream(feed, event)->process, event->result, event));
    return file == WIO_FEED_NONE ? WIO_OK : set_fd(feed, event, event->result, file, cloexec);
}

static enum wio_status control(struct wio_feed *feed, const struct wio_event *event)
{
    if (event->op != WIO_OP_fcntl || event->result < 0) {
        return WIO_OK;
    }
    uint32_t *slot = wio_feed_fd_slot(feed, wio_feed_stream(feed, event)->process, event->fd);
    switch (event->arg[0]) {
    case F_DUPFD:
        return duplicate(feed, event, false);
    case F_DUPFD_CLOEXEC:
        return duplicate(feed, event, true);
    case F_SETFD:
        if (slot != NULL && *slot != 0) {
            *slot &= ~WIO_FEED_CLOEXEC;
            *slot |= (event->arg[1] & FD_CLOEXEC) != 0 ? WIO_FEED_CLOEXEC : 0;
        }
        return WIO_OK;
    default:
        return WIO_OK;
    }
}

/* A new one, or another mask for one that is there. */
static enum wio_status make_signals(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t file;
    if (event->result != event->fd) {
        WIO_TRY(open_fd(feed, event, event->result, 0, false, (event->arg[1] & O_CLOEXEC) != 0));
    }
    WIO_TRY(wio_feed_file(feed, event, (int32_t)event->result, &file));
    if (file != WIO_FEED_NONE) {
        feed->files[file].signals = (uint64_t)event->arg[0];
    }
    return WIO_OK;
}

static enum wio_status make_channel(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t object;
    uint32_t other;
    WIO_TRY(wio_feed_channel(feed, event, event->path, &object));
    switch (event->op) {
    case WIO_OP_pipe:
        WIO_TRY(
            open_fd(feed, event, event->arg[0], object, false, (event->arg[2] & O_CLOEXEC) != 0));
        return open_fd(feed, event, event->arg[1], object, true, (event->arg[2] & O_CLOEXEC) != 0);
    case WIO_OP_socketpair:
        WIO_TRY(wio_feed_channel(feed, event, event->path2, &other));
        WIO_TRY(
            open_fd(feed, event, event->arg[0], object, true, (event->arg[2] & SOCK_CLOEXEC) != 0));
        return open_fd(feed, event, event->arg[1], other, true,
                       (event->arg[2] & SOCK_CLOEXEC) != 0);
    case WIO_OP_socket:
        return open_fd(feed, event, event->result, object, true,
                       (event->arg[1] & SOCK_CLOEXEC) != 0);
    case WIO_OP_eventfd:
        return open_fd(feed, event, event->result, object, false, (event->arg[1] & O_CLOEXEC) != 0);
    case WIO_OP_timerfd_create:
        return open_fd(feed, event, event->result, 0, false, (event->arg[1] & O_CLOEXEC) != 0);
    case WIO_OP_pidfd_open:
        return open_fd(feed, event, event->result, 0, false, true);
    case WIO_OP_signalfd:
        return make_signals(feed, event);
    case WIO_OP_accept:
        return open_fd(feed, event, event->fd2, object, true, (event->arg[0] & SOCK_CLOEXEC) != 0);
    default:
        return WIO_OK;
    }
}

/* A FIFO that fopen has opened: the open inside of it, which ends at the same moment, is no other.
 */
static bool is_open_already(struct wio_feed *feed, const struct wio_event *event)
{
    const uint32_t *slot =
        wio_feed_fd_slot(feed, wio_feed_stream(feed, event)->process, event->result);
    if ((event->flags & WIO_EVENT_CAUSED) == 0 || slot == NULL || *slot == 0) {
        return false;
    }
    return feed->files[(*slot & ~WIO_FEED_CLOEXEC) - 1].is_opening;
}

/* Its name may stand for another file by now: the call has waited. */
static enum wio_status open_fifo(struct wio_feed *feed, const struct wio_event *event,
                                 uint32_t object, bool can_write)
{
    uint32_t file;
    WIO_TRY(wio_feed_make_file(feed, event, object, can_write, &file));
    feed->files[file].id = feed->objects[object].object.id;
    return set_fd(feed, event, event->result, file, (event->arg[0] & O_CLOEXEC) != 0);
}

static enum wio_status do_open(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t object;
    if (event->op == WIO_OP_fdopen || event->op == WIO_OP_fdopendir) {
        return WIO_OK; /* the same descriptor */
    }
    bool can_write = (event->arg[0] & O_ACCMODE) != O_RDONLY;
    if (is_open_already(feed, event)) {
        return WIO_OK;
    }
    object = wio_feed_fifo_opened(feed, event);
    if (object != 0 && event->result >= 0 && event->result < WIO_FEED_DESCRIPTORS_MAX) {
        return open_fifo(feed, event, object, can_write);
    }
    WIO_TRY(wio_feed_channel(feed, event, event->path, &object));
    return open_fd(feed, event, event->result, object, can_write, (event->arg[0] & O_CLOEXEC) != 0);
}

enum wio_status wio_feed_descriptors(struct wio_feed *feed, const struct wio_event *event)
{
    if (event->error != 0) {
        return WIO_OK;
    }
    switch (wio_feed_class(event)) {
    case WIO_CLASS_CLOSE:
        return do_close(feed, event);
    case WIO_CLASS_DUP:
        return duplicate(feed, event, (event->arg[1] & O_CLOEXEC) != 0);
    case WIO_CLASS_FCNTL:
        return control(feed, event);
    case WIO_CLASS_OPEN:
        return do_open(feed, event);
    case WIO_CLASS_CHANNEL:
        return make_channel(feed, event);
    default:
        return WIO_OK;
    }
}
