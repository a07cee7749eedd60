/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where pure code gets its memory from. Rooms on the pure floor never call malloc: the creator of
 * one of their objects passes its allocator (a test can refuse the n-th request).
 */
#ifndef WIO_BASE_ALLOC_H
#define WIO_BASE_ALLOC_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct wio_alloc {
    /* `size` zeroed bytes aligned for any object, or NULL. */
    void *(*get)(void *context, size_t size);
    /* Give back what `get` returned; NULL is allowed. */
    void (*put)(void *context, void *memory);
    void *context;
};

/* calloc(3) of the GNU C library passes by what the thread has freed last. */
static inline void *wio_alloc_heap_get(void *context, size_t size)
{
    enum { SMALL = 1024 };
    (void)context;
    void *memory = size <= SMALL ? malloc(size) : calloc(1, size);
    return memory != NULL && size <= SMALL ? memset(memory, 0, size) : memory;
}

static inline void wio_alloc_heap_put(void *context, void *memory)
{
    (void)context;
    free(memory);
}

/* The C library's heap. */
#define WIO_ALLOC_HEAP ((struct wio_alloc){wio_alloc_heap_get, wio_alloc_heap_put, NULL})

#endif
