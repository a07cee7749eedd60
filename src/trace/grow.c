/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/grow.h"

#include <stdlib.h>
#include <string.h>

enum wio_status wio_grow(void **array, size_t item, uint32_t *capacity, uint32_t needed)
{
    uint32_t fresh = *capacity == 0 ? 16 : *capacity;
    if (needed <= *capacity) {
        return WIO_OK;
    }
    while (fresh < needed) {
        if (__builtin_mul_overflow(fresh, 2u, &fresh)) {
            return WIO_ERR_NOMEM;
        }
    }
    char *data = reallocarray(*array, fresh, item);
    if (data == NULL) {
        return WIO_ERR_NOMEM;
    }
    memset(data + *capacity * item, 0, (fresh - *capacity) * item);
    *array = data;
    *capacity = fresh;
    return WIO_OK;
}
