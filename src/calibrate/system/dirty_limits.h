/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The background limit of dirty data, lowered for a moment: then the kernel writes back at once,
 * without making writers wait. Only root may do that.
 */
#ifndef WIO_CALIBRATE_SYSTEM_DIRTY_LIMITS_H
#define WIO_CALIBRATE_SYSTEM_DIRTY_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

#define WIO_LIMITS_DIR "/proc/sys/vm"
/* A value that is not chosen otherwise: a limit found at it was lowered by whyio. */
#define WIO_LIMITS_LOWERED ((UINT64_C(1) << 20) + 12288)

struct wio_limits {
    const char *dir; /* WIO_LIMITS_DIR; tests have one of their own */
    bool may_lower;
    /* As they were; the one that is 0 is not in force. */
    uint64_t background_bytes;
    uint64_t background_ratio;
};

/* Look at them. `dir` is not copied. */
struct wio_limits wio_limits_of(const char *dir);
WIO_MUST_CHECK enum wio_status wio_limits_lower(const struct wio_limits *limits,
                                                struct wio_error *err);
/* Nothing happens where they are not lowered. */
WIO_MUST_CHECK enum wio_status wio_limits_restore(const struct wio_limits *limits,
                                                  struct wio_error *err);

/* A number that is alone in a file below `dir`. */
bool wio_limits_read(const char *dir, const char *name, uint64_t *out);

#endif
