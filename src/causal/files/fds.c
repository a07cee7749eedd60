/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The descriptor table of each image: which descriptors share an open file. A file that was open
 * before the recording enters the table at its first use.
 */
#include "causal/files/files.h"
#include "causal/infer/name.h"

enum wio_status wio_feed_make_file(struct wio_feed *feed, const struct wio_event *event,
                                   uint32_t object, bool can_write, uint32_t *file_out)
{
    uint64_t id;
    WIO_TRY(wio_feed_named(feed, event, event->path, &id));
    uint32_t file = feed->file_free;
    if (file != WIO_FEED_NONE) {
        feed->file_free = feed->files[file].next_free;
    } else {
        WIO_TRY(wio_alloc_room(&feed->alloc, (void **)&feed->files, &feed->file_room,
                               (size_t)feed->file_count + 1, sizeof(*feed->files)));
        file = feed->file_count++;
    }
    feed->files[file] = (struct wio_feed_file){
        .id = id, .path = event->path, .object = object, .can_write = can_write};
    *file_out = file;
    return WIO_OK;
}

uint32_t *wio_feed_fd_slot(struct wio_feed *feed, uint32_t image, int64_t fd)
{
    struct wio_feed_image *table = &feed->images[image];
    return fd < 0 || (uint64_t)fd >= table->fd_room ? NULL : &table->fds[fd];
}

enum wio_status wio_feed_put_fd(struct wio_feed *feed, uint32_t image, int64_t fd, uint32_t file,
                                bool cloexec)
{
    struct wio_feed_image *table = &feed->images[image];
    WIO_TRY(wio_alloc_room(&feed->alloc, (void **)&table->fds, &table->fd_room, (size_t)fd + 1,
                           sizeof(*table->fds)));
    table->fds[fd] = (file + 1) | (cloexec ? WIO_FEED_CLOEXEC : 0);
    feed->files[file].refs++;
    return WIO_OK;
}

enum wio_status wio_feed_file(struct wio_feed *feed, const struct wio_event *event, int32_t fd,
                              uint32_t *file_out)
{
    uint32_t *slot = wio_feed_fd_slot(feed, wio_feed_stream(feed, event)->process, fd);
    *file_out = WIO_FEED_NONE;
    if (slot != NULL && *slot != 0) {
        *file_out = (*slot & ~WIO_FEED_CLOEXEC) - 1;
        return WIO_OK;
    }
    if (fd < 0 || (uint32_t)fd >= WIO_FEED_DESCRIPTORS_MAX) {
        return WIO_OK;
    }
    uint32_t object;
    WIO_TRY(wio_feed_channel(feed, event, event->path, &object));
    WIO_TRY(wio_feed_make_file(feed, event, object, false, file_out));
    return wio_feed_put_fd(feed, wio_feed_stream(feed, event)->process, fd, *file_out, false);
}

enum wio_status wio_feed_inherit(struct wio_feed *feed, uint32_t parent, uint32_t child,
                                 bool is_exec)
{
    const struct wio_feed_image *from = &feed->images[parent];
    struct wio_feed_image *to = &feed->images[child];
    if (from->fd_room == 0 || to->fd_room > 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_alloc_room(&feed->alloc, (void **)&to->fds, &to->fd_room, from->fd_room,
                           sizeof(*to->fds)));
    for (size_t fd = 0; fd < from->fd_room; fd++) {
        uint32_t slot = from->fds[fd];
        if (slot == 0 || (is_exec && (slot & WIO_FEED_CLOEXEC) != 0)) {
            continue;
        }
        to->fds[fd] = slot;
        feed->files[(slot & ~WIO_FEED_CLOEXEC) - 1].refs++;
    }
    return WIO_OK;
}

bool wio_feed_closes_on_exec(const struct wio_feed *feed, uint32_t image, int64_t fd)
{
    const struct wio_feed_image *table = &feed->images[image];
    return fd >= 0 && (uint64_t)fd < table->fd_room && (table->fds[fd] & WIO_FEED_CLOEXEC) != 0;
}
