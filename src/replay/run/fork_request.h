/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to the fork server (fork_server.h): which group of the replay begins, when, and with
 * which descriptors.
 *
 * A request is one message on the socket of the server. It carries a socket of its own, on which
 * the descriptors follow (SCM_RIGHTS), as many messages as they need: only the new process reads
 * these, so that the server never waits for a client. Descriptors keep their open file description
 * and so the position that they share, as those that fork(2) copies.
 */
#ifndef WIO_REPLAY_RUN_FORK_REQUEST_H
#define WIO_REPLAY_RUN_FORK_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/perform/fds.h"

/* How a process of the replay begins. */
struct rp_start {
    struct rp_fds inherited; /* its descriptors; the process becomes their owner */
    uint64_t base_ns;        /* rp_process.base_ns .. */
    uint64_t traced_base_ns;
    int parent;   /* pid of the process that forks it */
    int server;   /* socket of the fork server, -1 = none; the process becomes its owner */
    bool is_root; /* the clock waits for it */
};

/* Ask for a process that plays `group` and begins as `start` says (its descriptors stay open here;
 * `server`: where to ask). Returns as soon as the message is sent: false with errno; ETOOMANYREFS:
 * the user has had too many descriptors under way for half a minute. Thread safe. */
bool rp_fork_ask(uint32_t group, const struct rp_start *start);

struct rp_fork_request {
    uint32_t group;
    uint32_t reserved;
    uint64_t base_ns;
    uint64_t traced_base_ns;
};

/* In the server: the next request, and the socket of what follows (owned by the caller). 1; 0 =
 * no process is left that could ask; -1 with errno. */
int rp_fork_next(int listener, struct rp_fork_request *request_out, int *channel_out);

/* In the new process: read what follows and close the channel. `table`: length of the table of
 * descriptors. Fills all of *start_out but `parent`. False with errno. */
bool rp_fork_take(int channel, const struct rp_fork_request *request, uint32_t table,
                  struct rp_start *start_out);

#endif
