/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/pace.h"

#include <sched.h>
#include <sys/prctl.h>

#include "base/clock.h"

/* A timer of the kernel wakes within this nearly always. */
#define SPIN_NS 60000u
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

bool rp_pace_wait(const struct rp_board *board, uint32_t cpus, uint64_t at_ns)
{
    uint64_t now = wio_clock_mono_ns();
    while (now < at_ns) {
        bool may_spin = atomic_load_explicit(&board->threads, memory_order_relaxed) <= cpus;
        uint64_t left = at_ns - now;
        uint64_t spin = may_spin ? SPIN_NS : 0;
        if (left > spin) {
            left -= spin;
            wio_clock_sleep_ns(left < NAP_NS ? left : NAP_NS);
            if (rp_board_is_aborted(board)) {
                return false;
            }
        } else {
            relax();
        }
        now = wio_clock_mono_ns();
    }
    return true;
}
