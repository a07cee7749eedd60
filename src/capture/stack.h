/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WIO_CAPTURE_STACK_H
#define WIO_CAPTURE_STACK_H

#include "capture/capture.h"

/* Id of the calling stack from the frame that returns to `source` outwards; writes its STACK record
 * where this thread has not just done so. 0 where it cannot be walked. Not async-signal-safe in the
 * strict sense: the unwinder reads the loader's list of objects. */
uint32_t cap_stack(struct cap_thread *self, uintptr_t source) CAP_HIDDEN;

/* The thread is looking at its stack: what the unwinder calls is no event. */
bool cap_is_walking(void) CAP_HIDDEN;

#endif
