/* SPDX-License-Identifier: Apache-2.0 */
/* The bare system calls of io_uring, as functions of liburing since 2.3. */
#include <signal.h>

#include "capture/async/uring_hidden.h"

int io_uring_setup(unsigned entries, struct io_uring_params *params);
int io_uring_enter(unsigned fd, unsigned submit, unsigned least, unsigned flags, sigset_t *mask);
int io_uring_enter2(unsigned fd, unsigned submit, unsigned least, unsigned flags, sigset_t *mask,
                    size_t size);
int io_uring_register(unsigned fd, unsigned operation, const void *arg, unsigned count);

CAP_EXPORT int io_uring_setup(unsigned entries, struct io_uring_params *params)
{
    struct cap_uring_call call;
    cap_uring_begin_muted(&call, WIO_CALL_io_uring_setup, CAP_CALLER());
    int result = CAP_REAL(io_uring_setup)(entries, params);
    if (call.self != NULL) {
        cap_unmute(call.self);
        call.ev.end = cap_now();
        cap_uring_after_setup(call.self, &call.ev, entries, params, result);
    } else {
        cap_uring_hidden_opened(call.ev.source, result, params);
    }
    return result;
}

CAP_EXPORT int io_uring_register(unsigned fd, unsigned operation, const void *arg, unsigned count)
{
    const struct cap_uring_registration what = {fd, operation, arg, count};
    struct cap_uring_call call;
    cap_uring_begin_muted(&call, WIO_CALL_io_uring_register, CAP_CALLER());
    int result = CAP_REAL(io_uring_register)(fd, operation, arg, count);
    if (call.self != NULL) {
        cap_unmute(call.self);
        call.ev.end = cap_now();
        cap_uring_after_register(call.self, &call.ev, &what, result);
    } else {
        cap_uring_hidden_registered(call.ev.source, &what, result);
    }
    return result;
}

#define FRAME() ((uintptr_t)__builtin_frame_address(0))

struct bare_enter {
    unsigned fd;
    unsigned submit;
    unsigned flags;
    uintptr_t frame; /* of the wrapper */
};

/* It may wait: what signal handlers do meanwhile is recorded, and they may jump out of it. */
static void begin_bare(struct cap_uring_call *call, unsigned number, uintptr_t source,
                       const struct bare_enter *enter)
{
    cap_uring_begin(call, number, source);
    if (call->self != NULL) {
        call->ev.fd = (int)enter->fd;
        call->ev.size = enter->submit;
        call->batch =
            cap_uring_before_enter(call->self, &call->ev, enter->fd, enter->submit, enter->flags);
        call->outer = cap_uring_inside;
        cap_uring_inside = (struct cap_uring_place){call->batch.ring, enter->frame};
    } else {
        cap_uring_hidden_enter(source, enter->fd, enter->submit, enter->flags);
    }
}

static int end_bare(struct cap_uring_call *call, int result)
{
    if (call->self != NULL) {
        cap_uring_inside = call->outer;
        call->ev.end = cap_now();
        cap_uring_after_enter(call->self, &call->ev, &call->batch, result);
    }
    return result;
}

CAP_EXPORT int io_uring_enter(unsigned fd, unsigned submit, unsigned least, unsigned flags,
                              sigset_t *mask)
{
    struct cap_uring_call call;
    begin_bare(&call, WIO_CALL_io_uring_enter, CAP_CALLER(),
               &(struct bare_enter){fd, submit, flags, FRAME()});
    return end_bare(&call, CAP_REAL(io_uring_enter)(fd, submit, least, flags, mask));
}

/* NOLINTNEXTLINE(readability-function-size): liburing's own six parameters */
CAP_EXPORT int io_uring_enter2(unsigned fd, unsigned submit, unsigned least, unsigned flags,
                               sigset_t *mask, size_t size)
{
    struct cap_uring_call call;
    begin_bare(&call, WIO_CALL_io_uring_enter2, CAP_CALLER(),
               &(struct bare_enter){fd, submit, flags, FRAME()});
    return end_bare(&call, CAP_REAL(io_uring_enter2)(fd, submit, least, flags, mask, size));
}
