/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks. With record --stacks each event has its own. Else a call by the program's own code
 * has none, as its return address says whose line it is; of a call by a library the stack is taken
 * up to a few frames behind the first one of the program's own code (which may be a template of a
 * library, compiled into the program), where it is new: the first times at each call site (return
 * address and depth of the stack), and then ever more rarely. What that may take is bounded by a
 * share of the thread's time.
 *
 * A call by an interpreter, or by what it has called, has the stack up to the line of the program
 * that is interpreted, each time: such stacks are remembered by that line. New lines are outside
 * the bound above.
 */
#ifndef WIO_CAPTURE_CORE_STACK_H
#define WIO_CAPTURE_CORE_STACK_H

#include "capture/core/process.h"

/* Id of the calling stack from the frame that returns to `source` outwards; writes its STACK record
 * where this thread has not just done so. 0 where it cannot be walked. Not async-signal-safe in the
 * strict sense: the unwinder reads the loader's list of objects. */
uint32_t cap_stack(struct cap_thread *self, uintptr_t source) CAP_HIDDEN;

/* The same where a sample of the event's call site is due, else 0. Where the program's own code has
 * called, the thread's next events do not ask (CAP_PENDING_SITE is taken back). */
uint32_t cap_stack_sample(struct cap_thread *self, const struct cap_event *ev) CAP_HIDDEN;

/* A library calls, which is not the program's own code: its call sites are sampled. */
static inline void cap_stack_expect(struct cap_thread *self)
{
    self->has_pending |= cap_process.sites;
}

/* The thread is looking at its stack: what the unwinder calls is no event. */
bool cap_is_walking(void) CAP_HIDDEN;

#endif
