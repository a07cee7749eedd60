/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from writes of several sizes. */
#include "support/unit.h"

#include <math.h>

#include "calibrate/measure/measure_series.h"

#define MIB 1048576.0

static struct wio_series of_points(size_t levels, const double seconds[])
{
    struct wio_series series = {.levels = levels};
    for (size_t i = 0; i < levels; i++) {
        series.points[i] = (struct wio_estimate_point){MIB * (double)(1u << (2 * i)), seconds[i]};
    }
    return series;
}

static void a_line_says_what_a_byte_costs(void **state)
{
    (void)state;
    const double seconds[] = {0.011, 0.041, 0.161}; /* 1 ms, and 100 MiB/s */
    struct wio_series series = of_points(3, seconds);
    assert_true(fabs(wio_series_byte_s(&series) * MIB - 0.01) < 1e-9);
    assert_true(fabs(wio_series_call_s(&series, 0) - 0.001) < 1e-9);
}

/* A machine so busy that 16 MiB took as long as 1 MiB is no device of exabytes a second. */
static void a_flat_line_says_nothing(void **state)
{
    (void)state;
    static const double all_seconds[][3] = {
        {0.1, 0.1, 0.1}, {0.1, 0.1, 0.1 + 1e-15}, {0.1, 0.1001, 0.1002}, {0.2, 0.15, 0.1}};
    for (size_t i = 0; i < 4; i++) {
        struct wio_series series = of_points(3, all_seconds[i]);
        assert_true(wio_series_byte_s(&series) == all_seconds[i][2] / (16 * MIB));
    }
}

static void nothing_written_says_nothing(void **state)
{
    (void)state;
    struct wio_measure measure = {.largest = 1 << 20};
    struct wio_series series = wio_series_of(&measure, WIO_RIG_BASE, WIO_RIG_SYNC, 1);
    assert_true(series.levels > 0);
    wio_series_end(&measure, &series);
    assert_int_equal(series.levels, 0);
    assert_true(isnan(wio_series_byte_s(&series)));
    assert_true(isnan(wio_series_call_s(&series, 0)));
    const struct wio_series_bounds bounds = {0};
    assert_int_equal(wio_series_table(&series, &bounds).count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_says_what_a_byte_costs),
        cmocka_unit_test(a_flat_line_says_nothing),
        cmocka_unit_test(nothing_written_says_nothing),
    };
    return WIO_RUN(tests);
}
