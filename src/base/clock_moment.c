/* SPDX-License-Identifier: Apache-2.0 */
/* All times of a process hang on pairs of clocks: a thread that lost the CPU between the two would
 * shift them against those of other processes, so the closest pair of a few counts. */
#include "base/clock.h"

#define MOMENT_TRIES 3
/* Two clocks that were read within so many ticks of each other belong together. */
#define CLOSE_TICKS 512u

uint64_t wio_clock_ticks(bool is_tsc)
{
#if defined(__x86_64__)
    if (is_tsc) {
        return wio_clock_tsc();
    }
#endif
    (void)is_tsc;
    return wio_clock_mono_ns();
}

struct wio_clock_moment wio_clock_moment(bool is_tsc)
{
    uint64_t least = UINT64_MAX;
    struct wio_clock_moment moment = {0};
    for (int i = 0; i < MOMENT_TRIES && least > CLOSE_TICKS; i++) {
        uint64_t before = wio_clock_ticks(is_tsc);
        uint64_t mono_ns = wio_clock_mono_ns();
        uint64_t took = wio_clock_ticks(is_tsc) - before;
        if (took < least) {
            least = took;
            moment = (struct wio_clock_moment){.ticks = before + took / 2, .mono_ns = mono_ns};
        }
    }
    return moment;
}
