/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the wrappers of synchronisation share: entering only where it is to be recorded, the
 * events of calls that may have waited, signals that are blocked, cancellation.
 *
 * A thread may be cancelled within a wrapped call: its frames are unwound, its clean-up handlers
 * run, and it does not come back to the wrapper. Wrappers that leave something behind (a counter,
 * an event that tells of a lock taken again) bracket the real call with pthread_cleanup_push, which
 * in C needs no unwinding of ours.
 */
#ifndef WIO_CAPTURE_SYNC_SYNC_H
#define WIO_CAPTURE_SYNC_SYNC_H

#include <time.h>

#include "capture/core/raw.h"
#include "capture/throttle/hold.h"

/* The calling thread's writer if synchronisation is recorded, else NULL. */
static inline struct cap_thread *cap_enter_sync(uintptr_t source, unsigned call)
{
    return CAP_LIKELY(cap_is_causal) ? cap_enter(source, call) : NULL;
}

/* The event of a class with inline arguments (R-EVENT-2). */
void cap_emit_wait(struct cap_thread *self, struct cap_event *ev, const int64_t arg[2]) CAP_HIDDEN;
/* The same of a class without: offset and size are as they are, `arg` has four. */
void cap_emit_wait_ext(struct cap_thread *self, const struct cap_event *ev,
                       const int64_t arg[4]) CAP_HIDDEN;

/* Time limits in ns; WIO_NO_SIZE = none. */
static inline uint64_t cap_ns_of_ms(int ms)
{
    return ms < 0 ? WIO_NO_SIZE : (uint64_t)ms * 1000000u;
}

static inline uint64_t cap_ns_of(const struct timespec *time, int error)
{
    return time == NULL || error == EFAULT
               ? WIO_NO_SIZE
               : (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

#define CAP_WAIT_OF_MS(ms) ((ms) < 0 ? CAP_STATE_BLOCKED : CAP_STATE_POLLING)
#define CAP_WAIT_OF(time) ((time) == NULL ? CAP_STATE_BLOCKED : CAP_STATE_POLLING)

/* thrd_sleep's results. */
static inline int cap_thrd_error(int result)
{
    return result == 0 ? 0 : result == -1 ? EINTR : EINVAL;
}

#endif
