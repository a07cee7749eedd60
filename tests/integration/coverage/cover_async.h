/* SPDX-License-Identifier: Apache-2.0 */
/* What the cases of the asynchronous interfaces share. */
#ifndef WIO_TESTS_COVER_ASYNC_H
#define WIO_TESTS_COVER_ASYNC_H

#include <limits.h>

#include "cover.h"

/* Expect an event of `symbol` with this result and, where that is -1, this errno. */
#define RECORD(name, value, failure, ...)                                                          \
    (cover_last = (struct cover_last){.symbol = (name), .result = (value), .error = (failure)},    \
     cover_expect(__VA_ARGS__))

/* The result of a request that is in flight. */
#define PENDING LONG_MIN

/* Load a library into the global scope, so that its functions are found by name. False and a note
 * for each of `names` where it is not installed: the library cannot be covered here. */
static inline bool load_library(const char *library, const char *const *names, size_t count)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_GLOBAL);
    for (size_t i = 0; i < count; i++) {
        if (handle == NULL || dlsym(handle, names[i]) == NULL) {
            RECORD(names[i], 0, 0, "absent=1");
        }
    }
    return handle != NULL;
}

#endif
