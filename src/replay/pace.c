/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/pace.h"

#include <sched.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "replay/look.h"

/* A timer of the kernel wakes within this nearly always. Longer is not better: on a busy machine a
 * thread that spins is the next one to lose its CPU. */
#define SPIN_NS 80000u
/* Nobody sleeps longer without a look at `abort`. */
#define NAP_NS 50000000u

void rp_pace_begin(void)
{
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

uint32_t rp_pace_cpus(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) != 0) {
        return 1;
    }
    return (uint32_t)CPU_COUNT(&set);
}

static void nap(struct rp_board *board, uint64_t ns)
{
    atomic_fetch_add_explicit(&board->crowd->sleeping, 1, memory_order_relaxed);
    wio_clock_sleep_ns(ns < NAP_NS ? ns : NAP_NS);
    atomic_fetch_sub_explicit(&board->crowd->sleeping, 1, memory_order_relaxed);
}

/* Until `at_ns`, which comes soon. */
static void await(struct rp_board *board, uint32_t cpus, uint64_t at_ns)
{
    if (rp_look_begin(board, cpus)) {
        while (wio_clock_mono_ns() < at_ns && !rp_board_is_aborted(board) &&
               rp_look_on(board, cpus)) {
        }
        rp_look_end(board);
    }
    uint64_t now = wio_clock_mono_ns();
    if (now < at_ns && !rp_board_is_aborted(board)) {
        nap(board, at_ns - now);
    }
}

bool rp_pace_wait(struct rp_board *board, uint32_t cpus, uint64_t at_ns)
{
    uint64_t now = wio_clock_mono_ns();
    while (now < at_ns) {
        uint64_t left = at_ns - now;
        if (left > SPIN_NS) {
            nap(board, left - SPIN_NS);
        } else {
            await(board, cpus, at_ns);
        }
        if (rp_board_is_aborted(board)) {
            return false;
        }
        now = wio_clock_mono_ns();
    }
    return true;
}
