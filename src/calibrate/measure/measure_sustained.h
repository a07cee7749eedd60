/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the device keep up its pace? A limit of the rate that counts by slices lets all pass at once
 * that fits into one: as long as no write has waited for it, it cannot be seen. So writes go on in
 * a row until they have lasted longer than such a slice.
 */
#ifndef WIO_CALIBRATE_MEASURE_MEASURE_SUSTAINED_H
#define WIO_CALIBRATE_MEASURE_MEASURE_SUSTAINED_H

#include "calibrate/measure/measure_series.h"

struct wio_sustained_rate {
    double byte_s;  /* what a byte takes in the long run; NaN: nothing else than in the short one */
    double spread;  /* of the distances of waits; NaN: of one wait */
    double slice_s; /* their mean distance */
    double burst_bw; /* what passes at once comes with so many bytes/s */
    bool is_unclear; /* not to be told: too short, or waits at uneven distances */
    bool is_short;   /* not to be told, since bytes ended before a slice of Linux does */
};

/* How many of `max_bytes` are for such a row, on a device that wrote so many bytes/s at best. */
uint64_t wio_hold_bytes(uint64_t max_bytes, double best_bw);

/* `like` has writes of L, which may have told all; else measure->hold_bytes are written like it. */
WIO_MUST_CHECK enum wio_status wio_measure_hold(struct wio_measure *measure,
                                                const struct wio_series *like,
                                                struct wio_sustained_rate *hold_out,
                                                struct wio_error *err);

#endif
