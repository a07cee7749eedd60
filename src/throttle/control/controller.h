/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Controls one throttled run: reads the board, reports the state of each node to the rules
 * (causal/hold/hold.h), and releases the nodes that they name.
 *
 *     wio_conduct_begin(&conduct, &params);
 *     while (the command runs) {
 *         uint32_t seen = wio_board_doorbell(board);
 *         uint64_t sleep_ns;
 *         WIO_TRY(wio_conduct_step(&conduct, wio_clock_mono_ns(), &sleep_ns));
 *         if (sleep_ns > 0) wio_board_sleep(board, seen, sleep_ns);
 *     }
 *     WIO_TRY(wio_conduct_end(&conduct));
 *
 * A run that cannot be trusted (a node died, something else is done than in the first run, a hold
 * lasted too long) is over at once: all nodes are released, and `verdict` says why.
 */
#ifndef WIO_THROTTLE_CONTROL_CONTROLLER_H
#define WIO_THROTTLE_CONTROL_CONTROLLER_H

#include "causal/hold/hold.h"
#include "throttle/control/control_block.h"
#include "throttle/control/participants.h"
#include "throttle/control/quiescence.h"
#include "throttle/hosts/coordinator.h"
#include "throttle/rules/profile.h"

enum wio_conduct_verdict {
    WIO_CONDUCT_GOOD,
    WIO_CONDUCT_DIED,      /* `node` ended without saying so: killed */
    WIO_CONDUCT_STRANGER,  /* a thread that the first run did not have, process `pid` */
    WIO_CONDUCT_DIFFERENT, /* `node` does more I/O than in the first run */
    WIO_CONDUCT_TOO_LONG,  /* `node` stood before an I/O for longer than the limit */
    WIO_CONDUCT_TOO_MANY,  /* more threads than the board has places */
    WIO_CONDUCT_LOST,      /* threads went on by themselves: we gave no sign of life, or they waited
                              for longer than the limit */
    WIO_CONDUCT_GONE /* the recorder of another host ended before its command, process `pid` */
};

/* Over several hosts, with all nodes still: may bytes in flight wake one of them? */
enum wio_conduct_arrival {
    WIO_CONDUCT_UNKNOWN,
    WIO_CONDUCT_ASKED,  /* the next exchange says whether bytes are in flight */
    WIO_CONDUCT_NONE,   /* the last one said that there are none */
    WIO_CONDUCT_ARRIVED /* .. and each node is given time to wake up */
};

struct wio_conduct_params {
    struct wio_board *board;       /* reset, with first_grant 0 */
    struct wio_director *director; /* of the hosts whose threads are on the board; NULL: this one */
    const struct wio_roster *roster;
    struct wio_hold *hold;
    enum wio_hold_method method;
    uint32_t throttled;                /* //TRACE: the node that is held */
    uint64_t period;                   /* //TRACE: every period-th of its I/Os is */
    const struct wio_profile *profile; /* of a run without holds */
    uint64_t limit_ns;                 /* of any hold */
};

struct wio_conduct {
    struct wio_conduct_params params;
    struct wio_watch *nodes;   /* of the roster */
    enum wio_node_state *told; /* what the rules were told last */
    bool *is_guess;            /* told BLOCKED because it is still, against its own state */
    uint32_t *counted;         /* I/Os that the rules know of */
    uint32_t seated;           /* places of the board that were read */
    uint32_t expected;         /* children that were announced and have not registered */
    uint32_t forgiven;         /* .. and of these, the ones that are given up */
    uint64_t expected_ns;      /* since when `expected` has not changed */
    uint64_t checked_ns;       /* of the last check for threads that are gone */
    uint64_t moved_ns;         /* when a node was released last, or the first was held */
    uint64_t pause_ns;         /* how long to sleep until all nodes are still */
    enum wio_conduct_arrival arrival;
    enum wio_conduct_verdict verdict;
    const char *host; /* that the verdict is about, NULL = this one, or none */
    uint32_t node;    /* that the verdict is about, or WIO_NO_PARTICIPANT */
    int32_t pid;
    uint64_t released; /* holds that were ended in order */
};

/* WIO_ERR_NOMEM. End it in any case. */
WIO_MUST_CHECK enum wio_status wio_conduct_begin(struct wio_conduct *conduct,
                                                 const struct wio_conduct_params *params,
                                                 uint64_t now_ns);
/* *sleep_ns_out: 0 = step again at once. */
WIO_MUST_CHECK enum wio_status wio_conduct_step(struct wio_conduct *conduct, uint64_t now_ns,
                                                uint64_t *sleep_ns_out);
/* The command and all its descendants have ended. */
WIO_MUST_CHECK enum wio_status wio_conduct_end(struct wio_conduct *conduct, uint64_t now_ns);
void wio_conduct_fini(struct wio_conduct *conduct);

#endif
