/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One moment by both clocks. All times of a process hang on such pairs: a thread that lost the CPU
 * between its two clocks would shift them against those of other processes, so the closest pair of
 * a few counts. Signal safe, keeps errno.
 */
#ifndef WIO_CAPTURE_CORE_CLOCK_PAIR_H
#define WIO_CAPTURE_CORE_CLOCK_PAIR_H

#include <stdint.h>

struct cap_moment {
    uint64_t ticks; /* of cap_now */
    uint64_t mono_ns;
};

struct cap_moment cap_moment_now(void) __attribute__((visibility("hidden")));

#endif
