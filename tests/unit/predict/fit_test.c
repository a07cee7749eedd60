/* SPDX-License-Identifier: Apache-2.0 */
/* Costs that are fitted from what was seen: between sizes, outside of them, and their spread. */
#include "support/unit.h"

#include <math.h>

#include "predict/fit.h"

#define KIB 1024u
#define MS 1e-3

static struct wio_fit fit;

static void add(enum wio_model_method method, uint64_t bytes, double seconds, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(wio_fit_add(&fit, 1, method, bytes, seconds), WIO_OK);
    }
}

static double cost(enum wio_model_method method, uint64_t bytes, enum wio_fit_at at)
{
    return wio_fit_cost(&fit, 1, method, bytes, at);
}

static void assert_about(double seconds, double expected)
{
    if (!(fabs(seconds - expected) <= 1e-9 + 0.001 * expected)) {
        fail_msg("%.9f s, expected %.9f s", seconds, expected);
    }
}

static int end(void **state)
{
    (void)state;
    wio_fit_fini(&fit);
    return 0;
}

static void what_was_seen_costs_what_it_did(void **state)
{
    (void)state;
    add(WIO_MODEL_READ, 4 * KIB, 2 * MS, 10);
    for (enum wio_fit_at at = WIO_FIT_LOW; at < WIO_FIT_ATS; at++) {
        assert_about(cost(WIO_MODEL_READ, 4 * KIB, at), 2 * MS);
    }
}

static void between_sizes_a_line_is_drawn(void **state)
{
    (void)state;
    add(WIO_MODEL_READ, 4 * KIB, 2 * MS, 10);
    add(WIO_MODEL_READ, 1024 * KIB, 10 * MS, 10);
    assert_about(cost(WIO_MODEL_READ, 514 * KIB, WIO_FIT_MID), 6 * MS);
    assert_about(cost(WIO_MODEL_READ, 514 * KIB, WIO_FIT_HIGH), 6 * MS);
}

/* Of one size nothing tells how the cost rises: as much as one, or as many of them. */
static void one_size_tells_bounds_alone(void **state)
{
    (void)state;
    add(WIO_MODEL_FSYNC, 64 * KIB, 4 * MS, 10);
    assert_about(cost(WIO_MODEL_FSYNC, 1024 * KIB, WIO_FIT_LOW), 4 * MS);
    assert_about(cost(WIO_MODEL_FSYNC, 1024 * KIB, WIO_FIT_HIGH), 64 * MS);
    assert_true(isnan(cost(WIO_MODEL_FSYNC, 1024 * KIB, WIO_FIT_MID)));
    assert_about(cost(WIO_MODEL_FSYNC, 16 * KIB, WIO_FIT_LOW), 1 * MS);
    assert_about(cost(WIO_MODEL_FSYNC, 16 * KIB, WIO_FIT_HIGH), 4 * MS);
}

static void two_sizes_tell_how_the_cost_goes_on(void **state)
{
    (void)state;
    add(WIO_MODEL_WRITE, 4 * KIB, 2 * MS, 10);
    add(WIO_MODEL_WRITE, 104 * KIB, 4 * MS, 10);
    assert_about(cost(WIO_MODEL_WRITE, 204 * KIB, WIO_FIT_MID), 6 * MS);
    assert_about(cost(WIO_MODEL_WRITE, 2 * KIB, WIO_FIT_MID), 1.96 * MS);
}

static void a_line_stays_within_the_bounds(void **state)
{
    (void)state;
    add(WIO_MODEL_READ, 4 * KIB, 8 * MS, 10);
    add(WIO_MODEL_READ, 64 * KIB, 2 * MS, 10);
    assert_about(cost(WIO_MODEL_READ, 128 * KIB, WIO_FIT_MID), 2 * MS);
}

/* Quartiles, and the mean where few take very long. */
static void the_spread_is_told(void **state)
{
    (void)state;
    add(WIO_MODEL_READ, 4 * KIB, 1 * MS, 90);
    add(WIO_MODEL_READ, 4 * KIB, 91 * MS, 10);
    assert_about(cost(WIO_MODEL_READ, 4 * KIB, WIO_FIT_HIGH), 10 * MS);
    double mid = cost(WIO_MODEL_READ, 4 * KIB, WIO_FIT_MID);
    assert_true(mid >= 1 * MS && mid < 1.1 * MS);
}

static void a_single_one_has_a_wide_spread(void **state)
{
    (void)state;
    add(WIO_MODEL_READ, 4 * KIB, 3 * MS, 1);
    assert_about(cost(WIO_MODEL_READ, 4 * KIB, WIO_FIT_LOW), 2 * MS);
    assert_about(cost(WIO_MODEL_READ, 4 * KIB, WIO_FIT_HIGH), 4.5 * MS);
}

static void other_methods_and_file_systems_tell_nothing(void **state)
{
    (void)state;
    add(WIO_MODEL_READ, 4 * KIB, 3 * MS, 10);
    assert_true(isnan(cost(WIO_MODEL_WRITE, 4 * KIB, WIO_FIT_LOW)));
    assert_true(isnan(wio_fit_cost(&fit, 2, WIO_MODEL_READ, 4 * KIB, WIO_FIT_HIGH)));
}

/* A flush of nothing is no measure of a flush of something. */
static void nothing_written_bounds_from_below_alone(void **state)
{
    (void)state;
    add(WIO_MODEL_FSYNC, 0, 1 * MS, 10);
    assert_about(cost(WIO_MODEL_FSYNC, 0, WIO_FIT_MID), 1 * MS);
    assert_about(cost(WIO_MODEL_FSYNC, 4 * KIB, WIO_FIT_LOW), 1 * MS);
    assert_true(isnan(cost(WIO_MODEL_FSYNC, 4 * KIB, WIO_FIT_HIGH)));
}

static double assumed(enum wio_model_method method, uint64_t bytes)
{
    return wio_fit_assumed(&fit, 1, method, bytes);
}

/* One size tells what a request costs, and nothing about its bytes: those take 500 MB/s. */
static void bytes_of_larger_requests_are_assumed(void **state)
{
    (void)state;
    add(WIO_MODEL_WRITE, 4000, 1 * MS, 10);
    assert_true(fabs(assumed(WIO_MODEL_WRITE, 1004000) - 3 * MS) < 0.05 * MS);
    assert_true(isnan(assumed(WIO_MODEL_WRITE, 4000)));   /* it was seen */
    assert_true(isnan(assumed(WIO_MODEL_WRITE, 100)));    /* a smaller one may cost as much */
    assert_true(isnan(assumed(WIO_MODEL_READ, 1004000))); /* another method */
    assert_true(isnan(cost(WIO_MODEL_WRITE, 1004000, WIO_FIT_MID)));
}

/* Where that makes a larger one dearer than as many as were seen, it costs as those. */
static void what_is_assumed_stays_within_the_bounds(void **state)
{
    (void)state;
    add(WIO_MODEL_WRITE, 4000, 1e-6, 10);
    assert_about(assumed(WIO_MODEL_WRITE, 1000000), 250e-6);
}

/* What a flush of nothing takes is there however much is flushed. */
static void flushes_of_more_are_assumed(void **state)
{
    (void)state;
    add(WIO_MODEL_FSYNC, 0, 4 * MS, 10);
    assert_true(fabs(assumed(WIO_MODEL_FSYNC, 1000000) - 6 * MS) < 0.2 * MS);
}

static void nothing_is_assumed_of_large_ones_and_of_several_sizes(void **state)
{
    (void)state;
    add(WIO_MODEL_READ, 128 * KIB, 1 * MS, 10);
    assert_true(isnan(assumed(WIO_MODEL_READ, 1024 * KIB)));
    add(WIO_MODEL_WRITE, 4 * KIB, 1 * MS, 10);
    add(WIO_MODEL_WRITE, 64 * KIB, 2 * MS, 10);
    assert_true(isnan(assumed(WIO_MODEL_WRITE, 1024 * KIB)));
}

#define TEST(function) cmocka_unit_test_teardown(function, end)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(what_was_seen_costs_what_it_did),
        TEST(between_sizes_a_line_is_drawn),
        TEST(one_size_tells_bounds_alone),
        TEST(two_sizes_tell_how_the_cost_goes_on),
        TEST(a_line_stays_within_the_bounds),
        TEST(the_spread_is_told),
        TEST(a_single_one_has_a_wide_spread),
        TEST(other_methods_and_file_systems_tell_nothing),
        TEST(nothing_written_bounds_from_below_alone),
        TEST(bytes_of_larger_requests_are_assumed),
        TEST(flushes_of_more_are_assumed),
        TEST(what_is_assumed_stays_within_the_bounds),
        TEST(nothing_is_assumed_of_large_ones_and_of_several_sizes),
    };
    return WIO_RUN(tests);
}
