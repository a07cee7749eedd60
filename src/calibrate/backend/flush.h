/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file is written back while its owner does something else: by a thread that asks for it, or,
 * where the dirty limits may be lowered, by the kernel's own flusher.
 */
#ifndef WIO_CALIBRATE_BACKEND_FLUSH_H
#define WIO_CALIBRATE_BACKEND_FLUSH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <whyio/status.h>

#include "calibrate/system/dirty_limits.h"

struct wio_flush {
    const struct wio_limits *limits; /* NULL: do not touch them; becomes so where that is refused */
    int fd;
    bool has_thread;
    pthread_t thread;
    atomic_bool is_asking; /* the thread is still at it */
};

/* `path` is for messages. Between begin and end nothing else may be done with `flush`. */
WIO_MUST_CHECK enum wio_status wio_flush_begin(struct wio_flush *flush, int fd, const char *path,
                                               struct wio_error *err);
/* Something is under write-back, as far as the kernel tells. */
bool wio_flush_is_busy(const struct wio_flush *flush);
/* Wait until it is written. */
WIO_MUST_CHECK enum wio_status wio_flush_end(struct wio_flush *flush, const char *path,
                                             struct wio_error *err);
/* The thread, if there is one, ends: for ways out that do not come to the end. */
void wio_flush_stop(struct wio_flush *flush);

#endif
