/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A new thread's pthread_t, for its creator. libc has stored it where the program wants it when the
 * thread begins; but once it runs, the thread may free that place, or end and leave its state to
 * the next one, before pthread_create returns. So the creator reads the program's place only while
 * the thread has not arrived; else the thread has left its name in its state, which is not reused
 * before both are done with it.
 */
#ifndef WIO_CAPTURE_CORE_THREAD_BIRTH_H
#define WIO_CAPTURE_CORE_THREAD_BIRTH_H

#include <pthread.h>

#include "capture/core/capture.h"

/* Before the real call, which shall give `fresh` to the new thread. */
void cap_birth_begin(struct cap_thread *fresh) CAP_HIDDEN;
/* After it, where it succeeded: the token of the thread. `fresh` is not the caller's any more. */
uint64_t cap_birth_token(struct cap_thread *fresh, const pthread_t *place) CAP_HIDDEN;

/* In the new thread, before anything of the program runs in it; its token is known. Waits where the
 * maker is just reading. */
void cap_birth_arrive(struct cap_thread *self) CAP_HIDDEN;
/* At the end of a thread: true where its state is to be given back, false where its maker will. */
bool cap_birth_end(struct cap_thread *self) CAP_HIDDEN;

#endif
