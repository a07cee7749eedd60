/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_uring_setup, io_uring_enter and io_uring_register, which arrive by two ways: as functions of
 * newer liburings and as numbers of syscall(2).
 */
#include "capture/async/uring_call.h"
#include "capture/files/descriptors.h"

#ifndef IORING_ENTER_REGISTERED_RING
#define IORING_ENTER_REGISTERED_RING (1U << 4)
#endif

static void emit_call(struct cap_thread *self, struct cap_event *ev, long result)
{
    cap_uring_set_result(ev, result);
    cap_emit(self, ev);
}

struct cap_uring_batch cap_uring_before_enter(struct cap_thread *self, const struct cap_event *ev,
                                              unsigned fd, unsigned submit, unsigned flags)
{
    struct cap_uring_batch nothing = {NULL, 0, 0};
    struct cap_uring *ring = (flags & IORING_ENTER_REGISTERED_RING) != 0
                                 ? cap_uring_find_registered(fd)
                                 : cap_uring_find((int)fd);
    if (ring == NULL) {
        return nothing;
    }
    return cap_uring_before_submit(self, ev, ring, cap_uring_tail_of(ring, submit));
}

void cap_uring_after_enter(struct cap_thread *self, struct cap_event *ev,
                           const struct cap_uring_batch *batch, long result)
{
    if (batch->ring != NULL) { /* it may have been named by an index */
        ev->fd = batch->ring->fd;
    }
    ev->path = cap_fd_path(self, ev->fd);
    emit_call(self, ev, result);
    cap_uring_after_submit(self, ev, batch, result);
    if (batch->ring != NULL) {
        cap_uring_reap(self, batch->ring);
    }
}

void cap_uring_after_setup(struct cap_thread *self, struct cap_event *ev, unsigned entries,
                           const struct io_uring_params *params, long result)
{
    ev->size = entries;
    if (result >= 0) {
        cap_fd_clear((int)result);
        ev->path = cap_fd_path(self, (int)result);
        cap_uring_opened((int)result, params);
    }
    emit_call(self, ev, result);
}

void cap_uring_after_register(struct cap_thread *self, struct cap_event *ev,
                              const struct cap_uring_registration *what, long result)
{
    struct cap_uring *ring = cap_uring_find((int)what->fd);
    struct cap_ext ext = CAP_EXT;
    ev->fd = (int)what->fd;
    ev->path = cap_fd_path(self, ev->fd);
    ev->size = what->count;
    cap_uring_set_result(ev, result);
    ext.arg[0] = what->operation;
    cap_emit_ext(self, ev, &ext);
    if (ring != NULL && result >= 0) {
        cap_uring_registered(self, ring, what->operation, what->arg, what->count);
    }
}
