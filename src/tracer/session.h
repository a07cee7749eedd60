/* SPDX-License-Identifier: Apache-2.0 */
/* Following one tree of processes by ptrace(2), from the thread that asked for it on. */
#ifndef WIO_TRACER_SESSION_H
#define WIO_TRACER_SESSION_H

#include <stdint.h>

#include "ring/trace_request.h"
#include "tracer/tracee.h"

/* Seize the thread and have it stop at its system calls; 0, or an errno. To be called by the thread
 * that follows it then. */
int tracer_session_seize(struct tracer_session *session, int32_t pid, int32_t tid,
                         enum wio_trace_kind kind);

/* Until nothing of the tree is traced any more. *settings->stopping makes it let go of everything
 * where a signal interrupts the calling thread. */
void tracer_session_follow(struct tracer_session *session);

#endif
