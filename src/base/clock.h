/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks: CLOCK_MONOTONIC, CLOCK_REALTIME, and the CPU's time stamp counter. Signal safe. They are
 * the kernel's own, whatever a preloaded library makes of libc's functions. */
#ifndef WIO_BASE_CLOCK_H
#define WIO_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

uint64_t wio_clock_mono_ns(void);
uint64_t wio_clock_unix_ns(void);
/* True where the TSC is constant, does not stop and is the kernel's own clock source (which is read
 * from /sys at each call, by raw system calls). */
bool wio_clock_has_tsc(void);
/* By the monotonic clock, whatever signals come. */
void wio_clock_sleep_ns(uint64_t ns);

/* One moment by two clocks, read close to each other. */
struct wio_clock_moment {
    uint64_t ticks;
    uint64_t mono_ns;
};
/* `is_tsc`: ticks are those of the time stamp counter, else nanoseconds too. */
struct wio_clock_moment wio_clock_moment(bool is_tsc);
uint64_t wio_clock_ticks(bool is_tsc);

#if defined(__x86_64__)
static inline uint64_t wio_clock_tsc(void)
{
    return __builtin_ia32_rdtsc();
}
#endif

#endif
