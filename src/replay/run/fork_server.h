/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fork server: the process that forks all processes of a replay which other processes start.
 *
 * It performs nothing itself, so that each of its children begins with the memory of the
 * coordinator, and forks cost the same however deep the recorded process tree is: a chain of n
 * forks in each other copies n times n page tables, and frees them by a cube. Nothing else is
 * its child: it sees their deaths, ends when no process is left that could ask, and they are
 * killed when it is.
 */
#ifndef WIO_REPLAY_RUN_FORK_SERVER_H
#define WIO_REPLAY_RUN_FORK_SERVER_H

#include "replay/run/worker.h"

/* Start it, if any group of the plan is no root: sets run->fork_server and fork_server_pid. Called
 * by the coordinator before it forks roots. */
WIO_MUST_CHECK enum wio_status rp_fork_server_start(struct rp_run *run, struct wio_error *err);

/* The coordinator forks no root any more: only processes that it has forked may ask now. */
void rp_fork_server_leave(struct rp_run *run);

#endif
