/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of this thread, reported to the recorder, and waiting before an I/O until the recorder
 * releases it. Only while the recorder throttles (record --causal=throttle): otherwise each of
 * these is one test of a pointer.
 *
 *     cap_state_enter(self, CAP_STATE_IN_MPI);
 *     int result = CAP_REAL(MPI_Recv)(...);
 *     cap_state_leave(self);
 *
 * Around the real call in each wrapper that can wait for another thread. They nest: the state of
 * the outermost counts. `self` may be NULL: then nothing is reported.
 *
 * Wrappers need not call cap_hold: while the recorder throttles all calls enter through
 * cap_enter_slow, which holds those that count as I/O (cap_hold_counts). It is there for I/O that
 * no wrapped call begins.
 */
#ifndef WIO_CAPTURE_THROTTLE_HOLD_H
#define WIO_CAPTURE_THROTTLE_HOLD_H

#include "capture/core/capture.h"
#include "ring/control_block.h"

enum cap_state {
    CAP_STATE_IN_MPI = WIO_BOARD_IN_MPI,   /* an MPI call that ends when others do something */
    CAP_STATE_IN_LOCK = WIO_BOARD_IN_LOCK, /* mutex, rwlock, spin lock, file lock */
    CAP_STATE_BLOCKED = WIO_BOARD_BLOCKED, /* join, wait, condition, barrier, semaphore, futex, read
                                              of a pipe or socket, poll without a time limit */
    CAP_STATE_POLLING = WIO_BOARD_POLLING, /* MPI_Test.., Iprobe, trylock, poll with a time limit */
    CAP_STATE_SLEEPING = WIO_BOARD_SLEEPING, /* sleep, nanosleep, usleep */
    CAP_STATE_STARTING = WIO_BOARD_STARTING  /* MPI_Init */
};

/* NULL unless the recorder throttles. */
extern struct wio_board *cap_board CAP_HIDDEN;

void cap_state_enter_slow(struct cap_thread *self, enum cap_state state) CAP_HIDDEN;
void cap_state_leave_slow(struct cap_thread *self) CAP_HIDDEN;
void cap_hold_slow(struct cap_thread *self, uintptr_t source) CAP_HIDDEN;

static inline void cap_state_enter(struct cap_thread *self, enum cap_state state)
{
    if (CAP_UNLIKELY(cap_board != NULL)) {
        cap_state_enter_slow(self, state);
    }
}

static inline void cap_state_leave(struct cap_thread *self)
{
    if (CAP_UNLIKELY(cap_board != NULL)) {
        cap_state_leave_slow(self);
    }
}

/* Wait before an I/O, made from `source`, until the recorder releases this thread. */
static inline void cap_hold(struct cap_thread *self, uintptr_t source)
{
    if (CAP_UNLIKELY(cap_board != NULL)) {
        cap_hold_slow(self, source);
    }
}

/* The same for a call that is about to be made, where it counts as I/O. Only while there is a
 * board. */
void cap_hold_call(struct cap_thread *self, uintptr_t source, unsigned call, int fd,
                   const char *path) CAP_HIDDEN;
/* An event of a thread with flag HOLD is written: gives the flags that it gets. */
uint8_t cap_hold_emitted(struct cap_thread *self, const struct cap_event *ev,
                         uint8_t flags) CAP_HIDDEN;
/* cap_on_event_flags */
static inline uint8_t cap_hold_event_flags(struct cap_thread *self, const struct cap_event *ev,
                                           uint8_t flags)
{
    return CAP_UNLIKELY((flags & WIO_EVENT_HOLD) != 0) ? cap_hold_emitted(self, ev, flags) : flags;
}

/* Does this call count as I/O? Of a path or descriptor: yes if that is a regular file, a directory
 * or a block device. docs/CAPTURE.md, "Holding". */
bool cap_hold_counts(unsigned call, int fd, const char *path) CAP_HIDDEN;

/* Map the board that the environment names. Once, while the process is configured. */
void cap_hold_configure(void) CAP_HIDDEN;
/* This process is a launcher, and takes no part: its place, from before an exec, is free. */
void cap_hold_leave(void) CAP_HIDDEN;
/* The calling thread's place on the board: taken, or found again after an exec. */
void cap_hold_begin_thread(struct cap_thread *self) CAP_HIDDEN;
void cap_hold_end_thread(struct cap_thread *self) CAP_HIDDEN;
/* All threads of this process have ended. */
void cap_hold_end_process(void) CAP_HIDDEN;
/* A process is about to be made, without which the run must not be taken for quiescent; or it could
 * not be made after all. `self` may be NULL. */
void cap_hold_announce(const struct cap_thread *self) CAP_HIDDEN;
void cap_hold_cancel(const struct cap_thread *self) CAP_HIDDEN;
/* Around an exec, which comes back only if it failed. `is_seen`: the new program will be recorded.
 */
void cap_hold_before_exec(struct cap_thread *self, bool is_seen) CAP_HIDDEN;
void cap_hold_after_exec(struct cap_thread *self, bool is_seen) CAP_HIDDEN;
/* Before a fork: the same, and whose child it will be. */
void cap_hold_before_fork(struct cap_thread *self) CAP_HIDDEN;
/* The state `fresh` is for a thread that `self` makes: the same. */
void cap_hold_prepare_thread(struct cap_thread *self, struct cap_thread *fresh) CAP_HIDDEN;

#endif
