/* SPDX-License-Identifier: Apache-2.0 */
/* Signals of the threads that run a loop, and of those that it starts. */
#include <signal.h>
#include <time.h>

#include "store/net/net_internal.h"

/* libuv writes without MSG_NOSIGNAL: with the signal blocked, a write to a socket that nothing
 * reads fails with EPIPE. */
void wio_net_guard(struct wio_net *net)
{
    sigset_t set;
    if (!net->is_guarded) {
        (void)sigemptyset(&set);
        (void)sigaddset(&set, SIGPIPE);
        (void)pthread_sigmask(SIG_BLOCK, &set, &net->unguarded);
        net->is_guarded = true;
    }
}

/* A signal that a write has caused meanwhile is taken back. */
static void unguard(struct wio_net *net)
{
    const struct timespec at_once = {0, 0};
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGPIPE);
    if (sigismember(&net->unguarded, SIGPIPE) == 0) {
        (void)sigtimedwait(&set, NULL, &at_once);
    }
    (void)pthread_sigmask(SIG_SETMASK, &net->unguarded, NULL);
    net->is_guarded = false;
}

void wio_net_enter(struct wio_net *net)
{
    if (net->unsent > 0) {
        wio_net_guard(net);
    }
}

void wio_net_leave(struct wio_net *net)
{
    if (net->is_guarded) {
        unguard(net);
    }
}

void wio_net_block_signals(sigset_t *before)
{
    sigset_t all;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, before);
}

void wio_net_allow_signals(const sigset_t *before)
{
    (void)pthread_sigmask(SIG_SETMASK, before, NULL);
}
