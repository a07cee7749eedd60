/* SPDX-License-Identifier: Apache-2.0 */
/* What is in memory, and what a call takes there. */
#include "support/unit.h"

#include <math.h>

#include "base/cleanup.h"
#include "measured.h"

/* A page in a large folio, and one alone. */
static void finds_what_folios_cost(void **state)
{
    (void)state;
    struct sim sim = sim_default();
    struct wio_calibration found;
    sim.noise = 0.02;
    sim.params.c_page_sync = 1e-7;
    sim.params.c_forget = 3e-7;
    sim.params.bw_dev = 1e9;
    calibrate_amply(&sim, &found);
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
    struct wio_calibration found;
    struct wio_model_params wanted = sim.params;
    sim.noise = 0.02;
    calibrate_amply(&sim, &found);
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
        assert_ok(measured(&sim, &params, &found, &err), &err);
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
    struct wio_calibration found;
    sim.dirty_bytes = (uint64_t)sim.params.limit_bg;
    calibrate_amply(&sim, &found);
    has_no_tables_of_memory(&found);
}

/* Of processors' caches that hold a piece, and of such that do not. */
static void finds_what_no_cache_holds(void **state)
{
    (void)state;
    static const double sizes[] = {64, 4096, 65536, 262144, MIB};
    for (double cache = MIB / 4; cache <= 4 * MIB; cache *= 2) {
        struct sim sim = sim_default();
        struct wio_calibration found;
        sim.params.bw_far = 10e9;
        sim.params.cache_size = cache;
        struct wio_model_params wanted = sim.params;
        calibrate_amply(&sim, &found);
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
    struct wio_calibration found;
    sim.refills = 0.1;
    calibrate_amply(&sim, &found);
    is_near(&found, WIO_PARAM_c_call, 1.2 * sim.params.c_call, 0.05);
    is_near(&found, WIO_PARAM_c_clean, sim.params.c_clean, 0.05);
    is_near(&found, WIO_PARAM_c_walk, sim.params.c_walk, 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_pieces_of_memory_take),
        cmocka_unit_test(leaves_out_tables_of_few_pieces),
        cmocka_unit_test(leaves_out_tables_where_the_cache_is_full),
        cmocka_unit_test(finds_what_no_cache_holds),
        cmocka_unit_test(keeps_apart_what_happens_now_and_then),
        cmocka_unit_test(finds_what_folios_cost),
    };
    return WIO_RUN(tests);
}
