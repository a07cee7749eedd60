/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking again and again for what comes soon, instead of sleeping: nothing is more exact, and no
 * processor falls asleep meanwhile, but it takes one. So nobody looks for long while others want
 * the processors: while more tasks of the machine are ready to run than it has processors
 * (/proc/loadavg), and they are not all of this replay. Those who look let each other run
 * (sched_yield), and no more of them look for long than there are processors.
 *
 * Yielding alone is no remedy: beside others the one who yields may come to its turn late, and
 * Linux 6.18 may run nothing else beside threads that yield without end.
 */
#ifndef WIO_REPLAY_WAIT_SPIN_H
#define WIO_REPLAY_WAIT_SPIN_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/control_block.h"

/* To sleep and to be woken takes about as long: shorter looks spare the processors work, whoever
 * wants them. */
#define RP_LOOK_SHORT_NS UINT64_C(50000)

/* Does nobody else want the processors? Finds out now and then. now_ns: CLOCK_MONOTONIC. */
bool rp_look_is_free(struct rp_board *board, uint64_t now_ns);

/* One turn of a loop that looks. */
void rp_look_turn(const struct rp_board *board, uint32_t cpus);

/* To look for as long as it takes. False: sleep instead; else rp_look_end comes after it. */
bool rp_look_begin(struct rp_board *board, uint32_t cpus);
/* One turn of that. False: stop looking. */
bool rp_look_on(struct rp_board *board, uint32_t cpus);
void rp_look_end(struct rp_board *board);

#endif
