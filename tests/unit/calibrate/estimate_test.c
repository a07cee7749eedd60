/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <math.h>

#include "calibrate/measure/estimate.h"

#define COUNT 200

static double uniform(uint64_t *seed)
{
    return (double)(wio_test_random(seed) >> 11) * 0x1p-53;
}

/* Sum of twelve: mean 0, standard deviation 1. */
static double normal(uint64_t *seed)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        sum += uniform(seed);
    }
    return sum;
}

static void is_near(double got, double wanted, double relative)
{
    if (!(fabs(got - wanted) <= relative * fabs(wanted))) {
        fail_msg("%g is not within %g of %g", got, relative, wanted);
    }
}

static void knows_the_median(void **state)
{
    (void)state;
    double odd[] = {3, 1, 2};
    double even[] = {4, 1, 3, 2};
    double one[] = {7};
    assert_true(wio_estimate_median(odd, 3) == 2);
    assert_true(wio_estimate_median(even, 4) == 2.5);
    assert_true(wio_estimate_median(one, 1) == 7);
}

static void rejects_outliers(void **state)
{
    (void)state;
    uint64_t seed = 1;
    double values[COUNT];
    for (int i = 0; i < COUNT; i++) {
        values[i] = 5 + 0.1 * normal(&seed);
        if (i % 20 == 7) {
            values[i] *= 50;
        }
    }
    struct wio_estimate estimate = wio_estimate_center(values, COUNT);
    is_near(estimate.value, 5, 0.01);
    is_near(estimate.spread, 0.02, 0.25);
    assert_int_equal(estimate.kept, COUNT - COUNT / 20);
}

static void rejects_one_of_few(void **state)
{
    (void)state;
    double values[] = {2.0, 2.02, 30, 1.98, 2.0};
    struct wio_estimate estimate = wio_estimate_center(values, 5);
    is_near(estimate.value, 2, 0.001);
    assert_int_equal(estimate.kept, 4);
}

/* A device that lets nothing pass for three requests and then makes one wait. */
static void keeps_what_is_the_rule(void **state)
{
    (void)state;
    double values[COUNT];
    for (int i = 0; i < COUNT; i++) {
        values[i] = i % 4 == 3 ? 4.0 : 0.1;
    }
    struct wio_estimate estimate = wio_estimate_center(values, COUNT);
    is_near(estimate.value, (3 * 0.1 + 4.0) / 4, 1e-9);
    assert_int_equal(estimate.kept, COUNT);
}

static void lives_with_little(void **state)
{
    (void)state;
    double same[] = {3, 3, 3, 3};
    double none[] = {0, 0};
    assert_true(isnan(wio_estimate_center(same, 0).value));
    assert_true(wio_estimate_center(same, 1).value == 3);
    assert_true(wio_estimate_center(same, 4).value == 3);
    assert_true(wio_estimate_center(same, 4).spread == 0);
    assert_true(wio_estimate_center(none, 2).value == 0);
}

static void fits_a_line(void **state)
{
    (void)state;
    uint64_t seed = 2;
    struct wio_estimate_point points[12];
    struct wio_estimate_line line;
    for (int i = 0; i < 12; i++) {
        double bytes = 4096 << i;
        points[i] =
            (struct wio_estimate_point){bytes, (2e-4 + bytes / 1e8) * (1 + 0.01 * normal(&seed))};
    }
    assert_true(wio_estimate_line(points, 12, &line));
    is_near(line.seconds, 2e-4, 0.03);
    is_near(1 / line.seconds_per_byte, 1e8, 0.03);
}

static void needs_two_sizes(void **state)
{
    (void)state;
    const struct wio_estimate_point points[] = {{4096, 1e-3}, {4096, 2e-3}};
    struct wio_estimate_line line;
    assert_false(wio_estimate_line(points, 0, &line));
    assert_false(wio_estimate_line(points, 1, &line));
    assert_false(wio_estimate_line(points, 2, &line));
}

static void finds_where_a_buffer_is_full(void **state)
{
    (void)state;
    uint64_t seed = 3;
    double rates[40];
    struct wio_estimate_drop drop;
    for (int i = 0; i < 40; i++) {
        rates[i] = (i < 13 ? 5e8 : 2e8) * (1 + 0.03 * normal(&seed));
    }
    rates[5] /= 6; /* one that was disturbed */
    assert_true(wio_estimate_drop(rates, 40, &drop));
    assert_int_equal(drop.before, 13);
    is_near(drop.fast, 5e8, 0.05);
    is_near(drop.slow, 2e8, 0.05);
}

static void sees_no_buffer_in_noise(void **state)
{
    (void)state;
    struct wio_estimate_drop drop;
    for (uint64_t round = 0; round < 1000; round++) {
        uint64_t seed = round;
        double rates[16];
        for (int i = 0; i < 16; i++) {
            rates[i] = 5e8 * exp(0.2 * normal(&seed));
        }
        if (wio_estimate_drop(rates, 16, &drop)) {
            fail_msg("seed %d: a drop after %zu", (int)round, drop.before);
        }
    }
}

static void sees_no_buffer_in_few(void **state)
{
    (void)state;
    const double rates[] = {5e8, 5e8, 5e8, 5e8, 1e8, 1e8, 1e8};
    const double rising[] = {1e8, 1e8, 1e8, 1e8, 5e8, 5e8, 5e8, 5e8};
    struct wio_estimate_drop drop;
    assert_false(wio_estimate_drop(rates, 7, &drop));
    assert_false(wio_estimate_drop(rates, 0, &drop));
    assert_false(wio_estimate_drop(rising, 8, &drop));
}

/* Others that take the processor a third of the time are seen in the spread alone. */
static void the_middle_is_not_moved_by_others(void **state)
{
    (void)state;
    double values[] = {1, 5, 1.1, 4, 1, 0.9, 6, 1.1, 1};
    struct wio_estimate estimate = wio_estimate_middle(values, sizeof(values) / sizeof(values[0]));
    assert_true(estimate.value == 1.1);
    assert_true(estimate.spread > 0.5);
    assert_true(isnan(wio_estimate_middle(values, 0).value));
}

/* Lists that have to be filled now and then take twice as long; an interrupted pass takes ten
 * times.
 */
static void the_mean_has_what_happens_now_and_then(void **state)
{
    (void)state;
    double values[COUNT];
    for (int i = 0; i < COUNT; i++) {
        values[i] = i == 7 ? 30 : i % 32 == 31 ? 6 : 3;
    }
    struct wio_estimate estimate = wio_estimate_mean(values, COUNT);
    assert_int_equal(estimate.kept, COUNT - 1);
    is_near(estimate.value, 3 + 3.0 * (COUNT / 32) / (COUNT - 1), 1e-9);
    assert_true(isnan(wio_estimate_mean(values, 0).value));
    double none[] = {0, 0};
    assert_true(wio_estimate_mean(none, 2).value == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_the_median),
        cmocka_unit_test(rejects_outliers),
        cmocka_unit_test(rejects_one_of_few),
        cmocka_unit_test(keeps_what_is_the_rule),
        cmocka_unit_test(lives_with_little),
        cmocka_unit_test(fits_a_line),
        cmocka_unit_test(needs_two_sizes),
        cmocka_unit_test(finds_where_a_buffer_is_full),
        cmocka_unit_test(sees_no_buffer_in_noise),
        cmocka_unit_test(sees_no_buffer_in_few),
        cmocka_unit_test(the_middle_is_not_moved_by_others),
        cmocka_unit_test(the_mean_has_what_happens_now_and_then),
    };
    return WIO_RUN(tests);
}
