/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/core/ring/clock_pair.h"

#include "capture/core/capture.h"

struct cap_moment cap_moment_now(void)
{
    CAP_KEEP_ERRNO;
    const struct wio_clock_moment now = wio_clock_moment(cap_clock_is_tsc);
    return (struct cap_moment){.ticks = now.ticks, .mono_ns = now.mono_ns};
}
