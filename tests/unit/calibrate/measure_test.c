/* SPDX-License-Identifier: Apache-2.0 */
/* The whole measurement on simulated machines, whose parameters it must find. */
#include "support/unit.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "measured.h"

/* What is to be found, and how exactly: in so many times the error that a test allows. */
static const struct {
    enum wio_param param;
    double times;
} found_params[] = {
    {WIO_PARAM_bw_mem, 1},   {WIO_PARAM_bw_ramdisk, 1}, {WIO_PARAM_bw_reduced, 1},
    {WIO_PARAM_bw_dev, 1},   {WIO_PARAM_bw_rdev, 1},    {WIO_PARAM_sc_w, 3},
    {WIO_PARAM_c_call, 3},   {WIO_PARAM_sc_sw, 3},      {WIO_PARAM_c_lib, 1},
    {WIO_PARAM_c_stream, 1}, {WIO_PARAM_c_new, 3},      {WIO_PARAM_c_folio, 3},
    {WIO_PARAM_c_clean, 5},  {WIO_PARAM_c_walk, 5},     {WIO_PARAM_bw_clean, 2},
    {WIO_PARAM_sc_r, 1},     {WIO_PARAM_bw_hit, 1},     {WIO_PARAM_c_flush, 1},
};
#define FOUND_PARAMS WIO_ARRAY_SIZE(found_params)

static double param_of(const struct wio_model_params *params, enum wio_param param)
{
    const double values[] = {
#define PARAM_VALUE(name, unit, fallback) [WIO_PARAM_##name] = params->name,
        WIO_MODEL_PARAM_LIST(PARAM_VALUE)
#undef PARAM_VALUE
    };
    return values[param];
}

static struct wio_calibration find(struct sim *sim)
{
    struct wio_calibrate_params params = {.max_bytes = 4 * GIB, .budget_s = 60};
    struct wio_calibration found;
    struct wio_error err;
    assert_ok(measured(sim, &params, &found, &err), &err);
    assert_true(found.written_bytes <= params.max_bytes);
    assert_true(found.elapsed_s < params.budget_s);
    return found;
}

static void finds_parameters(struct sim *sim, double relative)
{
    struct wio_calibration found = find(sim);
    for (size_t i = 0; i < FOUND_PARAMS; i++) {
        enum wio_param param = found_params[i].param;
        is_near(&found, param, param_of(&sim->params, param), found_params[i].times * relative);
    }
}

#define SEEDS 25

/* Of so many runs. A middle error at half of what is allowed is one that is within it in four of
 * five runs, if errors are normal ones (the middle is 0.67 deviations); twice of it is 2.7
 * deviations then, which one run of 140 exceeds. No seed has to be chosen for that. */
static void errors_are_within(double errors[SEEDS], double relative, const char *name)
{
    double middle = wio_estimate_median(errors, SEEDS); /* sorts */
    if (!(middle <= relative / 2 && errors[SEEDS - 1] <= 2 * relative)) {
        fail_msg("%s: the middle error is %g, the worst %g, not within half of %g and twice of it",
                 name, middle, errors[SEEDS - 1], relative);
    }
}

static void finds_them_without_noise(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    finds_parameters(&sim, 0.01);
}

static void finds_them_in_noise(void **state)
{
    (void)state;
    double errors[FOUND_PARAMS][SEEDS];
    for (size_t run = 0; run < SEEDS; run++) {
        struct sim sim = sim_default();
        sim.seed = run + 1;
        sim.noise = 0.05;
        sim.outliers = 0.02;
        struct wio_calibration found = find(&sim);
        for (size_t i = 0; i < FOUND_PARAMS; i++) {
            const struct wio_calibrate_value *got = &found.params[found_params[i].param];
            assert_int_equal(got->how, WIO_CALIBRATE_MEASURED);
            errors[i][run] = fabs(got->value / param_of(&sim.params, found_params[i].param) - 1);
        }
    }
    for (size_t i = 0; i < FOUND_PARAMS; i++) {
        errors_are_within(errors[i], 0.05 * found_params[i].times,
                          wio_param_name(found_params[i].param));
    }
}

/* From a slow card to a fast array. */
static void finds_them_on_any_device(void **state)
{
    (void)state;
    for (double rate = 4 * MIB; rate < 8e9; rate *= 5) {
        struct sim sim = sim_default();
        sim.noise = 0.02;
        sim.params.bw_dev = rate;
        sim.params.bw_rdev = 1.5 * rate;
        sim.params.bw_ramdisk = 8e9;
        sim.params.bw_reduced = 6e9;
        sim.params.bw_mem = 16e9;
        sim.params.sc_sw = 40e3 / rate;
        finds_parameters(&sim, 0.05);
    }
}

static void finds_what_a_seek_costs(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibrate_params params = {.max_bytes = GIB, .budget_s = 60};
    struct wio_calibration found;
    struct wio_error err;
    sim.noise = 0.03;
    sim.params.c_sk = 8e-3;
    assert_ok(measured(&sim, &params, &found, &err), &err);
    is_near(&found, WIO_PARAM_c_sk, 8e-3, 0.05);
}

static void finds_no_seek_where_there_is_none(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibrate_params params = {.max_bytes = GIB, .budget_s = 60};
    struct wio_calibration found;
    struct wio_error err;
    assert_ok(measured(&sim, &params, &found, &err), &err);
    assert_true(found.params[WIO_PARAM_c_sk].value == 0);
    assert_true(found.params[WIO_PARAM_bw_burst].value == 0);
}

/* Write-back needs no piece for each page; large buffers have less of them. */
static void knows_the_device_from_memory(void **state)
{
    (void)state;
    double rates[SEEDS];
    double costs[SEEDS];
    double tails[SEEDS];
    for (size_t run = 0; run < SEEDS; run++) {
        struct sim sim = sim_default();
        sim.seed = run + 1;
        sim.noise = 0.02;
        sim.params.bw_dev = 4e9;
        sim.params.bw_ramdisk = 40e9;
        sim.scattered_s = 1e-6;
        struct wio_calibration found = find(&sim);
        rates[run] = fabs(found.params[WIO_PARAM_bw_dev].value / sim.params.bw_dev - 1);
        const struct wio_model_point *last =
            &found.direct_table.points[found.direct_table.count - 1];
        double device_s = last[-1].bytes / sim.params.bw_dev;
        double scattered_s = last[-1].bytes / 4096 * sim.scattered_s;
        costs[run] = fabs(last[-1].seconds / (sim.params.sc_sw + device_s + scattered_s) - 1);
        double tail = (last->seconds - last[-1].seconds) / (last->bytes - last[-1].bytes);
        double ordinary = (device_s + scattered_s) / last[-1].bytes;
        tails[run] = fabs(tail / sqrt(ordinary / sim.params.bw_dev) - 1);
    }
    errors_are_within(rates, 0.03, "bw_dev");
    errors_are_within(costs, 0.03, "the longest write");
    errors_are_within(tails, 0.03, "what is longer");
}

static void does_without_direct_writes(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibrate_params params = {.max_bytes = GIB, .budget_s = 60};
    struct wio_calibration found;
    struct wio_error err;
    sim.refuses_direct = true;
    sim.params.bw_ramdisk = 40e9; /* its part in synchronous writes does not count then */
    assert_ok(measured(&sim, &params, &found, &err), &err);
    assert_false(found.is_direct);
    is_near(&found, WIO_PARAM_bw_dev, sim.params.bw_dev, 0.01);
    is_near(&found, WIO_PARAM_sc_sw, sim.params.sc_sw, 0.02);
}

static void knows_metadata(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibrate_params params = {.max_bytes = GIB, .budget_s = 60};
    struct wio_calibration found;
    struct wio_error err;
    sim.noise = 0.02;
    sim.outliers = 0.02;
    assert_ok(measured(&sim, &params, &found, &err), &err);
    for (size_t i = 0; i < WIO_RIG_META_COUNT; i++) {
        double wanted = 1e-5 * (double)(i + 1);
        if (i == WIO_RIG_META_link) {
            assert_true(isnan(found.meta[i].value));
            continue;
        }
        assert_true(fabs(found.meta[i].value - wanted) < 0.02 * wanted);
    }
}

/* So many of the largest write, where more is allowed: whatever the sizes up to it, and whether the
 * device is limited. Faster ones get a row besides that looks for a limit. */
static void writes_no_more_than_it_says(void **state)
{
    (void)state;
    for (int is_limited = 0; is_limited < 2; is_limited++) {
        for (double rate = MIB / 16; rate <= 1024 * MIB; rate *= 2) {
            struct sim sim = sim_default();
            struct wio_calibrate_params params = {.max_bytes = 64 * GIB, .budget_s = 600};
            struct wio_calibration found;
            struct wio_error err;
            sim.params.bw_ramdisk = 40e9;
            sim.params.bw_dev = is_limited ? 40 * rate : rate;
            sim.params.bw_rdev = rate;
            sim.params.sc_sw = 4096 / sim.params.bw_dev;
            sim.slice_s = is_limited ? 0.1 : 0;
            sim.slice_rate = rate;
            assert_ok(measured(&sim, &params, &found, &err), &err);
            const struct wio_model_table *table = &found.direct_table;
            double largest = table->points[table->count - 2].bytes; /* behind it: how it goes on */
            if ((double)found.written_bytes > WIO_MEASURE_MOST * largest) {
                fail_msg("%g bytes at %g bytes/s, %g of them at once", (double)found.written_bytes,
                         rate, largest);
            }
        }
    }
}

static void never_writes_more_than_allowed(void **state)
{
    (void)state;
    for (uint64_t most = WIO_MEASURE_BYTES_LEAST; most < 2 * GIB; most = most * 3 / 2) {
        struct sim sim = sim_default();
        struct wio_calibrate_params params = {.max_bytes = most, .budget_s = 60};
        struct wio_calibration found;
        struct wio_error err;
        assert_ok(measured(&sim, &params, &found, &err), &err);
        assert_true(sim.written_bytes <= most);
        assert_int_equal(sim.written_bytes, found.written_bytes);
        is_near(&found, WIO_PARAM_bw_dev, sim.params.bw_dev, 0.02);
    }
}

/* However slow the device, and whatever the page cache allows. */
static void keeps_to_its_time(void **state)
{
    (void)state;
    for (double rate = 0.25 * MIB; rate < 64 * MIB; rate *= 4) {
        struct sim sim = sim_default();
        struct wio_calibrate_params params = {.max_bytes = 4 * GIB, .budget_s = 60};
        struct wio_calibration found;
        struct wio_error err;
        sim.params.bw_dev = rate;
        sim.params.bw_rdev = rate;
        sim.params.sc_sw = 0.01;
        assert_ok(measured(&sim, &params, &found, &err), &err);
        if (found.elapsed_s > 1.2 * params.budget_s) {
            fail_msg("%g s at %g bytes/s", found.elapsed_s, rate);
        }
    }
}

/* Write-back that is over at once cannot be written beside. */
static void says_when_it_assumes(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibrate_params params = {.max_bytes = WIO_MEASURE_BYTES_LEAST, .budget_s = 60};
    struct wio_calibration found;
    struct wio_error err;
    sim.params.bw_dev = 8e9;
    sim.params.sc_sw = 1e-5;
    assert_ok(measured(&sim, &params, &found, &err), &err);
    assert_int_equal(found.params[WIO_PARAM_bw_reduced].how, WIO_CALIBRATE_ASSUMED);
    assert_true(found.params[WIO_PARAM_bw_reduced].value ==
                found.params[WIO_PARAM_bw_ramdisk].value);
}

static void tells_errors(void **state)
{
    (void)state;
    for (uint64_t i = 1; i < 500; i += 7) {
        struct sim sim = sim_default();
        struct wio_calibrate_params params = {.max_bytes = GIB, .budget_s = 60};
        struct wio_calibration found;
        struct wio_error err;
        sim.fail_write = i;
        assert_status(measured(&sim, &params, &found, &err), WIO_ERR_IO, &err);
        assert_string_equal(err.message, "no space left");
    }
}

static bool countdown(void *arg)
{
    unsigned *left = arg;
    return (*left)-- == 0;
}

static void count_progress(void *arg, uint64_t done, uint64_t total, const char *unit)
{
    uint64_t *last = arg;
    (void)unit;
    assert_true(done >= *last && done <= total);
    *last = done;
}

static void can_be_cancelled(void **state)
{
    (void)state;
    for (unsigned after = 0; after < 300; after += 23) {
        struct sim sim = sim_default();
        unsigned left = after;
        uint64_t progress = 0;
        struct wio_calibrate_params params = {.max_bytes = GIB,
                                              .budget_s = 60,
                                              .is_cancelled = countdown,
                                              .cancel_arg = &left,
                                              .progress = count_progress,
                                              .progress_arg = &progress};
        struct wio_calibration found;
        struct wio_error err;
        assert_status(measured(&sim, &params, &found, &err), WIO_ERR_BUSY, &err);
        assert_non_null(strstr(err.message, "interrupted"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_them_without_noise),
        cmocka_unit_test(finds_them_in_noise),
        cmocka_unit_test(finds_them_on_any_device),
        cmocka_unit_test(finds_what_a_seek_costs),
        cmocka_unit_test(finds_no_seek_where_there_is_none),
        cmocka_unit_test(knows_the_device_from_memory),
        cmocka_unit_test(does_without_direct_writes),
        cmocka_unit_test(knows_metadata),
        cmocka_unit_test(writes_no_more_than_it_says),
        cmocka_unit_test(never_writes_more_than_allowed),
        cmocka_unit_test(keeps_to_its_time),
        cmocka_unit_test(says_when_it_assumes),
        cmocka_unit_test(tells_errors),
        cmocka_unit_test(can_be_cancelled),
    };
    return WIO_RUN(tests);
}
