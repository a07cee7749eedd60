/* SPDX-License-Identifier: Apache-2.0 */
/* The asynchronous interfaces through syscall(2): fio and many others use them without a library.
 */
#include <sys/syscall.h>

#include "capture/async/iocb.h"
#include "capture/async/uring_hidden.h"
#include "capture/syscall/syscall.h"

struct special {
    struct cap_thread *self;
    const struct cap_raw_call *call;
    struct cap_event ev;
};

static void *pointer(const struct special *s, unsigned number)
{
    return (void *)(uintptr_t)s->call->arg[number];
}

/* Performs the call; the result is the kernel's, and errno that of syscall(2). */
static long perform(struct special *s)
{
    long result = cap_raw_perform(s->call);
    s->ev.end = cap_now();
    return result < 0 ? -errno : result;
}

static long do_setup(struct special *s)
{
    long result = perform(s);
    const uint64_t *context = pointer(s, 2);
    cap_iocb_after_context(s->self, &s->ev, result == 0 ? *context : 0, (uint64_t)s->call->arg[1],
                           result);
    return result;
}

static long do_submit(struct special *s)
{
    uint64_t context = (uint64_t)s->call->arg[1];
    struct iocb *const *requests = pointer(s, 3);
    cap_iocb_before_submit(s->self, &s->ev, context, requests, s->call->arg[2]);
    long result = perform(s);
    cap_iocb_after_submit(s->self, &s->ev, context, requests, s->call->arg[2], result);
    return result;
}

static long do_events(struct special *s)
{
    long result = perform(s);
    cap_iocb_after_events(s->self, &s->ev, (uint64_t)s->call->arg[1], pointer(s, 4),
                          s->call->arg[3], result);
    return result;
}

static long do_cancel(struct special *s)
{
    long result = perform(s);
    cap_iocb_after_cancel(s->self, &s->ev, (uint64_t)s->call->arg[1], pointer(s, 2), result);
    return result;
}

static long do_destroy(struct special *s)
{
    long result = perform(s);
    cap_iocb_after_context(s->self, &s->ev, (uint64_t)s->call->arg[1], WIO_NO_SIZE, result);
    return result;
}

static long do_uring_setup(struct special *s)
{
    long result = perform(s);
    cap_uring_after_setup(s->self, &s->ev, (unsigned)s->call->arg[1], pointer(s, 2), result);
    return result;
}

static long do_uring_enter(struct special *s)
{
    const long *arg = s->call->arg;
    s->ev.fd = (int)arg[1];
    s->ev.size = (uint64_t)arg[2];
    struct cap_uring_batch batch = cap_uring_before_enter(s->self, &s->ev, (unsigned)arg[1],
                                                          (unsigned)arg[2], (unsigned)arg[4]);
    long result = perform(s);
    cap_uring_after_enter(s->self, &s->ev, &batch, result);
    return result;
}

static struct cap_uring_registration registration(const long *arg)
{
    return (struct cap_uring_registration){(unsigned)arg[1], (unsigned)arg[2],
                                           (const void *)(uintptr_t)arg[3], (unsigned)arg[4]};
}

static long do_uring_register(struct special *s)
{
    const struct cap_uring_registration what = registration(s->call->arg);
    long result = perform(s);
    cap_uring_after_register(s->self, &s->ev, &what, result);
    return result;
}

static long dispatch(struct special *s)
{
    switch (s->call->rule->number) {
    case SYS_io_setup:
        return do_setup(s);
    case SYS_io_submit:
        return do_submit(s);
    case SYS_io_getevents:
    case SYS_io_pgetevents:
        return do_events(s);
    case SYS_io_cancel:
        return do_cancel(s);
    case SYS_io_destroy:
        return do_destroy(s);
    case SYS_io_uring_setup:
        return do_uring_setup(s);
    case SYS_io_uring_enter:
        return do_uring_enter(s);
    default:
        return do_uring_register(s);
    }
}

/* Libraries that make their calls through libc arrive here from within a call that is recorded. */
static bool is_inside_library(const struct cap_raw_call *call)
{
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    if (call->rule->number != SYS_io_uring_enter) {
        return cap_is_within(frame, cap_libaio_frame);
    }
    return cap_uring_is_own(cap_uring_find((int)call->arg[1]), frame);
}

long cap_raw_special(struct cap_thread *self, const struct cap_raw_call *call)
{
    if (is_inside_library(call)) {
        return cap_raw_perform(call);
    }
    struct special s = {.self = self, .call = call};
    s.ev = CAP_EVENT_OF(call->rule->call, call->source);
    s.ev.flags = WIO_EVENT_RAW;
    s.ev.begin = cap_begin(self);
    long result = dispatch(&s);
    if (result < 0) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

/* By an MPI library. */
long cap_raw_special_hidden(const struct cap_raw_call *call)
{
    const long *arg = call->arg;
    if (call->rule->number == SYS_io_submit) {
        cap_iocb_count_hidden((struct iocb *const *)(uintptr_t)arg[3], arg[2]);
    } else if (call->rule->number == SYS_io_uring_enter) {
        cap_uring_hidden_enter(call->source, (unsigned)arg[1], (unsigned)arg[2], (unsigned)arg[4]);
    }
    long result = cap_raw_perform(call);
    if (call->rule->number == SYS_io_uring_setup) {
        cap_uring_hidden_opened(call->source, result,
                                (const struct io_uring_params *)(uintptr_t)arg[2]);
    } else if (call->rule->number == SYS_io_uring_register) {
        const struct cap_uring_registration what = registration(arg);
        cap_uring_hidden_registered(call->source, &what, result);
    }
    return result;
}
