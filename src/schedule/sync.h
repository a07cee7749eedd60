/* SPDX-License-Identifier: Apache-2.0 */
/* Events of synchronisation: points in a thread's order that do nothing themselves. Pure. */
#ifndef WIO_SCHEDULE_SYNC_H
#define WIO_SCHEDULE_SYNC_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/event.h>

#include "ops/calls.h"

/* MPI, locks, conditions, barriers, semaphores, futexes, polling, sleeping, signals. */
bool wio_is_sync(enum wio_class cls);

/* What an event does with a lock (FORMAT.md, "Threads"). */
enum wio_lock_step {
    WIO_LOCK_NONE = 0,
    WIO_LOCK_TAKE,  /* arg0, arg1 = 1: shared */
    WIO_LOCK_LEAVE, /* the same, or arg1 where a condition hands on another lock: it is had for a
                       moment only, and no event of its own says so */
    WIO_LOCK_LEND   /* pthread_cond_wait: leaves arg1 and takes it again */
};
enum wio_lock_step wio_lock_step_of(const struct wio_event *event);
/* The lock that it does it with. */
int64_t wio_lock_of(const struct wio_event *event);

/* Did it wait for a lock that a condition hands on (R-SYNC-4)? No event says when that is taken and
 * left otherwise, so the wait of another run is not known: it lasts as long as in this one. */
bool wio_waits_by_chance(const struct wio_event *event);

/* Did it ask for a file lock without waiting? Where another thread has the lock, the program goes
 * on in another way. */
bool wio_tries_lock(const struct wio_event *event);

/* Is it an operation of semop, semtimedop: an event of a call that may have several? */
bool wio_is_semop(const struct wio_event *event);

#endif
