/* SPDX-License-Identifier: Apache-2.0 */
/* System calls of a traced thread become events: the same fields as those of the capture library.
 */
#ifndef WIO_TRACER_RECORD_H
#define WIO_TRACER_RECORD_H

#include "tracer/tracee.h"

/* The thread is about to enter the call in thread->call: note what the call changes. */
void tracer_record_entry(struct tracer_session *session, struct tracer_thread *thread);
/* It has returned: result, error and end are there. */
void tracer_record_exit(struct tracer_session *session, struct tracer_thread *thread);

#endif
