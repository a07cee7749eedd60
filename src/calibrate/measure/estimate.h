/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers out of measurements that scatter: the value of many repetitions without the outliers, the
 * line through costs of several sizes, a device that is fast at first and slow later. Pure.
 */
#ifndef WIO_CALIBRATE_MEASURE_ESTIMATE_H
#define WIO_CALIBRATE_MEASURE_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>

struct wio_estimate {
    double value;  /* mean of what was kept; NaN where there was nothing */
    double spread; /* standard deviation of what was kept / value */
    size_t kept;
};

double wio_estimate_sum(const double *values, size_t count);

/* Of at least one value; sorts them. */
double wio_estimate_median(double *values, size_t count);

/*
 * The mean without outliers: what is farther from the median than 4 standard deviations, as judged
 * by the four fifths of the values that are closest to it. So what happens more often than once in
 * five times is no outlier but how the device is (a limit that lets requests pass in bunches), and
 * stays. Sorts the values.
 */
struct wio_estimate wio_estimate_center(double *values, size_t count);

/*
 * The mean of what takes less than four times the median: for costs that a program has so often
 * that their sum counts. What a call has to do now and then (a list of free pages to fill) is part
 * of it, what the machine does meanwhile is not. Sorts the values.
 */
struct wio_estimate wio_estimate_mean(double *values, size_t count);

/* The same as the center, but the median: for what has no moods of its own (memory), so that all
 * that is slow comes from others. */
struct wio_estimate wio_estimate_middle(double *values, size_t count);

/* Seconds that so many bytes take. */
struct wio_estimate_point {
    double bytes;
    double seconds;
};
struct wio_estimate_line {
    double seconds;          /* at 0 bytes */
    double seconds_per_byte; /* the slope */
};
/* Least squares of the relative errors, so that small sizes count as much as large ones. False
 * where there are less than two sizes. */
bool wio_estimate_line(const struct wio_estimate_point *points, size_t count,
                       struct wio_estimate_line *line_out);

/* Writes one after the other, all of the same size: the first `before` of them at one rate, the
 * rest at another. */
struct wio_estimate_drop {
    size_t before;
    double fast; /* bytes/s */
    double slow;
};
/* Is there a buffer that was full after some writes? Only where both parts are of at least 4 writes
 * and the first at least 1.5 times as fast, even where both are taken two deviations closer. */
bool wio_estimate_drop(const double *rates, size_t count, struct wio_estimate_drop *drop_out);

#endif
