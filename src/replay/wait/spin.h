/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spinning for what comes soon, instead of sleeping: it is the most exact wait, and no processor
 * goes idle meanwhile, but it occupies one. So no thread spins for long while other work wants the
 * processors: while more tasks of the machine are ready to run than it has processors
 * (/proc/loadavg), and they are not all of this replay. Spinning threads yield to each other
 * (sched_yield), and no more of them spin for long than there are processors.
 *
 * Yielding alone is not enough: beside other work a thread that yields may be scheduled late, and
 * Linux 6.18 may run nothing else beside threads that yield without end.
 */
#ifndef WIO_REPLAY_WAIT_SPIN_H
#define WIO_REPLAY_WAIT_SPIN_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/control_block.h"

/* A sleep and a wake-up take about as long: spinning for less costs no processor time beyond
 * that. */
#define RP_LOOK_SHORT_NS UINT64_C(50000)

/* True if no other work wants the processors; checked once per millisecond at most. now_ns:
 * CLOCK_MONOTONIC. */
bool rp_look_is_free(struct rp_board *board, uint64_t now_ns);

/* One turn of a spin loop. */
void rp_look_turn(const struct rp_board *board, uint32_t cpus);

/* Begin to spin without a time limit. False: sleep instead; else rp_look_end must follow. */
bool rp_look_begin(struct rp_board *board, uint32_t cpus);
/* One turn of that. False: stop spinning. */
bool rp_look_on(struct rp_board *board, uint32_t cpus);
void rp_look_end(struct rp_board *board);

#endif
