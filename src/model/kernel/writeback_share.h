/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much a device has written lately: each page counts half as much with every 3 seconds that
 * have passed. Of the devices below one page cache each gets a part of the dirty limits by this.
 *
 * Source: behaviour of lib/flex_proportions.c as mm/page-writeback.c uses it.
 */
#ifndef WIO_MODEL_KERNEL_WRITEBACK_SHARE_H
#define WIO_MODEL_KERNEL_WRITEBACK_SHARE_H

#include <stdint.h>

/* Zero-initialise. */
struct wio_share {
    double pages;  /* as of .. */
    double period; /* .. this period of 3 s, counted from 0 */
};

void wio_share_add(struct wio_share *share, uint64_t pages, double time_s);
double wio_share_at(const struct wio_share *share, double time_s);

#endif
