/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables beside a limit that counts by slices. In a series some writes pass at once, and others
 * wait for a slice: which ones is the model's to say (rule 14), which takes the bytes of each write
 * through the slices. So a table says what a write takes that passes, and sc_sw what its call does.
 */
#include <math.h>

#include "calibrate/measure_series.h"

/* Of a size that is such a part of a slice most writes wait for none. */
#define PART 4

/* Where larger writes wait mostly, what passes would go on at `byte_s`. */
static struct wio_model_table passing(const struct wio_model_table *middles, double most_bytes,
                                      double byte_s)
{
    struct wio_model_table table = *middles;
    double largest = table.points[table.count - 1].bytes;
    table.points[table.count++].bytes = WIO_SERIES_TAIL_TIMES * largest;
    for (size_t i = 1; i < table.count; i++) {
        struct wio_model_point last = table.points[i - 1];
        if (table.points[i].bytes > most_bytes || i + 1 == table.count) {
            table.points[i].seconds = last.seconds + (table.points[i].bytes - last.bytes) * byte_s;
        }
    }
    return table;
}

/* What a call takes, by the smallest size, whose bytes pass as fast as they come. */
static void set_call(struct wio_measure *measure, double byte_s)
{
    const struct wio_model_table *middles = &measure->unwaited[WIO_CALIBRATE_DIRECT];
    if (middles->count > 0) {
        double call_s = middles->points[0].seconds - middles->points[0].bytes * byte_s;
        wio_measure_set(measure, WIO_PARAM_sc_sw, fmax(call_s, 0),
                        measure->out->params[WIO_PARAM_sc_sw].spread);
    }
}

/* What was measured is that far from the limit that the system says. */
#define NEAR 0.15

static void set_read(struct wio_measure *measure, enum wio_param param, double value)
{
    measure->out->params[param] = (struct wio_calibrate_value){
        .value = value, .spread = (double)NAN, .how = WIO_CALIBRATE_READ};
}

/* Which write is the one that does not fit, the last byte decides: where a limit that the system
 * says was met, it and the slices of Linux are taken exactly. Who never met it, since he was ahead
 * of it as long as he might write, would have in the end. A slower device is none that it limits.
 */
static void take_limit(struct wio_measure *measure)
{
    double limit = measure->out->rate_limit;
    double rate = wio_measure_get(measure, WIO_PARAM_bw_dev);
    double burst = fmax(wio_measure_get(measure, WIO_PARAM_bw_burst), rate);
    if (!(limit > 0) || rate < (1 - NEAR) * limit || burst < (1 + NEAR) * limit) {
        return;
    }
    double hz = wio_measure_get(measure, WIO_PARAM_hz);
    double slice_s = floor(hz / 10) / hz;
    if (wio_measure_get(measure, WIO_PARAM_slice) == 0) {
        wio_measure_set(measure, WIO_PARAM_bw_burst, burst, (double)NAN);
        set_read(measure, WIO_PARAM_burst_size, limit * slice_s);
    }
    set_read(measure, WIO_PARAM_bw_dev, limit);
    set_read(measure, WIO_PARAM_slice, slice_s);
}

void wio_measure_pass_slices(struct wio_measure *measure)
{
    take_limit(measure);
    double slice_s = wio_measure_get(measure, WIO_PARAM_slice);
    if (!(slice_s > 0)) {
        return;
    }
    double most_bytes = slice_s * wio_measure_get(measure, WIO_PARAM_bw_dev) / PART;
    double byte_s = 1 / wio_measure_get(measure, WIO_PARAM_bw_burst);
    set_call(measure, byte_s);
    for (size_t i = 0; i < WIO_CALIBRATE_NEW; i++) {
        const struct wio_model_table *middles = &measure->unwaited[i];
        if (middles->count > 0) {
            *wio_calibration_table_of(measure->out, (enum wio_calibrate_table)i) =
                passing(middles, most_bytes, byte_s);
        }
    }
}
