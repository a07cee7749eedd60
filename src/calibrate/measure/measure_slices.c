/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables beside a limit that counts by slices. In a series some writes pass at once, and others
 * wait for a slice: which ones is the model's to say (rule 14), which takes the bytes of each write
 * through the slices. So a table says what a write takes that passes, and sc_sw what its call does.
 */
#include <math.h>

#include "calibrate/measure/measure_series.h"

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

/* Within these parts of it, what was measured is the limit that the system says. Few waits tell the
 * rate less exactly than many writes, but slices that were seen leave no doubt whose they are. */
#define BELOW 0.05
#define BELOW_BY_WAITS 0.15
#define ABOVE 0.15
/* A slice that was measured as less than such a part of what Linux has is one of its own. */
#define SHORTER 0.7

/* Of those of Linux; some kernels have slices of a fiftieth of a second. What was measured as
 * longer are the distances of writes that are larger than a slice. */
static double slice_of(const struct wio_measure *measure)
{
    double hz = wio_measure_get(measure, WIO_PARAM_hz);
    double slice_s = floor(hz / 10) / hz;
    double seen_s = wio_measure_get(measure, WIO_PARAM_slice);
    return seen_s > 0 && seen_s < SHORTER * slice_s ? fmax(round(seen_s * hz), 1) / hz : slice_s;
}

/* Was the limit seen to decide what the device does, or could that not be seen? No more than a
 * slice passes at once then: what was found beyond that is a buffer of the device. */
static bool is_met(const struct wio_measure *measure, double limit, double slice_s)
{
    double rate = wio_measure_get(measure, WIO_PARAM_bw_dev);
    double burst = wio_measure_get(measure, WIO_PARAM_bw_burst);
    bool has_slices = wio_measure_get(measure, WIO_PARAM_slice) > 0;
    bool is_slower = rate < (1 - (has_slices ? BELOW_BY_WAITS : BELOW)) * limit;
    bool is_faster = rate > (1 + ABOVE) * limit && !measure->is_hold_unclear;
    bool is_buffered = !has_slices && wio_measure_get(measure, WIO_PARAM_burst_size) >
                                          (1 + ABOVE) * limit * slice_s;
    return !is_slower && !is_faster && !is_buffered && fmax(burst, rate) >= (1 + ABOVE) * limit;
}

/* The last byte decides which write does not fit: where a limit that the system reports was met, it
 * and the slices of Linux are taken exactly. Writes that never met it, since they were ahead of it
 * to their end, would have met it later. A slower device is not limited by it, nor is one that has
 * exceeded it for long. */
static void take_limit(struct wio_measure *measure)
{
    double limit = measure->out->rate_limit;
    double slice_s = slice_of(measure);
    if (!(limit > 0) || !is_met(measure, limit, slice_s)) {
        return;
    }
    double burst = fmax(wio_measure_get(measure, WIO_PARAM_bw_burst),
                        wio_measure_get(measure, WIO_PARAM_bw_dev));
    wio_measure_set(measure, WIO_PARAM_bw_burst, burst, (double)NAN);
    wio_calibration_read(measure->out, WIO_PARAM_bw_dev, limit);
    wio_calibration_read(measure->out, WIO_PARAM_slice, slice_s);
    wio_calibration_read(measure->out, WIO_PARAM_burst_size, limit * slice_s);
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
