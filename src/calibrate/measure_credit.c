/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a limit of the device's rate lets pass at once after a rest: to a model a small buffer that
 * empties at that rate. Programs that compute between their writes live on it. Larger buffers than
 * the largest write are found by a row of these (measure_table.c).
 */
#include <math.h>

#include "base/cleanup.h"
#include "calibrate/measure.h"

#define BLOCK UINT64_C(4096)
#define TRIES 3
/* Long enough for a limit to forget: those of Linux count by the tenth of a second. */
#define REST_S 0.2
/* From a half of L to such a part of it; less is noise. */
#define PARTS 16
/* Half of it must pass so many times faster than the device writes. */
#define FASTER 2

/* A write of one size after a rest: seconds, the middle one of all tries; NaN: no bytes are left
 * for it. One call, which a busy machine holds up once. */
static enum wio_status write_rested(struct wio_measure *measure, uint64_t size, double *seconds_out,
                                    struct wio_error *err)
{
    const struct wio_rig_io io = {.file = WIO_RIG_BYPASS,
                                  .way = measure->out->is_direct ? WIO_RIG_DIRECT : WIO_RIG_SYNC,
                                  .size = size};
    double seconds[TRIES];
    size_t count = 0;
    while (wio_measure_more(measure, count, TRIES, size)) {
        measure->rig->rest(measure->rig->context, REST_S);
        WIO_TRY(wio_measure_write(measure, &io, &seconds[count++], err));
    }
    *seconds_out = count > 0 ? wio_estimate_median(seconds, count) : (double)NAN;
    return WIO_OK;
}

/* What a write is ahead of the device at the most. One that is larger than what passes at once
 * waits for the next slice, so smaller ones are tried, too, as long as they may say more. */
static enum wio_status most_ahead(struct wio_measure *measure, double *ahead_out,
                                  struct wio_error *err)
{
    double device = wio_measure_get(measure, WIO_PARAM_bw_dev);
    double best = 0;
    for (uint64_t part = 2; part <= PARTS; part *= 2) {
        uint64_t size = measure->largest / part / BLOCK * BLOCK;
        double seconds;
        if ((double)size <= best || size == 0) {
            break;
        }
        WIO_TRY(write_rested(measure, size, &seconds, err));
        best = fmax(best, (double)size - device * seconds);
    }
    *ahead_out = best >= (double)measure->largest / PARTS ? best : 0;
    return WIO_OK;
}

enum wio_status wio_measure_credit(struct wio_measure *measure, struct wio_error *err)
{
    double credit;
    double seconds;
    if (wio_measure_get(measure, WIO_PARAM_burst_size) > 0) {
        return WIO_OK;
    }
    WIO_TRY(most_ahead(measure, &credit, err));
    uint64_t half = (uint64_t)(credit / 2) / BLOCK * BLOCK;
    if (half == 0) {
        return WIO_OK;
    }
    WIO_TRY(write_rested(measure, half, &seconds, err));
    double rate = (double)half / seconds;
    if (rate > FASTER * wio_measure_get(measure, WIO_PARAM_bw_dev)) {
        wio_measure_set(measure, WIO_PARAM_bw_burst, rate, (double)NAN);
        wio_measure_set(measure, WIO_PARAM_burst_size, credit, (double)NAN);
    }
    return WIO_OK;
}
