/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/measure/measure_rate.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"

/* So many times faster than the others is too fast: the row of L, or most of those that wait. */
#define PASSES_AT_ONCE 3
#define WAITED_LEAST 3
#define UNLUCKY 1.6

/* So many of `of` are faster. */
static double quantile_of(const struct wio_series *series, size_t level, size_t part, size_t of)
{
    double samples[WIO_SERIES_TIMES_MOST];
    memcpy(samples, series->samples[level], series->count[level] * sizeof(*samples));
    (void)wio_estimate_median(samples, series->count[level]); /* sorts */
    return samples[series->count[level] * part / of];
}

/* From the end of the first write that waited for those that passed at once to the end of the last
 * such one: the mean of a write. NaN if they are too few, since some are late by themselves. */
static double mean_between_waits(const double *samples, size_t count, double least)
{
    double since_s = 0;
    double end_s = 0;
    size_t since = 0;
    size_t writes = 0;
    size_t waited = 0;
    for (size_t i = 0; i < count; i++) {
        since_s += samples[i];
        since++;
        if (samples[i] > least) {
            end_s += waited > 0 ? since_s : 0;
            writes += waited > 0 ? since : 0;
            since_s = 0;
            since = 0;
            waited++;
        }
    }
    return waited >= WAITED_LEAST ? end_s / (double)writes : (double)NAN;
}

/* Of a write in the row of L, if some of these waited for others; else NaN. */
static double mean_of_row(const struct wio_series *row)
{
    size_t level = row->levels - 1;
    double least = PASSES_AT_ONCE * quantile_of(row, level, 1, 4);
    return mean_between_waits(row->samples[level], row->count[level], least);
}

bool wio_pace_comes_in_bunches(const struct wio_series *row)
{
    return !isnan(mean_of_row(row));
}

double wio_pace_of_row(const struct wio_series *row)
{
    double samples[WIO_SERIES_TIMES_MOST];
    size_t level = row->levels - 1;
    size_t count = row->count[level];
    double write_s = mean_of_row(row);
    if (isnan(write_s)) {
        memcpy(samples, row->samples[level], count * sizeof(*samples));
        write_s = wio_estimate_center(samples, count).value;
    }
    return write_s / (double)row->size[level];
}

static void add_all(const struct wio_series *series, double *seconds, double *bytes)
{
    *seconds += series->warm_s;
    *bytes += series->warm_bytes;
    for (size_t i = 0; i < WIO_SERIES_LEVELS; i++) {
        *seconds += wio_estimate_sum(series->samples[i], series->count[i]);
        *bytes += (double)series->count[i] * (double)series->size[i];
    }
}

bool wio_pace_is_limited(const struct wio_series *row, const struct wio_series *all, double byte_s)
{
    double seconds = 0;
    double bytes = 0;
    add_all(all, &seconds, &bytes);
    if (row != all) {
        add_all(row, &seconds, &bytes);
    }
    if (bytes * byte_s > UNLUCKY * seconds) {
        return false;
    }
    for (size_t i = 0; i < WIO_SERIES_LEVELS; i++) {
        if (all->count[i] > 0 &&
            quantile_of(all, i, 1, 2) < (double)all->size[i] * byte_s / PASSES_AT_ONCE) {
            return true;
        }
    }
    return false;
}
