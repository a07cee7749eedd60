/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The descriptor table of each image: which descriptors share an open file. A file that was open
 * before the recording enters the table at its first use.
 */
#include "causal/files/files.h"
#include "causal/infer/name.h"

enum wio_status wio_infer_files_init(struct wio_infer *infer)
{
    infer->files.free = WIO_INFER_NONE;
    return WIO_OK;
}

void wio_infer_files_fini(struct wio_infer *infer)
{
    infer->alloc.put(infer->alloc.context, infer->files.items);
}

enum wio_status wio_infer_make_file(struct wio_infer *infer, const struct wio_event *event,
                                    uint32_t object, bool can_write, uint32_t *file_out)
{
    uint64_t id;
    WIO_TRY(wio_infer_named(infer, event, event->path, &id));
    uint32_t file = infer->files.free;
    if (file != WIO_INFER_NONE) {
        infer->files.free = infer->files.items[file].next_free;
    } else {
        WIO_TRY(wio_alloc_room(&infer->alloc, (void **)&infer->files.items, &infer->files.room,
                               (size_t)infer->files.count + 1, sizeof(*infer->files.items)));
        file = infer->files.count++;
    }
    infer->files.items[file] = (struct wio_infer_file){
        .id = id, .path = event->path, .object = object, .can_write = can_write};
    *file_out = file;
    return WIO_OK;
}

uint32_t *wio_infer_fd_slot(struct wio_infer *infer, uint32_t image, int64_t fd)
{
    struct wio_infer_image *table = &infer->processes.images[image];
    return fd < 0 || (uint64_t)fd >= table->fd_room ? NULL : &table->fds[fd];
}

enum wio_status wio_infer_put_fd(struct wio_infer *infer, uint32_t image, int64_t fd, uint32_t file,
                                 bool cloexec)
{
    struct wio_infer_image *table = &infer->processes.images[image];
    WIO_TRY(wio_alloc_room(&infer->alloc, (void **)&table->fds, &table->fd_room, (size_t)fd + 1,
                           sizeof(*table->fds)));
    table->fds[fd] = (file + 1) | (cloexec ? WIO_INFER_CLOEXEC : 0);
    infer->files.items[file].refs++;
    return WIO_OK;
}

enum wio_status wio_infer_file(struct wio_infer *infer, const struct wio_event *event, int32_t fd,
                               uint32_t *file_out)
{
    uint32_t *slot = wio_infer_fd_slot(infer, wio_infer_stream(infer, event)->process, fd);
    *file_out = WIO_INFER_NONE;
    if (slot != NULL && *slot != 0) {
        *file_out = (*slot & ~WIO_INFER_CLOEXEC) - 1;
        return WIO_OK;
    }
    if (fd < 0 || (uint32_t)fd >= WIO_INFER_DESCRIPTORS_MAX) {
        return WIO_OK;
    }
    uint32_t object;
    WIO_TRY(wio_infer_channel(infer, event, event->path, &object));
    WIO_TRY(wio_infer_make_file(infer, event, object, false, file_out));
    return wio_infer_put_fd(infer, wio_infer_stream(infer, event)->process, fd, *file_out, false);
}

enum wio_status wio_infer_inherit(struct wio_infer *infer, uint32_t parent, uint32_t child,
                                  bool is_exec)
{
    const struct wio_infer_image *from = &infer->processes.images[parent];
    struct wio_infer_image *to = &infer->processes.images[child];
    if (from->fd_room == 0 || to->fd_room > 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_alloc_room(&infer->alloc, (void **)&to->fds, &to->fd_room, from->fd_room,
                           sizeof(*to->fds)));
    for (size_t fd = 0; fd < from->fd_room; fd++) {
        uint32_t slot = from->fds[fd];
        if (slot == 0 || (is_exec && (slot & WIO_INFER_CLOEXEC) != 0)) {
            continue;
        }
        to->fds[fd] = slot;
        infer->files.items[(slot & ~WIO_INFER_CLOEXEC) - 1].refs++;
    }
    return WIO_OK;
}

bool wio_infer_closes_on_exec(const struct wio_infer *infer, uint32_t image, int64_t fd)
{
    const struct wio_infer_image *table = &infer->processes.images[image];
    return fd >= 0 && (uint64_t)fd < table->fd_room && (table->fds[fd] & WIO_INFER_CLOEXEC) != 0;
}
