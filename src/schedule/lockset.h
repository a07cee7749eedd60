/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which locks a thread has while it gets a file lock that it has not waited for.
 *
 *     thread a   lock M | F_SETLK, got it | unlock M    lock M | F_UNLCK | unlock M
 *     thread b                                                               lock M | F_SETLK
 *
 * The tries keep their recorded order (wio_tries_lock). If b were let into M before a, as locks
 * allow, it would hold M and wait for a's file lock, and a, which holds that, for M. The program
 * never waits there: it is refused, and leaves M. So such locks keep the recorded order as well.
 */
#ifndef WIO_SCHEDULE_LOCKSET_H
#define WIO_SCHEDULE_LOCKSET_H

#include "schedule/waits.h"

/* More at a time are not followed: their order is free. */
#define WIO_LOCKSET_MAX 8u

struct wio_lockset {
    int64_t locks[WIO_LOCKSET_MAX];
    uint32_t count;
};

/* Each event, in the order of its stream, before wio_lockset_keep. */
void wio_lockset_see(struct wio_lockset *held, const struct wio_event *event);
/* The thread tries for a file lock: what it has keeps its order. Only locks that threads have
 * handed on are numbered, and only these matter. */
WIO_MUST_CHECK enum wio_status wio_lockset_keep(struct wio_waits *waits,
                                                const struct wio_event *event, uint32_t image);
/* After the last event, before there are acts. */
void wio_held_settle(struct wio_waits *waits);

#endif
