/* SPDX-License-Identifier: Apache-2.0 */
/* How long a refused request waits, and how many may come again at all. */
#ifndef WIO_ADMIT_CLIENT_BACK_OFF_H
#define WIO_ADMIT_CLIENT_BACK_OFF_H

#include <stdbool.h>
#include <stdint.h>

struct wio_back_off {
    uint64_t state; /* of the random numbers, splitmix64 */
    uint64_t first_ns;
    uint64_t max_ns;
    double share;
    double burst; /* 0: no budget */
    double tokens;
};

/* Evenly from 0 to `most_ns`. */
uint64_t wio_back_off_random_ns(struct wio_back_off *back_off, uint64_t most_ns);
/* Without a hint, before the try number `tries` + 1 (tries >= 1). */
uint64_t wio_back_off_blind_ns(struct wio_back_off *back_off, uint16_t tries);
/* May one more be sent again? Takes it from the budget. */
bool wio_back_off_take(struct wio_back_off *back_off);
/* One has succeeded. */
void wio_back_off_earn(struct wio_back_off *back_off);

#endif
