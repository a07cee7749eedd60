/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks whose end is waited for: each has a number, its descriptor lies in one epoll set. What has
 * ended stays in the set until its watch is closed, so that each thread that asks is told,
 * whichever came first.
 *
 * The caller's lock guards all but wio_watches_ended, which any thread may call at any time.
 */
#ifndef WIO_PROBE_WATCHES_H
#define WIO_PROBE_WATCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "probe/task.h"

struct wio_probe_watch {
    int fd; /* -1 = free */
    enum wio_probe_task_kind kind;
    uint32_t tid;
    uint32_t generation; /* of the number: counts its uses */
    uint32_t next_free;
};

struct wio_watches {
    int epoll;
    struct wio_probe_watch *all;
    uint32_t room;
    uint32_t used;
    uint32_t free;
    uint32_t open;
};

WIO_MUST_CHECK enum wio_status wio_watches_init(struct wio_watches *watches, struct wio_error *err);
/* Closes all. */
void wio_watches_fini(struct wio_watches *watches);

/* Take over the descriptor of a task, which is closed on failure. WIO_ERR_BUSY: the system watches
 * no more; WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_watches_add(struct wio_watches *watches,
                                               struct wio_probe_task *task, uint32_t *watch_out);
void wio_watches_close(struct wio_watches *watches, uint32_t watch);
struct wio_probe_watch *wio_watches_get(const struct wio_watches *watches, uint32_t watch);

/* Names of those that have ended, up to `most`; it does not wait. */
size_t wio_watches_ended(const struct wio_watches *watches, uint64_t *names_out, size_t most);
/* The number behind a name; WIO_NO_INDEX where that watch is closed by now. */
uint32_t wio_watches_named(const struct wio_watches *watches, uint64_t name);

#endif
