/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of writes that wait for the device. */
#include "support/unit.h"

#include <math.h>

#include "base/cleanup.h"
#include "measured.h"

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
        assert_ok(measured(&sim, &params, &found, &err), &err);
        assert_true(found.params[WIO_PARAM_commit_bytes].value == (counts != 0 ? 24576 : 0));
        assert_int_equal(found.params[WIO_PARAM_commit_bytes].how,
                         counts != 0 ? WIO_CALIBRATE_MEASURED : WIO_CALIBRATE_ASSUMED);
    }
}

static void finds_what_a_length_costs(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibrate_params params = {.max_bytes = GIB, .budget_s = 60};
    struct wio_calibration found;
    struct wio_error err;
    sim.params.append_table =
        (struct wio_model_table){.count = 2, .points = {{4096, 4e-4}, {8192, 6e-4}}};
    sim.params.c_length = 3e-4;
    assert_ok(measured(&sim, &params, &found, &err), &err);
    is_near(&found, WIO_PARAM_c_length, sim.params.c_length, 0.02);
}

/* Where blocks pass on credit, append_table has what they are paid with: so has a length. */
static void a_length_is_a_part_of_the_table(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibration found;
    sim.noise = 0.02;
    sim.params.bw_dev = 50 * MIB;
    sim.credit_bytes = MIB;
    double block_s = 4096 / sim.params.bw_dev;
    double line_s = 128 / sim.params.bw_dev;
    sim.params.append_table = (struct wio_model_table){
        .count = 2, .points = {{4096, 2e-5 + block_s}, {8192, 2e-5 + 2 * block_s}}};
    sim.params.c_length = 1e-5 + line_s;
    calibrate_amply(&sim, &found);
    assert_true(found.append_table.points[0].seconds > 0.9 * block_s);
    is_near(&found, WIO_PARAM_c_length, 0.5 * found.append_table.points[0].seconds, 0.05);
}

/* However slow it is to append, time is left for more than the least number of flushes. */
static void flushes_slow_devices_often(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibrate_params params = {.max_bytes = GIB, .budget_s = 20};
    struct wio_calibration found;
    struct wio_error err;
    sim.params.sc_sw = 3.5e-3;
    sim.params.c_flush = 3e-3;
    assert_ok(measured(&sim, &params, &found, &err), &err);
    is_near(&found, WIO_PARAM_c_flush, sim.params.c_flush, 0.01);
    assert_in_range(sim.fsyncs, 50, 100); /* of which other stages need 36 */
}

/* Appending costs what it costs on a device that was in use for long. */
static void looks_past_new_blocks(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibration found;
    sim.noise = 0.02;
    sim.params.bw_dev = 1e9;
    sim.params.bw_ramdisk = 40e9;
    sim.thin_times = 5;
    calibrate_amply(&sim, &found);
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
    struct wio_calibration found;
    sim.noise = 0.1;
    assert_true(isnan(wio_calibration_table_spread(
        &(struct wio_calibration){.direct_table.count = 0}, WIO_CALIBRATE_DIRECT)));
    calibrate_amply(&sim, &found);
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
    struct wio_calibration found;
    sim.params.bw_dev = 4e9;
    sim.params.bw_ramdisk = 40e9;
    sim.scattered_s = 1e-6;
    sim.is_whole_at_first = true;
    calibrate_amply(&sim, &found);
    for (size_t i = 0; i + 2 < found.direct_table.count; i++) {
        is_direct_cost(&found, &sim, i);
    }
}

/* Writes of one size come in a row, as a program's do. */
static void does_not_count_the_first_of_a_row(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibration found;
    sim.params.bw_dev = 2e9;
    sim.params.bw_ramdisk = 40e9;
    sim.cold_s = 1e-3;
    calibrate_amply(&sim, &found);
    for (size_t i = 0; found.direct_table.points[i].bytes <= 4 * MIB; i++) {
        is_direct_cost(&found, &sim, i);
    }
}

/* Noise alone makes no device thin. */
static void does_not_look_past_noise(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibration found;
    sim.noise = 0.2;
    calibrate_amply(&sim, &found);
    const struct wio_model_point *first = &found.append_table.points[0];
    double wanted =
        sim.params.sc_sw + first->bytes / sim.params.bw_dev + first->bytes / sim.params.bw_ramdisk;
    assert_true(fabs(first->seconds - wanted) < 0.06 * wanted);
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
    assert_ok(measured(&sim, &params, &found, &err), &err);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_a_commit_writes),
        cmocka_unit_test(finds_what_a_length_costs),
        cmocka_unit_test(a_length_is_a_part_of_the_table),
        cmocka_unit_test(flushes_slow_devices_often),
        cmocka_unit_test(looks_past_new_blocks),
        cmocka_unit_test(does_not_look_past_noise),
        cmocka_unit_test(tells_how_writes_differ),
        cmocka_unit_test(is_not_fooled_by_one_buffer),
        cmocka_unit_test(does_not_count_the_first_of_a_row),
        cmocka_unit_test(tables_predict),
    };
    return WIO_RUN(tests);
}
