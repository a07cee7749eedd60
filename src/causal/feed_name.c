/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/feed_name.h"

#include <fcntl.h>
#include <stdio.h>

uint64_t wio_feed_named(const struct wio_feed *feed, uint32_t path)
{
    return path < feed->params.string_count && feed->names[path] != 0 ? feed->names[path] : path;
}

uint64_t wio_feed_opened(const struct wio_feed *feed, const struct wio_event *event, int32_t fd,
                         uint32_t path)
{
    const struct wio_feed_image *image = &feed->images[wio_feed_stream(feed, event)->process];
    uint32_t slot = fd >= 0 && (uint64_t)fd < image->fd_room ? image->fds[fd] : 0;
    const struct wio_feed_file *file =
        slot != 0 ? &feed->files[(slot & ~WIO_FEED_CLOEXEC) - 1] : NULL;
    /* Another path: the descriptor was closed and opened where nobody saw it. */
    return file != NULL && file->path == path ? file->id : wio_feed_named(feed, path);
}

static void name(struct wio_feed *feed, uint32_t path, uint64_t file)
{
    if (path < feed->params.string_count) {
        feed->names[path] = file;
    }
}

/* A file that nobody has met, or none: what it is called later is its business. */
static void name_anew(struct wio_feed *feed, uint32_t path)
{
    name(feed, path, (uint64_t)++feed->named_anew << 32 | path);
}

/* The other name is that of a FIFO, too. */
static void pass_kind(struct wio_feed *feed, uint32_t from, uint32_t to)
{
    if (to < feed->params.string_count && wio_feed_path_kind(feed, from) == WIO_FEED_PATH_FIFO) {
        feed->paths[to] = WIO_FEED_PATH_FIFO;
    }
}

static void move(struct wio_feed *feed, const struct wio_event *event)
{
    const uint64_t from = wio_feed_named(feed, event->path);
    const uint64_t to = wio_feed_named(feed, event->path2);
    if (from == to) {
        return; /* two names of one file: rename(2) does nothing */
    }
    pass_kind(feed, event->path, event->path2);
    name(feed, event->path2, from);
    if ((event->arg[0] & RENAME_EXCHANGE) != 0) {
        pass_kind(feed, event->path2, event->path);
        name(feed, event->path, to);
    } else {
        name_anew(feed, event->path);
    }
}

static bool makes_file(const struct wio_event *event)
{
    const int64_t flags = O_CREAT | O_EXCL;
    return event->op != WIO_OP_fdopen && (event->arg[0] & flags) == flags;
}

void wio_feed_rename(struct wio_feed *feed, const struct wio_event *event)
{
    switch (wio_feed_class(event)) {
    case WIO_CLASS_OPEN:
        if (makes_file(event)) {
            name_anew(feed, event->path);
        }
        return;
    case WIO_CLASS_MKDIR:
    case WIO_CLASS_MKNOD:
    case WIO_CLASS_SYMLINK:
    case WIO_CLASS_UNLINK:
        name_anew(feed, event->path);
        return;
    case WIO_CLASS_LINK:
        pass_kind(feed, event->path, event->path2);
        name(feed, event->path2, wio_feed_named(feed, event->path));
        return;
    case WIO_CLASS_RENAME:
        move(feed, event);
        return;
    default:
        return;
    }
}
