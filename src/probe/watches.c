/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/watches.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/io.h"
#include "base/memory.h"

#define EVENTS 64

enum wio_status wio_watches_init(struct wio_watches *watches, struct wio_error *err)
{
    *watches = (struct wio_watches){.epoll = epoll_create1(EPOLL_CLOEXEC), .free = WIO_NO_INDEX};
    return watches->epoll >= 0 ? WIO_OK : wio_error_sys(err, NULL, "cannot watch processes");
}

void wio_watches_fini(struct wio_watches *watches)
{
    for (uint32_t i = 0; i < watches->used; i++) {
        wio_fd_cleanup(&watches->all[i].fd);
    }
    wio_fd_cleanup(&watches->epoll);
    free(watches->all);
    watches->all = NULL;
    watches->used = 0;
}

struct wio_probe_watch *wio_watches_get(const struct wio_watches *watches, uint32_t watch)
{
    return &watches->all[watch];
}

static enum wio_status take(struct wio_watches *watches, uint32_t *watch_out)
{
    void *all = watches->all;
    if (watches->free != WIO_NO_INDEX) {
        *watch_out = watches->free;
        watches->free = watches->all[*watch_out].next_free;
        return WIO_OK;
    }
    WIO_TRY(wio_make_room(&all, sizeof(*watches->all), &watches->room, watches->used + 1));
    watches->all = all;
    *watch_out = watches->used++;
    watches->all[*watch_out] = (struct wio_probe_watch){.fd = -1};
    return WIO_OK;
}

static uint64_t name_of(const struct wio_watches *watches, uint32_t watch)
{
    return (uint64_t)watches->all[watch].generation << 32 | watch;
}

enum wio_status wio_watches_add(struct wio_watches *watches, struct wio_probe_task *task,
                                uint32_t *watch_out)
{
    if (take(watches, watch_out) != WIO_OK) {
        wio_task_close(task);
        return WIO_ERR_NOMEM;
    }
    struct wio_probe_watch *watch = &watches->all[*watch_out];
    *watch = (struct wio_probe_watch){
        .fd = task->fd, .kind = task->kind, .tid = task->tid, .generation = watch->generation + 1};
    task->fd = -1;
    watches->open++;
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = name_of(watches, *watch_out)};
    if (watch->kind != WIO_TASK_UNTOLD &&
        epoll_ctl(watches->epoll, EPOLL_CTL_ADD, watch->fd, &event) != 0) {
        const enum wio_status status = errno == ENOMEM ? WIO_ERR_NOMEM : WIO_ERR_BUSY;
        wio_watches_close(watches, *watch_out);
        return status;
    }
    return WIO_OK;
}

void wio_watches_close(struct wio_watches *watches, uint32_t watch)
{
    struct wio_probe_watch *closed = &watches->all[watch];
    if (closed->kind != WIO_TASK_UNTOLD) {
        (void)epoll_ctl(watches->epoll, EPOLL_CTL_DEL, closed->fd, NULL);
    }
    wio_fd_cleanup(&closed->fd);
    closed->next_free = watches->free;
    watches->free = watch;
    watches->open--;
}

size_t wio_watches_ended(const struct wio_watches *watches, uint64_t *names_out, size_t most)
{
    struct epoll_event events[EVENTS];
    const int limit = most < EVENTS ? (int)most : EVENTS;
    const int count = epoll_wait(watches->epoll, events, limit, 0);
    for (int i = 0; i < count; i++) {
        names_out[i] = events[i].data.u64;
    }
    return count > 0 ? (size_t)count : 0;
}

uint32_t wio_watches_named(const struct wio_watches *watches, uint64_t name)
{
    const uint32_t watch = (uint32_t)name;
    const bool is_open =
        watch < watches->used && watches->all[watch].fd >= 0 && name_of(watches, watch) == name;
    return is_open ? watch : WIO_NO_INDEX;
}
