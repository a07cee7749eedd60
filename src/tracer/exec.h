/* SPDX-License-Identifier: Apache-2.0 */
/* How traced processes become other programs. */
#ifndef WIO_TRACER_EXEC_H
#define WIO_TRACER_EXEC_H

#include "tracer/tracee.h"

/* At the entry of execve or execveat: true where the program would get other rights. Such a program
 * is never traced: the thread has to be let go before the call goes on, and it is counted. */
bool tracer_exec_must_let_go(struct tracer_session *session, struct tracer_thread *thread);

/* Is the call one of these? */
bool tracer_exec_is(const struct tracer_thread *thread);

/* The process of the thread has become another program: true where the tracer goes on with it;
 * false where it is to be let go, since the capture library records it, or it cannot be recorded.
 */
bool tracer_exec_done(struct tracer_session *session, struct tracer_thread *thread);

#endif
