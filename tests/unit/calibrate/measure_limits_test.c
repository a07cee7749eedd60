/* SPDX-License-Identifier: Apache-2.0 */
/* Devices that do not go on as they begin: buffers, limits of the rate. */
#include "support/unit.h"

#include <math.h>

#include "base/cleanup.h"
#include "measured.h"

static void finds_a_buffer_in_the_device(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibrate_params params = {.max_bytes = 4 * GIB, .budget_s = 120};
    struct wio_calibration found;
    struct wio_error err;
    sim.noise = 0.02;
    sim.buffer_rate = 400 * MIB;
    sim.buffer_bytes = 500 * MIB; /* more than half of it filled by making the files */
    assert_ok(measured(&sim, &params, &found, &err), &err);
    is_near(&found, WIO_PARAM_bw_burst, 400 * MIB, 0.05);
    is_near(&found, WIO_PARAM_burst_size, 500 * MIB, 0.2); /* as exact as a write is large */
    is_near(&found, WIO_PARAM_bw_dev, sim.params.bw_dev, 0.1);
}

/* Eight of ten writes seem to cost nothing, and small ones hardly ever pay: with much to write and
 * with little. */
static void is_not_fooled_by_credit(void **state)
{
    (void)state;
    for (uint64_t most = GIB / 8; most <= 4 * GIB; most *= 2) {
        struct sim sim = sim_default();
        struct wio_calibrate_params params = {.max_bytes = most, .budget_s = 60};
        struct wio_calibration found;
        struct wio_error err;
        sim.noise = 0.02;
        sim.params.bw_dev = 50 * MIB;
        sim.credit_bytes = 5 * MIB;
        assert_ok(measured(&sim, &params, &found, &err), &err);
        is_near(&found, WIO_PARAM_bw_dev, sim.params.bw_dev, 0.15);
        keeps_to_rate(&found, sim.params.bw_dev);
    }
}

/* After each rest one slice is free. */
static void finds_the_rate_of_a_limit(void **state)
{
    (void)state;
    for (uint64_t most = GIB / 8; most <= GIB; most *= 2) {
        struct sim sim = sliced(50 * MIB);
        struct wio_calibrate_params params = {.max_bytes = most, .budget_s = 15};
        struct wio_calibration found;
        struct wio_error err;
        assert_ok(measured(&sim, &params, &found, &err), &err);
        is_near(&found, WIO_PARAM_bw_dev, sim.slice_rate, 0.03);
        keeps_to_rate(&found, sim.slice_rate);
        /* as far as half of the longest write goes, by powers of two */
        double seen = fmin(sim.slice_rate * sim.slice_s, (double)most / 128);
        double burst = found.params[WIO_PARAM_burst_size].value;
        assert_true(burst > 0.4 * seen && burst < 1.05 * sim.slice_rate * sim.slice_s);
        if (sim.slice_rate * sim.slice_s < (double)most / 64) {
            is_near(&found, WIO_PARAM_slice, sim.slice_s, 0.1);
        }
        assert_false(found.params[WIO_PARAM_bw_dev].is_better_with_bytes);
    }
}

/* All that is written otherwise fits into a slice. So small a file system that not even one slice
 * fits into what may be written: then that is said. */
static void sees_a_limit_on_small_devices(void **state)
{
    (void)state;
    static const double rates[] = {20 * MIB, 40 * MIB, 100 * MIB, 400 * MIB};
    for (uint64_t most = 17 << 20; most <= GIB / 2; most *= 5) {
        for (size_t i = 0; i < WIO_ARRAY_SIZE(rates); i++) {
            struct sim sim = sliced(rates[i]);
            struct wio_calibrate_params params = {.max_bytes = most, .budget_s = 60};
            struct wio_calibration found;
            struct wio_error err;
            assert_ok(measured(&sim, &params, &found, &err), &err);
            rises(&found.direct_table);
            rises(&found.sync_table);
            assert_true(found.written_bytes <= most);
            if (found.params[WIO_PARAM_bw_dev].is_better_with_bytes) {
                if (0.65 * (double)most > rates[i] * sim.slice_s) {
                    fail_msg("%g of %llu was not seen", rates[i], (unsigned long long)most);
                }
            } else {
                is_near(&found, WIO_PARAM_bw_dev, rates[i], 0.05);
            }
        }
    }
}

/* What passes at once after a rest, with noise and where now and then a write is late. */
static void finds_the_credit_of_a_limit(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct sim sim = sim_default();
        struct wio_calibration found;
        sim.seed = seed;
        sim.noise = 0.02;
        sim.params.bw_dev = 40 * MIB;
        sim.params.bw_burst = 1000 * MIB;
        sim.params.burst_size = 4 * MIB;
        calibrate_amply(&sim, &found);
        is_near(&found, WIO_PARAM_bw_dev, sim.params.bw_dev, 0.05);
        is_near(&found, WIO_PARAM_burst_size, sim.params.burst_size, 0.05);
        assert_true(found.params[WIO_PARAM_bw_burst].value > 4 * sim.params.bw_dev);
        assert_true(found.params[WIO_PARAM_slice].value == 0); /* it passes evenly */
    }
}

/* A write that waits for no slice takes what the device itself takes; waiting is the model's. Where
 * one of four waits, the middle one is among the slower of the others. */
static void passes_at_once(const struct sim *sim, const struct wio_model_table *table,
                           double copy_byte_s)
{
    double most = sim->slice_s * sim->slice_rate / 4;
    size_t seen = 0;
    for (; seen < table->count && table->points[seen].bytes <= most; seen++) {
        const struct wio_model_point *point = &table->points[seen];
        double wanted = sim->params.sc_sw + point->bytes * (1 / sim->params.bw_dev + copy_byte_s);
        if (fabs(point->seconds - wanted) > 0.15 * wanted) {
            fail_msg("%g s, not %g, for %g bytes", point->seconds, wanted, point->bytes);
        }
    }
    assert_in_range(seen, 4, table->count);
}

/* What it lets pass at once it lets pass at once in each slice. */
static void finds_slices(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct sim sim = sliced(40 * MIB);
        struct wio_calibration found;
        sim.seed = seed;
        calibrate_amply(&sim, &found);
        is_near(&found, WIO_PARAM_bw_dev, sim.slice_rate, 0.03);
        is_near(&found, WIO_PARAM_slice, sim.slice_s, 0.05);
        is_near(&found, WIO_PARAM_sc_sw, sim.params.sc_sw, 0.1);
        passes_at_once(&sim, &found.direct_table, 0);
        passes_at_once(&sim, &found.sync_table, 1 / sim.params.bw_ramdisk);
    }
}

/* Whatever part of what passes at once is found by powers of two. */
static void finds_slices_at_any_rate(void **state)
{
    (void)state;
    for (int i = 0; i < 17; i++) {
        double rate = 10 * MIB * pow(1.2, i); /* up to 185 MiB/s */
        struct sim sim = sliced(rate);
        struct wio_calibration found;
        calibrate_amply(&sim, &found);
        is_near(&found, WIO_PARAM_bw_dev, rate, 0.03);
        is_near(&found, WIO_PARAM_slice, sim.slice_s, 0.05);
        double burst = found.params[WIO_PARAM_burst_size].value;
        assert_true(burst > 0.4 * rate * sim.slice_s && burst < 1.05 * rate * sim.slice_s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_a_buffer_in_the_device),
        cmocka_unit_test(is_not_fooled_by_credit),
        cmocka_unit_test(finds_the_rate_of_a_limit),
        cmocka_unit_test(sees_a_limit_on_small_devices),
        cmocka_unit_test(finds_the_credit_of_a_limit),
        cmocka_unit_test(finds_slices),
        cmocka_unit_test(finds_slices_at_any_rate),
    };
    return WIO_RUN(tests);
}
