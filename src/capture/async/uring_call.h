/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What wrappers of liburing's functions share. liburing.h is not needed to build: the structure's
 * first part has not changed since 2.0 (struct cap_lib_uring; a test compares it with the header
 * where that is installed).
 */
#ifndef WIO_CAPTURE_ASYNC_URING_CALL_H
#define WIO_CAPTURE_ASYNC_URING_CALL_H

#include "capture/async/uring.h"

#define LIB struct cap_lib_uring *

/* One call of the program while it is under way; self = NULL: not recorded. */
struct cap_uring_call {
    struct cap_thread *self;
    struct cap_event ev;
    struct cap_uring *ring;
    struct cap_uring_batch batch;
    struct cap_uring_place outer; /* what cap_uring_inside was before */
    bool is_inner;                /* by liburing itself, inside a call that is recorded */
};

/* Enter; what the library does inside - by its own system calls or by ours - is this call. */
static inline void cap_uring_begin(struct cap_uring_call *call, unsigned number, uintptr_t source)
{
    call->self = cap_enter(source, number);
    call->ring = NULL;
    call->is_inner = false;
    call->batch = (struct cap_uring_batch){NULL, 0, 0};
    call->ev = CAP_EVENT_OF(number, source);
    call->ev.begin = cap_begin(call->self);
}

/* The same, and nothing else is recorded until cap_unmute (where self is not NULL). */
static inline void cap_uring_begin_muted(struct cap_uring_call *call, unsigned number,
                                         uintptr_t source)
{
    cap_uring_begin(call, number, source);
    if (call->self != NULL) {
        cap_mute(call->self);
    }
}

/* A ring whose descriptor was closed (io_uring_close_ring_fd) has none. */
static inline int cap_uring_fd_of(const struct cap_lib_uring *library)
{
    return library->ring_fd >= 0 ? library->ring_fd : WIO_NO_FD;
}

/* `result` as liburing gives it: -errno on failure. */
static inline void cap_uring_set_result(struct cap_event *ev, long result)
{
    ev->result = result < 0 ? -1 : result;
    ev->error = result < 0 ? (int)-result : 0;
}

#endif
