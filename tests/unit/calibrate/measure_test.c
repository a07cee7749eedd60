/* SPDX-License-Identifier: Apache-2.0 */
/* The whole measurement on simulated machines, whose parameters it must find. */
#include "support/unit.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "calibrate/measure.h"
#include "sim.h"

#define MIB 1048576.0
#define GIB (UINT64_C(1) << 30)

static enum wio_status measure(struct sim *sim, struct wio_calibrate_params *params,
                               struct wio_calibration *calibration, struct wio_error *err)
{
    *err = (struct wio_error)WIO_ERROR_INIT;
    *calibration = wio_calibration_unknown();
    calibration->params[WIO_PARAM_limit_bg].value = sim->params.limit_bg;
    calibration->params[WIO_PARAM_cache_size].value = sim->params.cache_size;
    struct wio_rig rig = sim_rig(sim);
    params->dir = "simulated";
    enum wio_status status = wio_measure(&rig, params, sim->dirty_bytes, calibration, err);
    sim_fini(sim);
    return status;
}

static void is_near(const struct wio_calibration *calibration, enum wio_param param, double wanted,
                    double relative)
{
    const struct wio_calibrate_value *got = &calibration->params[param];
    if (!(fabs(got->value - wanted) <= relative * wanted)) {
        fail_msg("%s is %g, not within %g of %g", wio_param_name(param), got->value, relative,
                 wanted);
    }
    assert_int_equal(got->how, WIO_CALIBRATE_MEASURED);
}

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
    {WIO_PARAM_sc_r, 1},     {WIO_PARAM_bw_hit, 1},
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
    assert_ok(measure(sim, &params, &found, &err), &err);
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
    assert_ok(measure(&sim, &params, &found, &err), &err);
    is_near(&found, WIO_PARAM_c_sk, 8e-3, 0.05);
}

static void finds_no_seek_where_there_is_none(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibrate_params params = {.max_bytes = GIB, .budget_s = 60};
    struct wio_calibration found;
    struct wio_error err;
    assert_ok(measure(&sim, &params, &found, &err), &err);
    assert_true(found.params[WIO_PARAM_c_sk].value == 0);
    assert_true(found.params[WIO_PARAM_bw_burst].value == 0);
}

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
    assert_ok(measure(&sim, &params, &found, &err), &err);
    is_near(&found, WIO_PARAM_bw_burst, 400 * MIB, 0.05);
    is_near(&found, WIO_PARAM_burst_size, 500 * MIB, 0.2); /* as exact as a write is large */
    is_near(&found, WIO_PARAM_bw_dev, sim.params.bw_dev, 0.1);
}

static void is_no_faster(const struct wio_model_table *table, double rate)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct wio_model_point *point = &table->points[i];
        if (point->bytes > rate * point->seconds) {
            fail_msg("%g bytes in %g s", point->bytes, point->seconds);
        }
    }
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
        assert_ok(measure(&sim, &params, &found, &err), &err);
        is_near(&found, WIO_PARAM_bw_dev, sim.params.bw_dev, 0.15);
        for (size_t i = 0; i < found.direct_table.count; i++) {
            const struct wio_model_point *point = &found.direct_table.points[i];
            assert_true(point->seconds > 0.8 * point->bytes / sim.params.bw_dev);
        }
    }
}

/* A limit that counts by slices of 0.1 s: after each rest one slice is free. */
static void finds_the_rate_of_a_limit(void **state)
{
    (void)state;
    for (uint64_t most = GIB / 8; most <= GIB; most *= 2) {
        struct sim sim = sim_default();
        struct wio_calibrate_params params = {.max_bytes = most, .budget_s = 15};
        struct wio_calibration found;
        struct wio_error err;
        sim.noise = 0.02;
        sim.params.bw_dev = 2 * GIB;
        sim.params.bw_ramdisk = 40e9;
        sim.slice_s = 0.1;
        sim.slice_rate = 50 * MIB;
        assert_ok(measure(&sim, &params, &found, &err), &err);
        is_near(&found, WIO_PARAM_bw_dev, sim.slice_rate, 0.03);
        is_no_faster(&found.direct_table, sim.slice_rate * 1.03);
        is_no_faster(&found.sync_table, sim.slice_rate * 1.03);
        is_no_faster(&found.append_table, sim.slice_rate * 1.03);
        is_no_faster(&found.direct_nosync_table, sim.slice_rate * 1.03);
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
            struct sim sim = sim_default();
            struct wio_calibrate_params params = {.max_bytes = most, .budget_s = 60};
            struct wio_calibration found;
            struct wio_error err;
            sim.noise = 0.02;
            sim.params.bw_dev = 2 * GIB;
            sim.params.bw_ramdisk = 40e9;
            sim.slice_s = 0.1;
            sim.slice_rate = rates[i];
            assert_ok(measure(&sim, &params, &found, &err), &err);
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

static void finds_what_a_commit_writes(void **state)
{
    (void)state;
    for (int counts = 0; counts <= 1; counts++) {
        struct sim sim = sim_default();
        struct wio_calibrate_params params = {.max_bytes = GIB, .budget_s = 60};
        struct wio_calibration found;
        struct wio_error err;
        sim.counts_bytes = counts != 0;
        sim.params.commit_bytes = 24576;
        assert_ok(measure(&sim, &params, &found, &err), &err);
        assert_true(found.params[WIO_PARAM_commit_bytes].value == (counts != 0 ? 24576 : 0));
        assert_int_equal(found.params[WIO_PARAM_commit_bytes].how,
                         counts != 0 ? WIO_CALIBRATE_MEASURED : WIO_CALIBRATE_ASSUMED);
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
        assert_ok(measure(&sim, &params, &found, &err), &err);
        is_near(&found, WIO_PARAM_bw_dev, sim.params.bw_dev, 0.05);
        is_near(&found, WIO_PARAM_burst_size, sim.params.burst_size, 0.05);
        assert_true(found.params[WIO_PARAM_bw_burst].value > 4 * sim.params.bw_dev);
        assert_true(found.params[WIO_PARAM_slice].value == 0); /* it passes evenly */
    }
}

/* What it lets pass at once it lets pass at once in each slice. */
static void finds_slices(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct sim sim = sim_default();
        struct wio_calibrate_params params = {.max_bytes = 4 * GIB, .budget_s = 60};
        struct wio_calibration found;
        struct wio_error err;
        sim.seed = seed;
        sim.noise = 0.02;
        sim.params.bw_dev = 2 * GIB;
        sim.params.bw_ramdisk = 40e9;
        sim.slice_s = 0.1;
        sim.slice_rate = 40 * MIB;
        assert_ok(measure(&sim, &params, &found, &err), &err);
        is_near(&found, WIO_PARAM_bw_dev, sim.slice_rate, 0.03);
        is_near(&found, WIO_PARAM_slice, sim.slice_s, 0.05);
    }
}

/* Whatever part of what passes at once is found by powers of two. */
static void finds_slices_at_any_rate(void **state)
{
    (void)state;
    for (double rate = 10 * MIB; rate < 200 * MIB; rate *= 1.2) {
        struct sim sim = sim_default();
        struct wio_calibrate_params params = {.max_bytes = 4 * GIB, .budget_s = 60};
        struct wio_calibration found;
        struct wio_error err;
        sim.noise = 0.02;
        sim.params.bw_dev = 2 * GIB;
        sim.params.bw_ramdisk = 40e9;
        sim.slice_s = 0.1;
        sim.slice_rate = rate;
        assert_ok(measure(&sim, &params, &found, &err), &err);
        is_near(&found, WIO_PARAM_bw_dev, rate, 0.03);
        is_near(&found, WIO_PARAM_slice, sim.slice_s, 0.05);
        double burst = found.params[WIO_PARAM_burst_size].value;
        assert_true(burst > 0.4 * rate * sim.slice_s && burst < 1.05 * rate * sim.slice_s);
    }
}

/* Appending costs what it costs on a device that was in use for long. */
static void looks_past_new_blocks(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibrate_params params = {.max_bytes = 4 * GIB, .budget_s = 60};
    struct wio_calibration found;
    struct wio_error err;
    sim.noise = 0.02;
    sim.params.bw_dev = 1e9;
    sim.params.bw_ramdisk = 40e9;
    sim.thin_times = 5;
    assert_ok(measure(&sim, &params, &found, &err), &err);
    for (size_t i = 0; i < found.append_table.count; i++) {
        const struct wio_model_point *point = &found.append_table.points[i];
        double wanted = sim.params.sc_sw + point->bytes / sim.params.bw_dev;
        if (fabs(point->seconds - wanted) > 0.06 * wanted) {
            fail_msg("%g s, not %g, for %g bytes", point->seconds, wanted, point->bytes);
        }
    }
}

/* Single writes differ as much as they did here, whatever their size. */
static void tells_how_writes_differ(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibrate_params params = {.max_bytes = 4 * GIB, .budget_s = 60};
    struct wio_calibration found;
    struct wio_error err;
    sim.noise = 0.1;
    assert_true(isnan(wio_calibration_table_spread(
        &(struct wio_calibration){.direct_table.count = 0}, WIO_CALIBRATE_DIRECT)));
    assert_ok(measure(&sim, &params, &found, &err), &err);
    for (int i = 0; i < WIO_CALIBRATE_NEW; i++) {
        enum wio_calibrate_table table = (enum wio_calibrate_table)i;
        size_t behind = wio_calibration_table(&found, table)->count - 1;
        double spread = wio_calibration_table_spread(&found, table);
        assert_true(spread > 0.07 && spread < 0.13);
        assert_true(fabs(found.table_spread[table][0] - 0.1) < 0.03);
        assert_true(isnan(found.table_spread[table][behind]));
    }
    for (int i = WIO_CALIBRATE_NEW; i < WIO_CALIBRATE_TABLE_COUNT; i++) { /* nothing is behind */
        enum wio_calibrate_table table = (enum wio_calibrate_table)i;
        double spread = wio_calibration_table_spread(&found, table);
        assert_true(spread > 0.07 && spread < 0.13);
        for (size_t point = 0; point < wio_calibration_table(&found, table)->count; point++) {
            assert_true(fabs(found.table_spread[table][point] - 0.1) < 0.05);
        }
    }
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

static void is_direct_cost(const struct wio_calibration *found, const struct sim *sim, size_t at)
{
    const struct wio_model_point *point = &found->direct_table.points[at];
    double wanted = sim->params.sc_sw + point->bytes / sim->params.bw_dev +
                    point->bytes / 4096 * sim->scattered_s;
    if (fabs(point->seconds - wanted) > 0.03 * wanted) {
        fail_msg("%g s, not %g, for %g bytes", point->seconds, wanted, point->bytes);
    }
}

/* One buffer may lie in one piece by chance. */
static void is_not_fooled_by_one_buffer(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibrate_params params = {.max_bytes = 4 * GIB, .budget_s = 60};
    struct wio_calibration found;
    struct wio_error err;
    sim.params.bw_dev = 4e9;
    sim.params.bw_ramdisk = 40e9;
    sim.scattered_s = 1e-6;
    sim.is_whole_at_first = true;
    assert_ok(measure(&sim, &params, &found, &err), &err);
    for (size_t i = 0; i + 2 < found.direct_table.count; i++) {
        is_direct_cost(&found, &sim, i);
    }
}

/* Writes of one size come in a row, as a program's do. */
static void does_not_count_the_first_of_a_row(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibrate_params params = {.max_bytes = 4 * GIB, .budget_s = 60};
    struct wio_calibration found;
    struct wio_error err;
    sim.params.bw_dev = 2e9;
    sim.params.bw_ramdisk = 40e9;
    sim.cold_s = 1e-3;
    assert_ok(measure(&sim, &params, &found, &err), &err);
    for (size_t i = 0; found.direct_table.points[i].bytes <= 4 * MIB; i++) {
        is_direct_cost(&found, &sim, i);
    }
}

/* A page in a large folio, and one alone. */
static void finds_what_folios_cost(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibrate_params params = {.max_bytes = 4 * GIB, .budget_s = 60};
    struct wio_calibration found;
    struct wio_error err;
    sim.noise = 0.02;
    sim.params.c_page_sync = 1e-7;
    sim.params.c_forget = 3e-7;
    sim.params.bw_dev = 1e9;
    assert_ok(measure(&sim, &params, &found, &err), &err);
    is_near(&found, WIO_PARAM_c_page_sync, sim.params.c_page_sync, 0.1);
    is_near(&found, WIO_PARAM_c_forget, sim.params.c_forget, 0.1);
    double wanted = sim.params.sc_sw + 4096 / sim.params.bw_dev + 4096 / sim.params.bw_ramdisk;
    assert_true(fabs(found.sync_table.points[0].seconds - wanted) < 0.02 * wanted);
}

static void point_is(const struct wio_model_table *table, size_t i, double wanted)
{
    double got = table->points[i].seconds;
    if (!(fabs(got - wanted) <= 0.02 * wanted + 2e-8)) {
        fail_msg("%g s for %g bytes, not %g", got, table->points[i].bytes, wanted);
    }
}

/* Of each size in folios of its own. */
static void finds_what_pieces_of_memory_take(void **state)
{
    (void)state;
    static const double sizes[] = {64, 4096, 65536, 262144, MIB};
    struct sim sim = sim_default();
    struct wio_calibrate_params params = {.max_bytes = 4 * GIB, .budget_s = 60};
    struct wio_calibration found;
    struct wio_error err;
    struct wio_model_params wanted = sim.params;
    sim.noise = 0.02;
    assert_ok(measure(&sim, &params, &found, &err), &err);
    assert_int_equal(found.new_table.count, WIO_ARRAY_SIZE(sizes));
    for (size_t i = 0; i < WIO_ARRAY_SIZE(sizes); i++) {
        assert_true(found.hit_table.points[i].bytes == sizes[i]);
        double made = fmax(sizes[i], 4096); /* a page is made as a whole */
        point_is(&found.new_table, i, wanted.c_folio + made / wanted.bw_ramdisk);
        double clean_s = wanted.c_clean + fmax(sizes[i], 4096) / wanted.bw_clean;
        point_is(&found.clean_table, i, i > 0 ? clean_s : clean_s / 64);
        point_is(&found.dirty_table, i, sizes[i] / wanted.bw_mem);
        point_is(&found.hit_table, i, sizes[i] / wanted.bw_hit);
    }
}

static void has_no_tables_of_memory(const struct wio_calibration *found)
{
    for (int i = WIO_CALIBRATE_NEW; i < WIO_CALIBRATE_TABLE_COUNT; i++) {
        enum wio_calibrate_table table = (enum wio_calibrate_table)i;
        assert_int_equal(wio_calibration_table(found, table)->count, 0);
        assert_true(isnan(wio_calibration_table_spread(found, table)));
    }
}

/* What little was measured says nothing of other sizes, the parameters do: tables of all sizes that
 * differ in what a page takes, or none. */
static void leaves_out_tables_of_few_pieces(void **state)
{
    (void)state;
    for (uint64_t most = WIO_MEASURE_BYTES_LEAST; most <= 2 * GIB; most *= 2) {
        struct sim sim = sim_default();
        struct wio_calibrate_params params = {.max_bytes = most, .budget_s = 60};
        struct wio_calibration found;
        struct wio_error err;
        struct wio_model_params wanted = sim.params;
        assert_ok(measure(&sim, &params, &found, &err), &err);
        if (found.new_table.count == 0) {
            has_no_tables_of_memory(&found);
            continue;
        }
        assert_true(found.new_table.count >= 4);
        for (size_t i = 0; i < found.new_table.count; i++) {
            double bytes = found.new_table.points[i].bytes;
            point_is(&found.new_table, i, wanted.c_folio + fmax(bytes, 4096) / wanted.bw_ramdisk);
            point_is(&found.hit_table, i, bytes / wanted.bw_hit);
        }
    }
}

/* Nothing more may be dirty. */
static void leaves_out_tables_where_the_cache_is_full(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibrate_params params = {.max_bytes = 4 * GIB, .budget_s = 60};
    struct wio_calibration found;
    struct wio_error err;
    sim.dirty_bytes = (uint64_t)sim.params.limit_bg;
    assert_ok(measure(&sim, &params, &found, &err), &err);
    has_no_tables_of_memory(&found);
}

/* Of processors' caches that hold a piece, and of such that do not. */
static void finds_what_no_cache_holds(void **state)
{
    (void)state;
    static const double sizes[] = {64, 4096, 65536, 262144, MIB};
    for (double cache = MIB / 4; cache <= 4 * MIB; cache *= 2) {
        struct sim sim = sim_default();
        struct wio_calibrate_params params = {.max_bytes = 4 * GIB, .budget_s = 60};
        struct wio_calibration found;
        struct wio_error err;
        sim.params.bw_far = 10e9;
        sim.params.cache_size = cache;
        struct wio_model_params wanted = sim.params;
        assert_ok(measure(&sim, &params, &found, &err), &err);
        is_near(&found, WIO_PARAM_bw_far, wanted.bw_far, 0.02);
        is_near(&found, WIO_PARAM_bw_hit, wanted.bw_hit, 0.02);
        is_near(&found, WIO_PARAM_bw_ramdisk, wanted.bw_ramdisk, 0.02);
        is_near(&found, WIO_PARAM_bw_reduced, wanted.bw_reduced, 0.02);
        is_near(&found, WIO_PARAM_bw_clean, wanted.bw_clean, 0.02);
        for (size_t i = 0; i < WIO_ARRAY_SIZE(sizes); i++) {
            point_is(&found.hit_table, i, sizes[i] / wanted.bw_hit);
            point_is(&found.dirty_table, i, sizes[i] / wanted.bw_mem);
        }
    }
}

/* It is in the mean of a call, and in no difference of what usual calls take. */
static void keeps_apart_what_happens_now_and_then(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibrate_params params = {.max_bytes = 4 * GIB, .budget_s = 60};
    struct wio_calibration found;
    struct wio_error err;
    sim.refills = 0.1;
    assert_ok(measure(&sim, &params, &found, &err), &err);
    is_near(&found, WIO_PARAM_c_call, 1.2 * sim.params.c_call, 0.05);
    is_near(&found, WIO_PARAM_c_clean, sim.params.c_clean, 0.05);
    is_near(&found, WIO_PARAM_c_walk, sim.params.c_walk, 0.05);
}

/* Noise alone makes no device thin. */
static void does_not_look_past_noise(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibrate_params params = {.max_bytes = 4 * GIB, .budget_s = 60};
    struct wio_calibration found;
    struct wio_error err;
    sim.noise = 0.2;
    assert_ok(measure(&sim, &params, &found, &err), &err);
    const struct wio_model_point *first = &found.append_table.points[0];
    double wanted =
        sim.params.sc_sw + first->bytes / sim.params.bw_dev + first->bytes / sim.params.bw_ramdisk;
    assert_true(fabs(first->seconds - wanted) < 0.06 * wanted);
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
    assert_ok(measure(&sim, &params, &found, &err), &err);
    assert_false(found.is_direct);
    is_near(&found, WIO_PARAM_bw_dev, sim.params.bw_dev, 0.01);
    is_near(&found, WIO_PARAM_sc_sw, sim.params.sc_sw, 0.02);
}

/* Tables say what the simulated machine takes, between and behind the sizes too. */
static void tables_predict(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibrate_params params = {.max_bytes = 4 * GIB, .budget_s = 60};
    struct wio_calibration found;
    struct wio_error err;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    sim.noise = 0.02;
    assert_ok(measure(&sim, &params, &found, &err), &err);
    found.params[WIO_PARAM_bs].value = 4096;
    found.params[WIO_PARAM_bf].value = 4096;
    found.params[WIO_PARAM_limit_hard].value = sim.params.limit_hard;
    found.params[WIO_PARAM_dirty_expire].value = 30;
    const struct wio_model_params made = wio_calibration_params(&found);
    for (uint64_t size = 4096; size <= GIB; size = size * 3 / 4096 * 4096) {
        const struct wio_model_op ops[] = {
            {.size = size, .method = WIO_MODEL_DIRECT},
            {.size = size, .method = WIO_MODEL_SYNC},
            {.size = size, .offset = size, .method = WIO_MODEL_SYNC},
            {.size = size, .offset = size, .method = WIO_MODEL_DIRECT_NOSYNC},
        };
        struct wio_model *wanted;
        struct wio_model *got;
        assert_ok(wio_model_create(WIO_MODEL_KERNEL, &sim.params, &heap, &wanted, &err), &err);
        assert_ok(wio_model_create(WIO_MODEL_KERNEL, &made, &heap, &got, &err), &err);
        for (size_t i = 0; i < WIO_ARRAY_SIZE(ops); i++) {
            struct wio_model_result a;
            struct wio_model_result b;
            assert_ok(wio_model_step(wanted, &ops[i], &a, &err), &err);
            assert_ok(wio_model_step(got, &ops[i], &b, &err), &err);
            if (fabs(a.cost_s - b.cost_s) > 0.03 * a.cost_s) {
                fail_msg("%d of %llu: %g, not %g", (int)i, (unsigned long long)size, b.cost_s,
                         a.cost_s);
            }
        }
        wio_model_destroy(wanted);
        wio_model_destroy(got);
    }
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
    assert_ok(measure(&sim, &params, &found, &err), &err);
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
            assert_ok(measure(&sim, &params, &found, &err), &err);
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
        assert_ok(measure(&sim, &params, &found, &err), &err);
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
        assert_ok(measure(&sim, &params, &found, &err), &err);
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
    assert_ok(measure(&sim, &params, &found, &err), &err);
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
        assert_status(measure(&sim, &params, &found, &err), WIO_ERR_IO, &err);
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
        assert_status(measure(&sim, &params, &found, &err), WIO_ERR_BUSY, &err);
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
        cmocka_unit_test(finds_a_buffer_in_the_device),
        cmocka_unit_test(is_not_fooled_by_credit),
        cmocka_unit_test(finds_the_rate_of_a_limit),
        cmocka_unit_test(sees_a_limit_on_small_devices),
        cmocka_unit_test(finds_the_credit_of_a_limit),
        cmocka_unit_test(finds_slices),
        cmocka_unit_test(finds_slices_at_any_rate),
        cmocka_unit_test(finds_what_a_commit_writes),
        cmocka_unit_test(looks_past_new_blocks),
        cmocka_unit_test(finds_what_pieces_of_memory_take),
        cmocka_unit_test(leaves_out_tables_of_few_pieces),
        cmocka_unit_test(leaves_out_tables_where_the_cache_is_full),
        cmocka_unit_test(finds_what_no_cache_holds),
        cmocka_unit_test(keeps_apart_what_happens_now_and_then),
        cmocka_unit_test(does_not_look_past_noise),
        cmocka_unit_test(tells_how_writes_differ),
        cmocka_unit_test(knows_the_device_from_memory),
        cmocka_unit_test(is_not_fooled_by_one_buffer),
        cmocka_unit_test(does_not_count_the_first_of_a_row),
        cmocka_unit_test(finds_what_folios_cost),
        cmocka_unit_test(does_without_direct_writes),
        cmocka_unit_test(tables_predict),
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
