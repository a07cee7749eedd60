/* SPDX-License-Identifier: Apache-2.0 */
/* The process that starts the replay's processes, watches them and takes them away. */
#ifndef WIO_REPLAY_RUN_COORDINATE_H
#define WIO_REPLAY_RUN_COORDINATE_H

#include <signal.h>
#include <stdbool.h>

#include "replay/run/worker.h"

/* The signals of a terminal and of dying children are held back while a replay is under way. */
struct rp_signals {
    sigset_t before;
    bool was_subreaper;
};

WIO_MUST_CHECK enum wio_status rp_signals_hold(struct rp_signals *signals, struct wio_error *err);
void rp_signals_release(struct rp_signals *signals);
/* A signal that asks to stop is waiting to be delivered. */
bool rp_signals_is_stop(void);
/* Take it: its number, 0 = none. */
int rp_signals_take_stop(void);

struct rp_watch {
    void (*progress)(void *arg, uint64_t done, uint64_t total, const char *unit);
    void *progress_arg;
    int signal; /* out: that ended the replay, 0 = none */
};

/* Start all roots, run the clock, wait until every process has ended. Whatever happens, no process
 * of the replay is left afterwards. */
WIO_MUST_CHECK enum wio_status rp_coordinate(struct rp_run *run, struct rp_watch *watch,
                                             struct wio_error *err);

#endif
