/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A histogram of times or sizes in bounded memory: 8 buckets for each power of two, each with the
 * sum of what is in it, so that a value that occurs again and again (4,096 bytes) is told exactly
 * and any other one is off by at most 1/8.
 *
 *     struct wio_histogram *histogram = calloc(1, sizeof(*histogram));   // 8 KiB
 *     wio_histogram_add(histogram, ns);
 *     double median = wio_histogram_quantile(histogram, 0.5);
 */
#ifndef WIO_BASE_HISTOGRAM_H
#define WIO_BASE_HISTOGRAM_H

#include <stdint.h>

#define WIO_HISTOGRAM_BITS 3u
#define WIO_HISTOGRAM_STEPS (1u << WIO_HISTOGRAM_BITS)
#define WIO_HISTOGRAM_BUCKETS ((65u - WIO_HISTOGRAM_BITS) * WIO_HISTOGRAM_STEPS)
#define WIO_HISTOGRAM_POWERS 65u

struct wio_histogram_bucket {
    uint64_t count;
    uint64_t sum; /* may wrap: its mean is held within the bucket */
};

/* Zero-initialise. */
struct wio_histogram {
    struct wio_histogram_bucket buckets[WIO_HISTOGRAM_BUCKETS];
    uint64_t count;
    uint64_t max;
};

static inline unsigned wio_histogram_bucket_of(uint64_t value)
{
    if (value < WIO_HISTOGRAM_STEPS) {
        return (unsigned)value;
    }
    unsigned power = 63u - (unsigned)__builtin_clzll(value);
    unsigned step = (unsigned)(value >> (power - WIO_HISTOGRAM_BITS)) & (WIO_HISTOGRAM_STEPS - 1);
    return (power - WIO_HISTOGRAM_BITS + 1) * WIO_HISTOGRAM_STEPS + step;
}

static inline void wio_histogram_add(struct wio_histogram *histogram, uint64_t value)
{
    struct wio_histogram_bucket *bucket = &histogram->buckets[wio_histogram_bucket_of(value)];

    bucket->count++;
    bucket->sum += value;
    histogram->count++;
    histogram->max = value > histogram->max ? value : histogram->max;
}

void wio_histogram_merge(struct wio_histogram *histogram, const struct wio_histogram *other);

/* The value that `share` (0 .. 1) of all do not exceed; 0 where there are none. */
double wio_histogram_quantile(const struct wio_histogram *histogram, double share);

/* How many lie in each power of two: counts_out[0] = 0 and 1, [1] = 2, 3, [2] = 4 .. 7, .. Gives
 * the number of those up to the last that is not 0. */
unsigned wio_histogram_powers(const struct wio_histogram *histogram,
                              uint64_t counts_out[WIO_HISTOGRAM_POWERS]);

#endif
