/* SPDX-License-Identifier: Apache-2.0 */
/* The smaller and the larger one of two numbers. Pure. */
#ifndef WIO_BASE_PICK_H
#define WIO_BASE_PICK_H

#include <stdint.h>

static inline uint64_t wio_smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t wio_larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

#endif
