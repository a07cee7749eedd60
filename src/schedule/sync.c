/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/sync.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

bool wio_is_sync(enum wio_class cls)
{
    return (wio_class_properties(cls) & WIO_DOES_SYNC) != 0;
}

enum wio_lock_step wio_lock_step_of(const struct wio_event *event)
{
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_MUTEX:
    case WIO_CLASS_MPI_LOCK:
        return event->error == 0 || event->error == EOWNERDEAD ? WIO_LOCK_TAKE : WIO_LOCK_NONE;
    case WIO_CLASS_UNLOCK:
    case WIO_CLASS_MPI_UNLOCK:
        return WIO_LOCK_LEAVE;
    case WIO_CLASS_COND_WAIT:
        return wio_waits_by_chance(event) ? WIO_LOCK_LEAVE : WIO_LOCK_LEND;
    default:
        return WIO_LOCK_NONE;
    }
}

int64_t wio_lock_of(const struct wio_event *event)
{
    return event->arg[wio_op_class(event->op) == WIO_CLASS_COND_WAIT ? 1 : 0];
}

bool wio_waits_by_chance(const struct wio_event *event)
{
    return wio_op_class(event->op) == WIO_CLASS_COND_WAIT && event->arg[2] == 1;
}

bool wio_tries_lock(const struct wio_event *event)
{
    switch ((int)event->op) {
    case WIO_OP_flock:
        return (event->arg[0] & LOCK_NB) != 0;
    case WIO_OP_lockf:
        return event->arg[0] == F_TLOCK;
    default:
        return wio_op_class(event->op) == WIO_CLASS_FCNTL &&
               (event->arg[0] == F_SETLK || event->arg[0] == F_OFD_SETLK);
    }
}

bool wio_is_semop(const struct wio_event *event)
{
    return event->op == WIO_OP_semop || event->op == WIO_OP_semop_post ||
           event->op == WIO_OP_semop_zero;
}
