/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/client/back_off.h"

#include <math.h>

#define DOUBLINGS_MAX 30

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

uint64_t wio_back_off_random_ns(struct wio_back_off *back_off, uint64_t most_ns)
{
    double part = (double)(next_random(&back_off->state) >> 11) * 0x1p-53;
    return (uint64_t)(part * (double)most_ns);
}

uint64_t wio_back_off_blind_ns(struct wio_back_off *back_off, uint16_t tries)
{
    unsigned doublings = tries > 0 ? tries - 1u : 0;
    double most_ns = ldexp((double)back_off->first_ns,
                           (int)(doublings < DOUBLINGS_MAX ? doublings : DOUBLINGS_MAX));
    most_ns = fmin(most_ns, (double)back_off->max_ns);
    return wio_back_off_random_ns(back_off, (uint64_t)most_ns);
}

bool wio_back_off_take(struct wio_back_off *back_off)
{
    if (back_off->burst <= 0) {
        return true;
    }
    if (back_off->tokens < 1) {
        return false;
    }
    back_off->tokens -= 1;
    return true;
}

void wio_back_off_earn(struct wio_back_off *back_off)
{
    back_off->tokens = fmin(back_off->tokens + back_off->share, back_off->burst);
}
