/* SPDX-License-Identifier: Apache-2.0 */
#include "model/kernel/writeback_share.h"

#include <math.h>

#define PERIOD_S 3.0

double wio_share_at(const struct wio_share *share, double time_s)
{
    double passed = floor(time_s / PERIOD_S) - share->period;
    return passed > 0 ? share->pages * exp2(-passed) : share->pages;
}

void wio_share_add(struct wio_share *share, uint64_t pages, double time_s)
{
    share->pages = wio_share_at(share, time_s) + (double)pages;
    share->period = floor(time_s / PERIOD_S);
}
