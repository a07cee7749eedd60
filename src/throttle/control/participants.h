/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The participants of throttled runs: the nodes (threads) of a program, known by their place in the
 * process tree, so that the same one is found in each run. The first run adds them as they
 * register; later runs look each one up.
 *
 * A node's key is a hash of its rank or program and of how many-th child of its creator it is
 * (capture/throttle/hold.c); nodes of one key, as two calls of the same program by a script, are
 * told apart by the order in which they come.
 */
#ifndef WIO_THROTTLE_CONTROL_PARTICIPANTS_H
#define WIO_THROTTLE_CONTROL_PARTICIPANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "ring/control_block.h"

struct wio_director;
struct wio_process_info;

#define WIO_NO_PARTICIPANT UINT32_MAX

struct wio_roster_node {
    uint64_t key;
    uint32_t nth; /* of this key */
    int32_t rank; /* -1 = none */
    int32_t pid;  /* in this run */
    int32_t tid;
    uint32_t host;    /* in this run: of its place on the board */
    uint32_t wave;    /* over several hosts, and started by no other node: the launch of the command
                         that it is of, from 1. On one host, a rank that a launcher started which
                         another node had started, and which is no node: a number of this launch
                         (wio_roster_find_launches). Else 0 */
    int32_t launcher; /* on one host: what wio_roster_has_parent says it came through */
    int32_t ppid;     /* in the first run */
    uint32_t ops;     /* I/Os in the first run */
    bool has_parent;  /* made by another node, directly or through processes that are not recorded:
                         it cannot register while all nodes are still */
};

/* Zero-initialise. */
struct wio_roster {
    struct wio_roster_node *nodes;
    uint32_t count;
    const struct wio_director *director; /* of a run over several hosts; NULL = on this one */
};

void wio_roster_fini(struct wio_roster *roster);

/* Add a node of the first run as the next one. */
WIO_MUST_CHECK enum wio_status wio_roster_add(struct wio_roster *roster,
                                              const struct wio_board_node *node, bool has_parent);

/* The node at place `place` of the board, in a later run. WIO_NO_PARTICIPANT: the first run had
 * none such.
 */
uint32_t wio_roster_find(const struct wio_roster *roster, const struct wio_board *board,
                         uint32_t place);

/* The same nodes with the pids and tids of the run on the board (0: did not come). */
WIO_MUST_CHECK enum wio_status wio_roster_reseat(const struct wio_roster *roster,
                                                 const struct wio_board *board,
                                                 struct wio_roster *seated_out);

/* Is this node a thread of this process of the trace? `tid`: of the thread. */
bool wio_roster_is(const struct wio_roster *roster, uint32_t node,
                   const struct wio_process_info *process, int32_t tid);

/* Was the process of this place started by one that is on the board before it? *through_out: the
 * topmost of the processes between them that are not on it, 0 = there is none. */
bool wio_roster_has_parent(const struct wio_board *board, uint32_t place, int32_t *through_out);

/* On one host, when the first run is over: which ranks are of one launch? Those with one parent;
 * and, behind one launcher, those of several parents as long as no rank comes twice. */
void wio_roster_find_launches(struct wio_roster *roster);

#endif
