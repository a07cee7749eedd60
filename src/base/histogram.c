/* SPDX-License-Identifier: Apache-2.0 */
#include "base/histogram.h"

#include <string.h>

static double low_of(unsigned bucket)
{
    if (bucket < WIO_HISTOGRAM_STEPS) {
        return bucket;
    }
    unsigned power = bucket / WIO_HISTOGRAM_STEPS + WIO_HISTOGRAM_BITS - 1;
    double low = 2.0 * (double)(UINT64_C(1) << (power - 1)); /* of the last + 1: 2^64 */
    return low * (1.0 + (double)(bucket % WIO_HISTOGRAM_STEPS) / WIO_HISTOGRAM_STEPS);
}

/* The mean of what is in a bucket. */
static double value_of(const struct wio_histogram *histogram, unsigned bucket)
{
    const struct wio_histogram_bucket *row = &histogram->buckets[bucket];
    double mean = (double)row->sum / (double)row->count;
    double low = low_of(bucket);
    double high = low_of(bucket + 1);

    return mean < low ? low : mean > high ? high : mean;
}

void wio_histogram_merge(struct wio_histogram *histogram, const struct wio_histogram *other)
{
    for (unsigned i = 0; i < WIO_HISTOGRAM_BUCKETS; i++) {
        struct wio_histogram_bucket *bucket = &histogram->buckets[i];
        bucket->count += other->buckets[i].count;
        bucket->sum += other->buckets[i].sum;
    }
    histogram->count += other->count;
    histogram->max = other->max > histogram->max ? other->max : histogram->max;
}

double wio_histogram_quantile(const struct wio_histogram *histogram, double share)
{
    double wanted = share * (double)histogram->count;
    double seen = 0;

    for (unsigned i = 0; i < WIO_HISTOGRAM_BUCKETS; i++) {
        seen += (double)histogram->buckets[i].count;
        if (seen >= wanted && histogram->buckets[i].count > 0) {
            double value = value_of(histogram, i);
            return value < (double)histogram->max ? value : (double)histogram->max;
        }
    }
    return 0;
}

unsigned wio_histogram_powers(const struct wio_histogram *histogram,
                              uint64_t counts_out[WIO_HISTOGRAM_POWERS])
{
    unsigned used = 0;

    memset(counts_out, 0, WIO_HISTOGRAM_POWERS * sizeof(*counts_out));
    for (unsigned i = 0; i < WIO_HISTOGRAM_BUCKETS; i++) {
        if (histogram->buckets[i].count == 0) {
            continue;
        }
        uint64_t low = (uint64_t)low_of(i);
        unsigned power = low < 2 ? 0 : 63u - (unsigned)__builtin_clzll(low);
        counts_out[power] += histogram->buckets[i].count;
        used = power + 1;
    }
    return used;
}
