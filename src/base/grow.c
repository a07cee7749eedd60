/* SPDX-License-Identifier: Apache-2.0 */
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

enum { CAPACITY_FIRST = 16 };

enum wio_status wio_make_room(void **array, size_t item, uint32_t *capacity, uint32_t needed)
{
    uint32_t fresh = *capacity == 0 ? CAPACITY_FIRST : *capacity;
    if (needed <= *capacity) {
        return WIO_OK;
    }
    while (fresh < needed) {
        if (__builtin_mul_overflow(fresh, 2u, &fresh)) {
            return WIO_ERR_NOMEM;
        }
    }
    size_t bytes;
    void *data = __builtin_mul_overflow(fresh, item, &bytes) ? NULL : realloc(*array, bytes);
    if (data == NULL) {
        return WIO_ERR_NOMEM;
    }
    *array = data;
    *capacity = fresh;
    return WIO_OK;
}

enum wio_status wio_grow(void **array, size_t item, uint32_t *capacity, uint32_t needed)
{
    uint32_t before = *capacity;
    WIO_TRY(wio_make_room(array, item, capacity, needed));
    memset((char *)*array + before * item, 0, (*capacity - before) * item);
    return WIO_OK;
}
