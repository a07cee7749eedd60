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

/* Of so many writes of a size over a file, one after the other and from its beginning again,
 * seconds: by a model that is told what was found. */
static double predicted_s(const struct wio_calibration *found, enum wio_model_method method,
                          uint64_t size, size_t count)
{
    struct wio_model_params params = wio_calibration_params(found);
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_model *model;
    struct wio_model_op op = {.size = 1 << 20, .method = WIO_MODEL_DIRECT};
    struct wio_model_result result;
    struct wio_error err;
    double sum_s = 0;
    params.bs = 4096;
    params.bf = 4096;
    params.limit_hard = 2 * params.limit_bg;
    params.dirty_expire = 30;
    assert_ok(wio_model_create(WIO_MODEL_KERNEL, &params, &heap, &model, &err), &err);
    assert_ok(wio_model_step(model, &op, &result, &err), &err); /* what it goes over */
    op = (struct wio_model_op){.size = size, .method = method, .delay_s = 1};
    for (size_t i = 0; i < count; i++) {
        op.offset = size * i % (1 << 20);
        assert_ok(wio_model_step(model, &op, &result, &err), &err);
        sum_s += result.cost_s;
        op.delay_s = 0;
    }
    wio_model_destroy(model);
    return sum_s;
}

static void rises(const struct wio_model_table *table)
{
    for (size_t i = 1; i < table->count; i++) {
        if (table->points[i].seconds < table->points[i - 1].seconds) {
            fail_msg("%g s for %g bytes", table->points[i].seconds, table->points[i].bytes);
        }
    }
}

/* Whatever passes at once, what is written for two seconds takes two: no less, and no more where
 * slices were found (else tables have means of few writes, of which one waits for all). */
static void keeps_to_rate(const struct wio_calibration *found, double rate)
{
    static const enum wio_model_method methods[] = {WIO_MODEL_DIRECT, WIO_MODEL_SYNC,
                                                    WIO_MODEL_DIRECT_NOSYNC};
    bool has_slices = found->params[WIO_PARAM_slice].value > 0;
    for (size_t i = 0; i < WIO_ARRAY_SIZE(methods); i++) {
        for (uint64_t size = 65536; size <= 1 << 20; size *= 4) {
            double sum_s = predicted_s(found, methods[i], size, (size_t)(2 * rate / (double)size));
            if (sum_s < 1.75 || (has_slices && sum_s > 2.4)) {
                fail_msg("2 s of writes of %g bytes, kind %d, take %g s", (double)size,
                         (int)methods[i], sum_s);
            }
        }
    }
    rises(&found->direct_table);
    rises(&found->sync_table);
    rises(&found->append_table);
    rises(&found->direct_nosync_table);
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

/* A fast device behind a limit that counts by slices of 0.1 s. */
static struct sim sliced(double rate)
{
    struct sim sim = sim_default();
    sim.noise = 0.02;
    sim.params.bw_dev = 2 * GIB;
    sim.params.bw_ramdisk = 40e9;
    sim.slice_s = 0.1;
    sim.slice_rate = rate;
    return sim;
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
        struct wio_calibrate_params params = {.max_bytes = 4 * GIB, .budget_s = 60};
        struct wio_calibration found;
        struct wio_error err;
        sim.seed = seed;
        sim.noise = 0.02;
        sim.params.bw_dev = 40 * MIB;
        sim.params.bw_burst = 1000 * MIB;
        sim.params.burst_size = 4 * MIB;
        assert_ok(measured(&sim, &params, &found, &err), &err);
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
 * nobody could meet, is exact. */
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

/* On a busy machine a row of writes waits for this and that: then nobody could tell. */
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

/* Nor is one limited that goes on faster: the limit is that of another device, or of no one. */
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

/* What it lets pass at once it lets pass at once in each slice. */
static void finds_slices(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct sim sim = sliced(40 * MIB);
        struct wio_calibrate_params params = {.max_bytes = 4 * GIB, .budget_s = 60};
        struct wio_calibration found;
        struct wio_error err;
        sim.seed = seed;
        assert_ok(measured(&sim, &params, &found, &err), &err);
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
    for (double rate = 10 * MIB; rate < 200 * MIB; rate *= 1.2) {
        struct sim sim = sliced(rate);
        struct wio_calibrate_params params = {.max_bytes = 4 * GIB, .budget_s = 60};
        struct wio_calibration found;
        struct wio_error err;
        assert_ok(measured(&sim, &params, &found, &err), &err);
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
        cmocka_unit_test(takes_the_limit_that_the_system_says),
        cmocka_unit_test(keeps_shorter_slices),
        cmocka_unit_test(takes_the_limit_on_busy_machines),
        cmocka_unit_test(takes_a_limit_of_which_slices_were_seen),
        cmocka_unit_test(measures_what_a_limit_does_not_decide),
        cmocka_unit_test(takes_no_limit_that_nothing_shows),
        cmocka_unit_test(believes_no_limit_that_was_passed),
        cmocka_unit_test(leaves_a_buffer_alone),
        cmocka_unit_test(finds_slices),
        cmocka_unit_test(finds_slices_at_any_rate),
    };
    return WIO_RUN(tests);
}
