/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/measure/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Four of five values of a normal distribution are within so many standard deviations. */
#define MOST_SIGMAS 1.2816
#define SIGMAS_OUT 4
/* Of few values the deviation is a guess; and clocks are coarse. */
#define SIGMA_LEAST 0.05
/* What a call takes that the machine did something else meanwhile, in medians. */
#define MEDIANS_OUT 4

#define PLATEAU_LEAST 4
#define PLATEAU_RATIO 1.5
#define SERIES_MOST 64

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of_sorted(const double *values, size_t count)
{
    size_t middle = count / 2;
    return count % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double wio_estimate_sum(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
    }
    return sum;
}

double wio_estimate_median(double *values, size_t count)
{
    WIO_PRE(count > 0);
    qsort(values, count, sizeof(*values), compare);
    return median_of_sorted(values, count);
}

/* How far four of five are from the median at most, as a standard deviation. Of sorted values: the
 * farther end of those left is dropped until only four of five are left. */
static double deviation_of_most(const double *sorted, size_t count, double median)
{
    size_t low = 0;
    size_t high = count - 1;
    for (size_t i = 0; i < count / 5; i++) {
        if (median - sorted[low] >= sorted[high] - median) {
            low++;
        } else {
            high--;
        }
    }
    return fmax(median - sorted[low], sorted[high] - median) / MOST_SIGMAS;
}

static struct wio_estimate mean_of(const double *values, size_t count)
{
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
    }
    double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++) {
        squares += (values[i] - mean) * (values[i] - mean);
    }
    double deviation = sqrt(squares / (double)count);
    return (struct wio_estimate){mean, mean != 0 ? deviation / fabs(mean) : 0, count};
}

struct wio_estimate wio_estimate_center(double *values, size_t count)
{
    if (count == 0) {
        return (struct wio_estimate){(double)NAN, (double)NAN, 0};
    }
    double median = wio_estimate_median(values, count);
    double sigma = deviation_of_most(values, count, median);
    double reach = SIGMAS_OUT * fmax(sigma, SIGMA_LEAST * fabs(median));
    size_t low = 0;
    size_t end = count;
    while (values[low] < median - reach) {
        low++;
    }
    while (values[end - 1] > median + reach) {
        end--;
    }
    return mean_of(values + low, end - low);
}

struct wio_estimate wio_estimate_mean(double *values, size_t count)
{
    if (count == 0) {
        return (struct wio_estimate){(double)NAN, (double)NAN, 0};
    }
    double most = MEDIANS_OUT * wio_estimate_median(values, count);
    size_t end = count;
    while (end > 1 && values[end - 1] > most) {
        end--;
    }
    return mean_of(values, end);
}

struct wio_estimate wio_estimate_middle(double *values, size_t count)
{
    struct wio_estimate estimate = wio_estimate_center(values, count);
    if (count > 0) {
        estimate.value = median_of_sorted(values, count);
    }
    return estimate;
}

bool wio_estimate_line(const struct wio_estimate_point *points, size_t count,
                       struct wio_estimate_line *line_out)
{
    double weights = 0;
    double x_mean = 0;
    double y_mean = 0;
    for (size_t i = 0; i < count; i++) {
        double weight = 1 / (points[i].seconds * points[i].seconds);
        weights += weight;
        x_mean += weight * points[i].bytes;
        y_mean += weight * points[i].seconds;
    }
    x_mean /= weights;
    y_mean /= weights;
    double xx = 0;
    double xy = 0;
    for (size_t i = 0; i < count; i++) {
        double weight = 1 / (points[i].seconds * points[i].seconds);
        xx += weight * (points[i].bytes - x_mean) * (points[i].bytes - x_mean);
        xy += weight * (points[i].bytes - x_mean) * (points[i].seconds - y_mean);
    }
    if (count < 2 || !(xx > 0)) {
        return false;
    }
    line_out->seconds_per_byte = xy / xx;
    line_out->seconds = y_mean - line_out->seconds_per_byte * x_mean;
    return true;
}

/* How far the values are from their median, in all; the median and the relative spread. */
static double misfit(const double *values, size_t count, double *median_out, double *spread_out)
{
    double sorted[SERIES_MOST];
    double sum = 0;
    memcpy(sorted, values, count * sizeof(*values));
    *median_out = wio_estimate_median(sorted, count);
    *spread_out = deviation_of_most(sorted, count, *median_out) / fabs(*median_out);
    for (size_t i = 0; i < count; i++) {
        sum += fabs(log(values[i] / *median_out));
    }
    return sum;
}

bool wio_estimate_drop(const double *rates, size_t count, struct wio_estimate_drop *drop_out)
{
    double best = INFINITY;
    bool is_drop = false;
    count = count < SERIES_MOST ? count : SERIES_MOST;
    for (size_t before = PLATEAU_LEAST; before + PLATEAU_LEAST <= count; before++) {
        double fast;
        double slow;
        double fast_spread;
        double slow_spread;
        double error = misfit(rates, before, &fast, &fast_spread) +
                       misfit(rates + before, count - before, &slow, &slow_spread);
        if (error < best) {
            best = error;
            is_drop = fast * (1 - 2 * fast_spread) > PLATEAU_RATIO * slow * (1 + 2 * slow_spread);
            *drop_out = (struct wio_estimate_drop){before, fast, slow};
        }
    }
    return is_drop;
}
