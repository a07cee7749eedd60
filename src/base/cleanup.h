/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WIO_CLEANUP(fn): call fn(&variable) when the variable leaves its scope.
 * Hand-over of ownership is two plain lines: `*out = p; p = NULL;`.
 * WIO_TRY(expr): return early with the status of a failed call.
 * WIO_PRE(cond): a programming error aborts with its text in debug builds.
 */
#ifndef WIO_BASE_CLEANUP_H
#define WIO_BASE_CLEANUP_H

#include <assert.h>

#include <whyio/status.h>

#define WIO_CLEANUP(fn) __attribute__((cleanup(fn)))

#define WIO_TRY(expr)                                                                              \
    do {                                                                                           \
        enum wio_status wio_try_status_ = (expr);                                                  \
        if (wio_try_status_ != WIO_OK) {                                                           \
            return wio_try_status_;                                                                \
        }                                                                                          \
    } while (0)

#define WIO_PRE(cond) assert(cond)

#define WIO_ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif
