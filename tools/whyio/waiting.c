/* SPDX-License-Identifier: Apache-2.0 */
#include "waiting.h"

#include <signal.h>
#include <time.h>

#include "base/env.h"
#include "options.h"

enum { SILENT_S = 2, DEFAULT_TIMEOUT_S = 30 };
#define SECOND_NS UINT64_C(1000000000)

static void *waiting_main(void *context)
{
    struct cmd_waiting *waiting = context;
    struct timespec until;
    int waited = 0;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += SILENT_S;
    (void)pthread_mutex_lock(&waiting->lock);
    while (!waiting->is_over && waited == 0) {
        waited = pthread_cond_timedwait(&waiting->over, &waiting->lock, &until);
    }
    if (!waiting->is_over) {
        cmd_say("no answer yet from the store at %s: trying for %g s", waiting->address,
                (double)waiting->timeout_ns / (double)SECOND_NS);
    }
    (void)pthread_mutex_unlock(&waiting->lock);
    return NULL;
}

void cmd_waiting_begin(struct cmd_waiting *waiting, const char *address, uint64_t timeout_ns)
{
    pthread_condattr_t monotonic;
    sigset_t all;
    sigset_t before;
    const char *other = wio_env_get(WIO_ENV_STORE_SERVER);
    *waiting = (struct cmd_waiting){.address = address != NULL ? address
                                               : other != NULL ? other
                                                               : "?",
                                    .timeout_ns = timeout_ns != 0 ? timeout_ns
                                                                  : DEFAULT_TIMEOUT_S * SECOND_NS};
    (void)pthread_mutex_init(&waiting->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&waiting->over, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    (void)sigfillset(&all); /* signals are for the thread of the command */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    waiting->is_running = pthread_create(&waiting->thread, NULL, waiting_main, waiting) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void cmd_waiting_end(struct cmd_waiting *waiting)
{
    if (!waiting->is_running) {
        return;
    }
    (void)pthread_mutex_lock(&waiting->lock);
    waiting->is_over = true;
    (void)pthread_cond_signal(&waiting->over);
    (void)pthread_mutex_unlock(&waiting->lock);
    (void)pthread_join(waiting->thread, NULL);
    waiting->is_running = false;
    (void)pthread_cond_destroy(&waiting->over);
    (void)pthread_mutex_destroy(&waiting->lock);
}
