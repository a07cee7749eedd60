/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a library in a program that is not its own. */
#ifndef WIO_BASE_SYSTEM_THREAD_H
#define WIO_BASE_SYSTEM_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

/* pthread_create of a thread that takes no signal: these are for the threads of the program. An
 * error number, 0: it runs. */
static inline int wio_thread_start(pthread_t *thread_out, void *(*run)(void *), void *arg)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const int wrong = pthread_create(thread_out, NULL, run, arg);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return wrong;
}

#endif
