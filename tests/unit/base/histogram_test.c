/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <math.h>

#include "base/histogram.h"

static void quantiles_are_close(void **state)
{
    struct wio_histogram histogram = {0};
    (void)state;
    for (uint64_t ns = 1; ns <= 100000; ns++) {
        wio_histogram_add(&histogram, ns);
    }
    assert_true(fabs(wio_histogram_quantile(&histogram, 0.5) / 50000 - 1) < 0.07);
    assert_true(fabs(wio_histogram_quantile(&histogram, 0.99) / 99000 - 1) < 0.07);
    assert_int_equal(histogram.max, 100000);
    assert_true(wio_histogram_quantile(&histogram, 1.0) <= 100000);
}

static void quantiles_of_extremes(void **state)
{
    struct wio_histogram histogram = {0};
    struct wio_histogram other = {0};
    (void)state;
    assert_true(wio_histogram_quantile(&histogram, 0.99) == 0);
    wio_histogram_add(&histogram, 0);
    assert_true(wio_histogram_quantile(&histogram, 0.5) == 0);
    wio_histogram_add(&other, UINT64_MAX);
    wio_histogram_add(&other, UINT64_MAX);
    wio_histogram_merge(&histogram, &other);
    wio_histogram_merge(&histogram, &other);
    assert_int_equal(histogram.count, 5);
    assert_true(wio_histogram_quantile(&histogram, 1.0) > 1.7e19);
}

/* 4,097 and 5,000 share no bucket with 4,096 but one value at a time is told as it is. */
static void one_value_is_told_exactly(void **state)
{
    (void)state;
    for (uint64_t value = 1; value < UINT64_C(1) << 40; value = value * 3 + 1) {
        struct wio_histogram histogram = {0};
        wio_histogram_add(&histogram, value);
        wio_histogram_add(&histogram, value);
        assert_true(wio_histogram_quantile(&histogram, 0.5) == (double)value);
        assert_true(wio_histogram_quantile(&histogram, 0.99) == (double)value);
    }
}

static void every_value_has_a_bucket(void **state)
{
    unsigned last = 0;
    (void)state;
    for (unsigned power = 0; power < 64; power++) {
        uint64_t value = UINT64_C(1) << power;
        assert_true(wio_histogram_bucket_of(value - 1) >= last);
        last = wio_histogram_bucket_of(value);
        assert_true(last > wio_histogram_bucket_of(value - 1));
    }
    assert_int_equal(wio_histogram_bucket_of(UINT64_MAX), WIO_HISTOGRAM_BUCKETS - 1);
}

static void powers_add_up(void **state)
{
    struct wio_histogram histogram = {0};
    uint64_t counts[WIO_HISTOGRAM_POWERS];
    (void)state;
    assert_int_equal(wio_histogram_powers(&histogram, counts), 0);
    for (uint64_t value = 0; value < 40; value++) {
        wio_histogram_add(&histogram, value);
    }
    assert_int_equal(wio_histogram_powers(&histogram, counts), 6);
    assert_int_equal(counts[0], 2); /* 0 and 1 */
    assert_int_equal(counts[1], 2);
    assert_int_equal(counts[4], 16);
    assert_int_equal(counts[5], 8); /* 32 .. 39 */
    wio_histogram_add(&histogram, UINT64_MAX);
    assert_int_equal(wio_histogram_powers(&histogram, counts), 64);
    assert_int_equal(counts[63], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_close),
        cmocka_unit_test(quantiles_of_extremes),
        cmocka_unit_test(one_value_is_told_exactly),
        cmocka_unit_test(every_value_has_a_bucket),
        cmocka_unit_test(powers_add_up),
    };
    return WIO_RUN(tests);
}
