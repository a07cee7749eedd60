/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/pace.h"

#include <sched.h>
#include <sys/prctl.h>

#include "base/clock.h"

/* A timer of the kernel wakes within this nearly always. Longer is not better: on a busy machine a
 * thread that spins is the next one to lose its CPU. */
#define SPIN_NS 80000u
/* A turn of waiting for other machines. */
#define FAR_NAP_NS UINT64_C(20000)
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

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void nap(struct rp_board *board, uint64_t ns)
{
    atomic_fetch_add_explicit(&board->crowd->sleeping, 1, memory_order_relaxed);
    wio_clock_sleep_ns(ns < NAP_NS ? ns : NAP_NS);
    atomic_fetch_sub_explicit(&board->crowd->sleeping, 1, memory_order_relaxed);
}

static bool may_spin(const struct rp_board *board, uint32_t cpus)
{
    uint32_t resting = atomic_load_explicit(&board->crowd->sleeping, memory_order_relaxed) +
                       atomic_load_explicit(&board->crowd->waiting, memory_order_relaxed);
    return atomic_load_explicit(&board->crowd->threads, memory_order_relaxed) <= cpus + resting;
}

void rp_pace_spin(const struct rp_board *board, uint32_t cpus)
{
    /* One that was woken is not counted as awake before it has a CPU: so none is kept from it. */
    bool is_room = atomic_load_explicit(&board->crowd->threads, memory_order_relaxed) <= cpus;
    if (atomic_load_explicit(&board->crowd->is_far, memory_order_relaxed) != 0) {
        wio_clock_sleep_ns(FAR_NAP_NS); /* what comes from other machines takes longer, too */
    } else if (is_room) {
        relax();
    } else {
        (void)sched_yield();
    }
}

bool rp_pace_wait(struct rp_board *board, uint32_t cpus, uint64_t at_ns)
{
    uint64_t now = wio_clock_mono_ns();
    while (now < at_ns) {
        uint64_t left = at_ns - now;
        if (left > SPIN_NS) {
            nap(board, left - SPIN_NS);
        } else if (board->has_waits) {
            rp_pace_spin(board, cpus);
        } else if (may_spin(board, cpus)) {
            relax();
        } else {
            nap(board, left);
        }
        if (rp_board_is_aborted(board)) {
            return false;
        }
        now = wio_clock_mono_ns();
    }
    return true;
}
