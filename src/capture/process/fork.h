/* SPDX-License-Identifier: Apache-2.0 */
/* What capture does where a process begins as a copy of one, or in its memory. */
#ifndef WIO_CAPTURE_PROCESS_FORK_H
#define WIO_CAPTURE_PROCESS_FORK_H

#include "capture/core/capture.h"

/* Before a clone with these flags, in any form (also through syscall(2)). */
void cap_before_clone(struct cap_thread *self, uint64_t flags) CAP_HIDDEN;

#endif
