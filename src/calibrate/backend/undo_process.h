/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that undoes what this one did to the system, as soon as this one is gone: at the end,
 * by a signal, by a crash. There is no other way to undo it, so that the way that must work when
 * all goes wrong is the one that is always used.
 *
 *     WIO_TRY(wio_guard_start(&guard, undo, &what, err));
 *     ... do it ...
 *     return wio_guard_end(&guard, err);
 */
#ifndef WIO_CALIBRATE_BACKEND_UNDO_PROCESS_H
#define WIO_CALIBRATE_BACKEND_UNDO_PROCESS_H

#include <sys/types.h>

#include <whyio/status.h>

/* Undo, as far as there is something to undo. Called in the guard, and once more in the caller
 * where the guard could not. */
typedef enum wio_status wio_guard_fn(void *arg, struct wio_error *err);

struct wio_guard {
    wio_guard_fn *undo;
    void *arg;
    pid_t pid;
    int fd; /* open as long as we live */
};

/* The guard has `arg` as it is now. Call it while the process has one thread. */
WIO_MUST_CHECK enum wio_status wio_guard_start(struct wio_guard *guard, wio_guard_fn *undo,
                                               void *arg, struct wio_error *err);
/* Undo, and wait until that is done. */
WIO_MUST_CHECK enum wio_status wio_guard_end(struct wio_guard *guard, struct wio_error *err);

#endif
