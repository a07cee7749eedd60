/* SPDX-License-Identifier: Apache-2.0 */
/* Ids in rising order: for qsort and bsearch over arrays of uint32_t. Pure. */
#ifndef WIO_BASE_IDS_H
#define WIO_BASE_IDS_H

#include <stdint.h>

static inline int wio_ids_compare(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a;
    uint32_t right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

#endif
