/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/wait/pace.h"

#include <sys/prctl.h>

#include "base/clock.h"
#include "base/system/cpus.h"
#include "replay/wait/spin.h"

/* A timer of the kernel wakes within this nearly always. Longer is not better: on a busy machine a
 * thread that spins is the next one to lose its CPU. */
#define SPIN_NS 80000u
/* Longest sleep between two checks of `abort`, ns. */
#define NAP_NS 50000000u

void rp_pace_begin(void)
{
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

uint32_t rp_pace_cpus(void)
{
    uint32_t allowed = wio_cpus_allowed();
    return allowed == 0 ? 1 : allowed;
}

static void nap(struct rp_board *board, uint64_t ns)
{
    atomic_fetch_add_explicit(&board->crowd->sleeping, 1, memory_order_relaxed);
    wio_clock_sleep_ns(ns < NAP_NS ? ns : NAP_NS);
    atomic_fetch_sub_explicit(&board->crowd->sleeping, 1, memory_order_relaxed);
}

/* In a replay without waits threads do not yield to each other: each keeps its own start times. */
static bool is_room(const struct rp_board *board, uint32_t cpus)
{
    const struct rp_crowd *crowd = board->crowd;
    uint32_t resting = atomic_load_explicit(&crowd->sleeping, memory_order_relaxed) +
                       atomic_load_explicit(&crowd->waiting, memory_order_relaxed);
    return board->has_waits ||
           atomic_load_explicit(&crowd->threads, memory_order_relaxed) <= cpus + resting;
}

/* Some of the time until `at_ns`, which comes soon. */
static void await(struct rp_board *board, uint32_t cpus, uint64_t now_ns, uint64_t at_ns)
{
    bool is_short = at_ns - now_ns < RP_LOOK_SHORT_NS;
    if (is_short || (is_room(board, cpus) && rp_look_is_free(board, now_ns))) {
        rp_look_turn(board, cpus);
    } else {
        nap(board, at_ns - now_ns);
    }
}

uint64_t rp_pace_wait(struct rp_board *board, uint32_t cpus, uint64_t at_ns)
{
    uint64_t now = wio_clock_mono_ns();
    while (now < at_ns && !rp_board_is_aborted(board)) {
        uint64_t left = at_ns - now;
        if (left > SPIN_NS) {
            nap(board, left - SPIN_NS);
        } else {
            await(board, cpus, now, at_ns);
        }
        now = wio_clock_mono_ns();
    }
    return now;
}
