/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allocator for pure code that gives memory `left` times, then none, and counts what is out:
 *
 *     struct wio_stingy stingy = {.left = n};
 *     struct wio_alloc alloc = wio_stingy_alloc(&stingy);
 *     ... the work, for n = 0, 1, 2, ... until it succeeds ...
 *     assert_int_equal(stingy.out, 0);
 *
 * alloc.h does the same for code that calls malloc.
 */
#ifndef WIO_TESTS_SUPPORT_STINGY_H
#define WIO_TESTS_SUPPORT_STINGY_H

#include "base/alloc.h"

struct wio_stingy {
    unsigned left;
    long out;
};

static inline void *wio_stingy_get(void *context, size_t size)
{
    struct wio_stingy *stingy = context;
    if (stingy->left == 0) {
        return NULL;
    }
    stingy->left--;
    stingy->out++;
    return calloc(1, size);
}

static inline void wio_stingy_put(void *context, void *memory)
{
    struct wio_stingy *stingy = context;
    stingy->out -= memory != NULL ? 1 : 0;
    free(memory);
}

static inline struct wio_alloc wio_stingy_alloc(struct wio_stingy *stingy)
{
    return (struct wio_alloc){wio_stingy_get, wio_stingy_put, stingy};
}

#endif
