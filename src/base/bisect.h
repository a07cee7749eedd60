/* SPDX-License-Identifier: Apache-2.0 */
/* Binary search, over whatever a number indexes. Pure. */
#ifndef WIO_BASE_BISECT_H
#define WIO_BASE_BISECT_H

#include <stddef.h>

/*
 * The first index of [from, to) for which `is_reached`, an expression in which `i` is the index,
 * is true; `to` where it is true for none. The expression has to be false up to some index and true
 * from there on: as `items[i].key >= key` is over items in rising order. It is evaluated at most
 * once for an index, and log2(to - from) + 1 times in all. A size_t.
 */
#define WIO_FIRST(i, from, to, is_reached)                                                         \
    __extension__({                                                                                \
        size_t wio_low_ = (from);                                                                  \
        size_t wio_high_ = (to);                                                                   \
        while (wio_low_ < wio_high_) {                                                             \
            const size_t i = wio_low_ + (wio_high_ - wio_low_) / 2;                                \
            if (is_reached) {                                                                      \
                wio_high_ = i;                                                                     \
            } else {                                                                               \
                wio_low_ = i + 1;                                                                  \
            }                                                                                      \
        }                                                                                          \
        wio_low_;                                                                                  \
    })

#endif
