/* SPDX-License-Identifier: Apache-2.0 */
/* What the functions of capture are declared with. Part of capture.h. */
#ifndef WIO_CAPTURE_CORE_ATTRIBUTES_H
#define WIO_CAPTURE_CORE_ATTRIBUTES_H

#include <errno.h>
#include <stdint.h>

#define CAP_LIKELY(x) __builtin_expect(!!(x), 1)
#define CAP_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define CAP_EXPORT __attribute__((visibility("default")))
#define CAP_HIDDEN __attribute__((visibility("hidden")))
/* For wrappers of calls that come by the million: on the usual path they call nothing but the real
 * function, and begin a cache line. Left alone, the compiler shares the parts among all wrappers;
 * then calls, saved registers and an event that goes through memory cost a quarter more. */
#define CAP_HOT __attribute__((flatten, aligned(64)))
/* For what all events go through: these functions lie side by side. A program whose ranks take
 * turns on a processor finds none of them in the innermost cache, and then their number of lines
 * and pages is what an event costs. */
#define CAP_WARM __attribute__((hot))
#define CAP_CALLER() ((uintptr_t)__builtin_return_address(0))

/* Declare at the top of a block: errno is as it was when the block is left. */
#define CAP_KEEP_ERRNO __attribute__((unused, cleanup(cap_put_errno))) int cap_kept_errno_ = errno
static inline void cap_put_errno(const int *kept)
{
    errno = *kept;
}

typedef void cap_function(void); /* any function: cast before the call */

#endif
