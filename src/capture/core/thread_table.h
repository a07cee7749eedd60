/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of threads: blocks of memory that a fork wipes, and a list without locks of the states
 * whose thread has ended. Signal safe, thread safe.
 */
#ifndef WIO_CAPTURE_CORE_THREAD_TABLE_H
#define WIO_CAPTURE_CORE_THREAD_TABLE_H

#include "capture/core/capture.h"

/* Where cap_self points before the thread's first event: span 0, never ready. */
extern struct cap_thread cap_no_thread CAP_HIDDEN;

/* A thread's state: from the free list, or new; NULL where there is no memory. */
struct cap_thread *cap_thread_take(void) CAP_HIDDEN;
void cap_thread_give_back(struct cap_thread *thread) CAP_HIDDEN;
/* Drop the caller ranges that all threads remember (a library was unloaded). */
void cap_threads_forget_ranges(void) CAP_HIDDEN;
/* In a fresh child: all states but the caller's are free. */
void cap_threads_reset(void) CAP_HIDDEN;

#endif
