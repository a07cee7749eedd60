/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that takes system calls away from itself (seccomp) must not die by ours: from then on
 * core/raw.h makes none. What the threads' chunks can still hold is recorded, the rest is counted
 * as dropped. Where the program forbids itself to look at the time stamp counter, too (the kernel
 * does it for strict seccomp, PR_SET_TSC asks for it), nothing is recorded any more.
 */
#include "capture/core/program/seccomp.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/core/thread_table.h"

enum loss { LOSE_NOTHING, LOSE_CALLS, LOSE_CALLS_AND_CLOCK };

/* What was before, for a call that fails. */
struct before {
    enum loss loss;
    bool was_confined;
    bool was_off;
    bool was_tsc;
};

/* Before the call: afterwards it may be too late for anything. A child of vfork is not noted: its
 * memory is its parent's. */
static struct before lose(enum loss loss)
{
    if ((cap_self->flags & WIO_EVENT_VFORK) != 0) {
        loss = LOSE_NOTHING;
    }
    struct before before = {loss, cap_is_confined, cap_process.is_off, cap_clock_is_tsc};
    if (loss != LOSE_NOTHING) {
        __atomic_store_n(&cap_is_confined, true, __ATOMIC_RELEASE);
    }
    if (loss == LOSE_CALLS_AND_CLOCK) {
        cap_process.is_off = true;
        cap_clock_is_tsc = false;
        cap_threads_forget_ranges();
    }
    return before;
}

static void take_back(const struct before *before)
{
    if (before->loss == LOSE_CALLS_AND_CLOCK) {
        cap_process.is_off = before->was_off;
        cap_clock_is_tsc = before->was_tsc;
    }
    if (before->loss != LOSE_NOTHING) {
        __atomic_store_n(&cap_is_confined, before->was_confined, __ATOMIC_RELEASE);
    }
}

static enum loss loss_by_prctl(int option, unsigned long argument)
{
    if (option == PR_SET_SECCOMP) {
        return argument == SECCOMP_MODE_STRICT ? LOSE_CALLS_AND_CLOCK : LOSE_CALLS;
    }
    return option == PR_SET_TSC && argument == PR_TSC_SIGSEGV ? LOSE_CALLS_AND_CLOCK : LOSE_NOTHING;
}

static int confining_prctl(int option, const unsigned long arg[4])
{
    int (*real)(int, ...) = CAP_REAL(prctl); /* looked up while that is allowed */
    const struct before before = lose(loss_by_prctl(option, arg[0]));
    int result = real(option, arg[0], arg[1], arg[2], arg[3]);
    if (result < 0) {
        take_back(&before);
    }
    return result;
}

CAP_EXPORT int prctl(int option, ...)
{
    unsigned long arg[4];
    va_list arguments;
    va_start(arguments, option);
    for (unsigned i = 0; i < 4; i++) {
        arg[i] = va_arg(arguments, unsigned long);
    }
    va_end(arguments);
    return confining_prctl(option, arg);
}

long cap_number_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
                      unsigned long d)
{
    return confining_prctl(option, (const unsigned long[]){a, b, c, d});
}

long cap_number_seccomp(unsigned operation, unsigned flags, void *arguments)
{
    const struct before before = lose(operation == SECCOMP_SET_MODE_STRICT   ? LOSE_CALLS_AND_CLOCK
                                      : operation == SECCOMP_SET_MODE_FILTER ? LOSE_CALLS
                                                                             : LOSE_NOTHING);
    long result = wio_rawcall3(SYS_seccomp, operation, flags, (long)arguments);
    bool has_failed = result < 0 && result > -4096;
    /* A positive result may be the thread that could not be made to follow. */
    if (has_failed || ((flags & SECCOMP_FILTER_FLAG_TSYNC) != 0 && result > 0)) {
        take_back(&before);
    }
    if (has_failed) {
        errno = (int)-result;
        return -1;
    }
    return result;
}
