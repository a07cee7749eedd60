/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of the rate that the system says: taken where they decide what the device does. */
#include "support/unit.h"

#include <math.h>

#include "base/cleanup.h"
#include "measured.h"

/* Of this machine, of which the system says a limit. */
static void measure_told(struct sim *sim, uint64_t most, struct wio_calibration *found)
{
    struct wio_calibrate_params params = {.max_bytes = most, .budget_s = 15};
    struct wio_error err;
    assert_ok(measured(sim, &params, found, &err), &err);
}

static void is_taken(const struct wio_calibration *found, double limit, double slice_s)
{
    const struct wio_calibrate_value *params = found->params;
    assert_true(params[WIO_PARAM_bw_dev].value == limit);
    assert_int_equal(params[WIO_PARAM_bw_dev].how, WIO_CALIBRATE_READ);
    assert_false(params[WIO_PARAM_bw_dev].is_better_with_bytes);
    assert_true(fabs(params[WIO_PARAM_slice].value - slice_s) < 1e-9);
    assert_true(fabs(params[WIO_PARAM_burst_size].value - limit * slice_s) < 1);
    assert_true(params[WIO_PARAM_bw_burst].value > limit);
}

static void is_left(const struct wio_calibration *found, double rate)
{
    is_near(found, WIO_PARAM_bw_dev, rate, 0.05);
    assert_true(found->params[WIO_PARAM_slice].value == 0);
}

/* However many bytes may be written: what the system says of a limit that was met, or of one that
 * could not be met, is exact. */
static void takes_the_limit_that_the_system_says(void **state)
{
    (void)state;
    static const double rates[] = {20 * MIB, 100 * MIB, 400 * MIB};
    static const uint64_t mosts[] = {17 << 20, 136 << 20, GIB};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(rates) * WIO_ARRAY_SIZE(mosts); i++) {
        double rate = rates[i % WIO_ARRAY_SIZE(rates)];
        struct sim sim = sliced(rate);
        struct wio_calibration found;
        sim.told_rate = rate;
        measure_told(&sim, mosts[i / WIO_ARRAY_SIZE(rates)], &found);
        is_taken(&found, rate, 0.1);
        if (rate < 200 * MIB) { /* small synchronous writes do not reach that at all */
            keeps_to_rate(&found, rate);
        }
    }
}

/* Linux may have been built with slices of a fiftieth of a second. Larger pieces than a slice would
 * be told at distances of their own: no slice of Linux lasts longer than a tenth. */
static void keeps_shorter_slices(void **state)
{
    (void)state;
    static const double slices[] = {0.02, 0.1, 0.2};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(slices); i++) {
        struct sim sim = sliced(100 * MIB);
        struct wio_calibration found;
        sim.slice_s = slices[i];
        sim.told_rate = sim.slice_rate;
        measure_told(&sim, GIB, &found);
        is_taken(&found, sim.told_rate, fmin(slices[i], 0.1));
    }
}

/* On a busy machine a row of writes waits for this and that: then it cannot be told. */
static void takes_the_limit_on_busy_machines(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct sim sim = sliced(20 * MIB);
        struct wio_calibration found;
        sim.seed = seed;
        sim.outliers = 0.1;
        sim.told_rate = sim.slice_rate;
        measure_told(&sim, 17 << 20, &found);
        is_taken(&found, sim.told_rate, 0.1);
    }
}

/* Few waits tell their rate by a tenth or so; but that there are slices says whose they are. */
static void takes_a_limit_of_which_slices_were_seen(void **state)
{
    (void)state;
    struct sim sim = sliced(90 * MIB);
    struct wio_calibration found;
    sim.told_rate = 100 * MIB;
    measure_told(&sim, GIB, &found);
    is_taken(&found, sim.told_rate, 0.1);
}

/* Nor is a device as fast as a limit that it never reaches: one that lets nothing pass at once, and
 * one that does. */
static void measures_what_a_limit_does_not_decide(void **state)
{
    (void)state;
    for (int is_buffered = 0; is_buffered <= 1; is_buffered++) {
        struct sim sim = sim_default();
        struct wio_calibration found;
        sim.params.bw_dev = is_buffered ? 90 * MIB : 50 * MIB;
        sim.params.bw_burst = is_buffered ? 1000 * MIB : 0;
        sim.params.burst_size = is_buffered ? 4 * MIB : 0;
        sim.told_rate = is_buffered ? 100 * MIB : 400 * MIB;
        measure_told(&sim, GIB, &found);
        is_left(&found, sim.params.bw_dev);
    }
}

/* One that is as fast as its limit, and lets nothing pass at once, shows no sign of it. */
static void takes_no_limit_that_nothing_shows(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibration found;
    sim.told_rate = 96 * MIB;
    measure_told(&sim, GIB, &found);
    is_left(&found, sim.params.bw_dev);
    assert_true(found.params[WIO_PARAM_bw_burst].value == 0);
}

/* Nor is one limited that goes on faster: the limit is that of another device, or of none. */
static void believes_no_limit_that_was_passed(void **state)
{
    (void)state;
    static const double limits[] = {20 * MIB, 80 * MIB};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(limits); i++) {
        struct sim sim = sim_default();
        struct wio_calibration found;
        sim.told_rate = limits[i];
        measure_told(&sim, GIB, &found);
        is_left(&found, sim.params.bw_dev);
    }
}

/* Of a limit by slices no more than a slice passes at once: more is a buffer of the device. */
static void leaves_a_buffer_alone(void **state)
{
    (void)state;
    struct wio_calibration found[2];
    for (int is_told = 0; is_told <= 1; is_told++) {
        struct sim sim = sim_default();
        sim.params.bw_burst = 1000 * MIB;
        sim.params.burst_size = 40 * MIB;
        sim.told_rate = is_told ? 100 * MIB : 0;
        measure_told(&sim, 4 * GIB, &found[is_told]);
        is_left(&found[is_told], sim.params.bw_dev);
    }
    assert_true(found[0].params[WIO_PARAM_burst_size].value > 11.5 * MIB);
    assert_true(found[1].params[WIO_PARAM_burst_size].value ==
                found[0].params[WIO_PARAM_burst_size].value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_limit_that_the_system_says),
        cmocka_unit_test(keeps_shorter_slices),
        cmocka_unit_test(takes_the_limit_on_busy_machines),
        cmocka_unit_test(takes_a_limit_of_which_slices_were_seen),
        cmocka_unit_test(measures_what_a_limit_does_not_decide),
        cmocka_unit_test(takes_no_limit_that_nothing_shows),
        cmocka_unit_test(believes_no_limit_that_was_passed),
        cmocka_unit_test(leaves_a_buffer_alone),
    };
    return WIO_RUN(tests);
}
