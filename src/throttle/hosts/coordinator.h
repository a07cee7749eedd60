/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The coordinator of a throttled run over several hosts (throttle/hosts/remote.h): the threads of
 * all hosts have places on its own board. An exchange copies their states to it, and the grants
 * from it to the workers.
 *
 *     WIO_TRY(wio_director_create(board, &where, &director, err));
 *     wio_director_begin_run(director, &run, err);
 *     while (the launcher runs) {
 *         wio_director_exchange(director, wants_bytes, &news);
 *         .. look at the board, grant ..
 *     }
 *     wio_director_end_run(director, &totals);
 *
 * One thread.
 */
#ifndef WIO_THROTTLE_HOSTS_COORDINATOR_H
#define WIO_THROTTLE_HOSTS_COORDINATOR_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

#include "seal/seal.h"
#include "throttle/control/control_block.h"
#include "throttle/control/task_state.h"
#include "throttle/hosts/remote_listen.h"

struct wio_director;

struct wio_director_run {
    const char *dir;      /* of the trace, on a file system that all hosts share */
    uint32_t first_grant; /* I/Os that a new thread may do */
    uint64_t limit_ns;    /* of any hold */
};

/* What an exchange with all hosts says, beside what is on the board then. */
struct wio_director_news {
    bool has_granted; /* a grant was sent: threads of other hosts may have been examined before its
                         effect */
    bool has_bytes;   /* of the program, in flight; where that was asked */
    const char *lost; /* the host of a recorder that is gone before its command, NULL = none */
    int32_t lost_pid; /* of that recorder */
};

/* The state of a thread of another host at its last sample. */
struct wio_director_look {
    struct wio_task_state task;
    uint64_t now_ns; /* of that host's clock */
    bool has_process;
    bool has_parent; /* a thread of the same recorder started it */
    uint32_t wave;   /* which launch of the command it is of, from 1: recorders that begin when all
                        before them have ended */
};

/* What the recorders of a run say at its end, together. */
struct wio_director_totals {
    struct wio_seal_totals seal;
    uint32_t recorders;
    int exit_status;  /* of the first command that failed, else 0 */
    bool is_unsealed; /* a trace could not be finished */
    const char *lost; /* as in struct wio_director_news */
    int32_t lost_pid;
};

/* WIO_ERR_UNSUPPORTED: built without libsodium. WIO_ERR_USAGE: as wio_remote_listen. */
WIO_MUST_CHECK enum wio_status wio_director_create(struct wio_board *board,
                                                   const struct wio_remote_where *where,
                                                   struct wio_director **director_out,
                                                   struct wio_error *err);
/* Accepts NULL. */
void wio_director_destroy(struct wio_director *director);
/* For WHYIO_DIRECTOR, of the run that was begun last; the text stays where it is. */
const char *wio_director_address(const struct wio_director *director);
/* Where it is reached: a child that keeps these sockets open lets connections wait there. */
const struct wio_remote_listeners *wio_director_listeners(const struct wio_director *director);
/* Connections of this run that did not prove to be of it. */
uint64_t wio_director_refused(const struct wio_director *director);

/* The board is reset; the run has a key of its own. WIO_ERR_IO where it cannot be told where the
 * directory is. */
WIO_MUST_CHECK enum wio_status wio_director_begin_run(struct wio_director *director,
                                                      const struct wio_director_run *run,
                                                      struct wio_error *err);
/* Accept new recorders, send the grants to all hosts, and receive the state of their threads.
 * WIO_ERR_NOMEM: end the run. */
WIO_MUST_CHECK enum wio_status wio_director_exchange(struct wio_director *director,
                                                     bool wants_bytes,
                                                     struct wio_director_news *news_out);
/* The launcher has ended: recorders that have not reported their end are lost. */
void wio_director_end_run(struct wio_director *director, struct wio_director_totals *totals_out);

/* The last launch of this run that has begun, from 1; 0: none. */
uint32_t wio_director_wave(const struct wio_director *director);
const struct wio_director_look *wio_director_look(const struct wio_director *director,
                                                  uint32_t place);
/* Of field `host` of a node on the board. NULL: no other host's. Lives as long as the coordinator.
 */
const char *wio_director_host(const struct wio_director *director, uint32_t host);

#endif
