/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start times of operations. A sleep ends late by tens of microseconds, spinning on the clock takes
 * a CPU: so the wait sleeps first and spins for the rest, if it may (spin.h).
 */
#ifndef WIO_REPLAY_WAIT_PACE_H
#define WIO_REPLAY_WAIT_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/control_block.h"

/* Once per thread: makes its timers as exact as the kernel can. */
void rp_pace_begin(void);

/* Wait until CLOCK_MONOTONIC has reached at_ns. Gives its time, which is less if the replay was
 * aborted meanwhile. */
uint64_t rp_pace_wait(struct rp_board *board, uint32_t cpus, uint64_t at_ns);

/* CPUs that this process may use. */
uint32_t rp_pace_cpus(void);

#endif
