/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/core/clock_pair.h"

#include "capture/core/capture.h"

#define TRIES 3
/* Two clocks that were read within so many ticks of each other belong together. */
#define CLOSE_TICKS 512u

struct cap_moment cap_moment_now(void)
{
    CAP_KEEP_ERRNO;
    uint64_t least = UINT64_MAX;
    struct cap_moment moment = {0};
    for (int i = 0; i < TRIES && least > CLOSE_TICKS; i++) {
        uint64_t before = cap_now();
        uint64_t mono_ns = wio_clock_mono_ns();
        uint64_t took = cap_now() - before;
        if (took < least) {
            least = took;
            moment = (struct cap_moment){.ticks = before + took / 2, .mono_ns = mono_ns};
        }
    }
    return moment;
}
