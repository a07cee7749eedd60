/* SPDX-License-Identifier: Apache-2.0 */
/* Begin and end of threads as events. */
#ifndef WIO_CAPTURE_PROCESS_THREAD_EVENTS_H
#define WIO_CAPTURE_PROCESS_THREAD_EVENTS_H

#include "capture/core/capture.h"

/* The last event of a thread. */
void cap_thread_exit_event(struct cap_thread *self) CAP_HIDDEN;

#endif
