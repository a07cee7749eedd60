/* SPDX-License-Identifier: Apache-2.0 */
/* What calls cost on data that is in memory, and on data that is not there yet. */
#include "support/unit.h"

#include <string.h>

#include "machine.h"

#define CALL_S 2e-6
#define STEP (2 * MIB_BYTES) /* a folio, at most */

/* Numbers that can be told apart in a sum. */
static struct wio_model_params detailed(void)
{
    struct wio_model_params params = machine();
    params.c_folio = 1e-6;
    params.c_clean = 3e-7;
    params.c_walk = 5e-9;
    params.bw_clean = 7e9;
    params.sc_r = 4e-7;
    params.bw_hit = 2e10;
    return params;
}

static double write_s(struct wio_model *model, uint64_t offset, uint64_t size)
{
    return step(model, (struct wio_model_op){.offset = offset, .size = size}).cost_s;
}

static void clean(struct wio_model *model)
{
    (void)step(model, (struct wio_model_op){.method = WIO_MODEL_FSYNC});
}

static void a_new_folio_costs_more(void **state)
{
    (void)state;
    struct wio_model_params params = detailed();
    struct wio_model *model = create(&params);
    assert_near(write_s(model, 0, 4096), CALL_S + 1e-6 + 4096 / 4e9, 1e-12);
    assert_near(write_s(model, 0, 4096), CALL_S + 4096 / 8e9, 1e-12);
    assert_near(write_s(model, 4096, 100), CALL_S + 1e-6 + 100 / 4e9, 1e-12);
    assert_near(write_s(model, 4196, 100), CALL_S + 100 / 8e9, 1e-12);
    assert_near(write_s(model, 8 * STEP, 8 * STEP), CALL_S + 8e-6 + 16 * MIB / 4e9, 1e-12);
    wio_model_destroy(model);
}

static void what_is_clean_has_to_be_noted(void **state)
{
    (void)state;
    struct wio_model_params params = detailed();
    struct wio_model *model = create(&params);
    (void)write_s(model, 0, 8192);
    clean(model);
    assert_near(write_s(model, 0, 4096), CALL_S + 3e-7 + 4096 / 7e9, 1e-12);
    assert_near(write_s(model, 0, 4096), CALL_S + 4096 / 8e9, 1e-12);
    clean(model);
    (void)step(model, (struct wio_model_op){.method = WIO_MODEL_FORGET});
    assert_near(write_s(model, 0, 4096), CALL_S + 1e-6 + 4096 / 4e9, 1e-12);
    wio_model_destroy(model);
}

/* By as much as it slows new pages. */
static void write_back_slows_clean_pages_too(void **state)
{
    (void)state;
    struct wio_model_params params = detailed();
    struct wio_model *model = create(&params);
    (void)write_s(model, 0, STEP);
    clean(model);
    (void)step(model, (struct wio_model_op){.file = 1, .size = 16 * MIB_BYTES});
    (void)step(model, (struct wio_model_op){.file = 1, .method = WIO_MODEL_WRITE_OUT});
    assert_near(write_s(model, 0, STEP), CALL_S + 3e-7 + 2 * MIB / 7e9 * 4 / 3.5, 1e-12);
    wio_model_destroy(model);
}

/* The file system looks at every page of the folio, however little is written. */
static void a_part_of_a_large_folio_costs_more(void **state)
{
    (void)state;
    struct wio_model_params params = detailed();
    struct wio_model *model = create(&params);
    (void)write_s(model, 0, 4 * STEP);
    assert_near(write_s(model, 12345, 64), CALL_S + 64 / 8e9 + 511 * 5e-9, 1e-12);
    assert_near(write_s(model, STEP, STEP), CALL_S + 2 * MIB / 8e9, 1e-12);
    /* once for a folio, however the write lies in it: all but 17 pages of one, then of two */
    assert_near(write_s(model, 4096, 65536), CALL_S + 65536 / 8e9 + (512 - 17) * 5e-9, 1e-12);
    assert_near(write_s(model, STEP - 4096, 8192), CALL_S + 8192 / 8e9 + 2 * (512 - 2) * 5e-9,
                1e-12);
    (void)step(model, (struct wio_model_op){.method = WIO_MODEL_TRUNCATE});
    for (uint64_t i = 0; i < 4; i++) {
        (void)write_s(model, i * 4096, 4096);
    }
    assert_near(write_s(model, 12345, 64), CALL_S + 64 / 8e9, 1e-12);
    wio_model_destroy(model);
}

static void a_hit_has_a_price_of_its_own(void **state)
{
    (void)state;
    struct wio_model_params params = detailed();
    struct wio_model *model = create(&params);
    const struct wio_model_op read = {.size = MIB_BYTES, .method = WIO_MODEL_READ};
    (void)write_s(model, 0, MIB_BYTES);
    assert_near(step(model, read).cost_s, 4e-7 + MIB / 2e10, 1e-12);
    wio_model_destroy(model);
}

/* What is not said of them changes nothing. */
static void without_them_all_is_as_it_was(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    const struct wio_model_op read = {.size = MIB_BYTES, .method = WIO_MODEL_READ};
    assert_near(write_s(model, 0, 4 * STEP), CALL_S + 8 * MIB / 4e9, 1e-12);
    assert_near(write_s(model, 0, 4096), CALL_S + 4096 / 8e9, 1e-12);
    clean(model);
    assert_near(write_s(model, 0, 4096), CALL_S + 4096 / 4e9, 1e-12);
    assert_near(step(model, read).cost_s, CALL_S + MIB / 8e9, 1e-12);
    wio_model_destroy(model);
}

static struct wio_model_params with_tables(void)
{
    struct wio_model_params params = detailed();
    params.new_table = (struct wio_model_table){3, {{64, 3e-6}, {4096, 4e-6}, {65536, 16e-6}}};
    params.clean_table = (struct wio_model_table){3, {{64, 1e-6}, {4096, 2e-6}, {65536, 10e-6}}};
    params.dirty_table = (struct wio_model_table){3, {{64, 0}, {4096, 1e-6}, {65536, 7e-6}}};
    params.hit_table = (struct wio_model_table){3, {{64, 0}, {4096, 8e-7}, {65536, 5e-6}}};
    return params;
}

/* Of each piece; a page in the middle of a table is on a straight line. */
static void tables_say_what_pieces_take(void **state)
{
    (void)state;
    struct wio_model_params params = with_tables();
    struct wio_model *model = create(&params);
    assert_near(write_s(model, 0, 65536), CALL_S + 16e-6, 1e-12);
    assert_near(write_s(model, 0, 65536), CALL_S + 7e-6, 1e-12);
    clean(model);
    assert_near(write_s(model, 0, 65536), CALL_S + 10e-6, 1e-12);
    assert_near(write_s(model, 65536, 10), CALL_S + 3e-6, 1e-12);
    assert_near(write_s(model, 4 * STEP, 8192), CALL_S + 4e-6 + 12e-6 / 15, 1e-12);
    wio_model_destroy(model);
}

/* Nor is it faster then, whatever was measured: a table has a time of its own. */
static void write_back_makes_no_piece_cheaper(void **state)
{
    (void)state;
    struct wio_model_params params = with_tables();
    params.bw_ramdisk = 1e9;
    params.bw_reduced = 8e9;
    struct wio_model *model = create(&params);
    (void)write_s(model, 0, 65536);
    clean(model);
    (void)step(model, (struct wio_model_op){.file = 1, .size = 16 * MIB_BYTES});
    (void)step(model, (struct wio_model_op){.file = 1, .method = WIO_MODEL_WRITE_OUT});
    assert_near(write_s(model, 0, 65536), CALL_S + 10e-6, 1e-12);
    assert_near(write_s(model, 65536, 65536), CALL_S + 16e-6, 1e-12);
    wio_model_destroy(model);
}

/* Whatever the write: the file's folios are there already. */
static void pieces_are_no_longer_than_folios(void **state)
{
    (void)state;
    struct wio_model_params params = with_tables();
    struct wio_model *model = create(&params);
    const struct wio_model_op read = {.size = 65536, .method = WIO_MODEL_READ};
    for (uint64_t i = 0; i < 32; i++) {
        (void)write_s(model, i * 4096, 4096);
    }
    assert_near(write_s(model, 0, 65536), CALL_S + 16 * 1e-6, 1e-12);
    assert_near(step(model, read).cost_s, 4e-7 + 16 * 8e-7, 1e-12);
    clean(model);
    assert_near(write_s(model, 0, 65536), CALL_S + 16 * 2e-6, 1e-12);
    assert_near(write_s(model, 0, 32 * 4096), CALL_S + 16 * 1e-6 + 16 * 2e-6, 1e-12);
    wio_model_destroy(model);
}

/* However small the steps in which a write looks at the limits are said to be. */
static void folios_are_no_smaller_than_pages(void **state)
{
    (void)state;
    static const double steps[] = {4096, 1024, 1};
    const struct wio_model_op read = {.size = 65536, .method = WIO_MODEL_READ};
    for (size_t i = 0; i < 3; i++) {
        struct wio_model_params params = with_tables();
        params.balance_step = steps[i];
        struct wio_model *model = create(&params);
        double device_s = 32 * 4096 / params.bw_rdev;
        assert_near(write_s(model, 0, 65536), CALL_S + 16 * 4e-6, 1e-12);
        assert_near(step(model, read).cost_s, 4e-7 + 16 * 8e-7, 1e-12);
        assert_near(write_s(model, 0, 65536), CALL_S + 16 * 1e-6, 1e-12);
        /* of a file that was not written to, once the device has it */
        struct wio_model_op other = read;
        other.file = 1;
        (void)step(model, other);
        other.delay_s = device_s;
        assert_near(step(model, other).cost_s, 4e-7 + 16 * 8e-7, 1e-12);
        wio_model_destroy(model);
    }
}

/* Finding a folio is done once for all that is read of it: 8e-7 less what its bytes take. */
static void parts_of_a_folio_are_read_cheaper(void **state)
{
    (void)state;
    struct wio_model_params params = with_tables();
    struct wio_model *model = create(&params);
    double find_s = 8e-7 - 4.2e-6 / 15;
    struct wio_model_op read = {.size = 65536, .method = WIO_MODEL_READ};
    (void)write_s(model, 0, 65536);
    assert_near(step(model, read).cost_s, 4e-7 + 5e-6, 1e-12);
    read.size = 4096;
    assert_near(step(model, read).cost_s, 4e-7 + 8e-7 - find_s * 15 / 16, 1e-12);
    wio_model_destroy(model);
}

/* Of a buffer that is longer than a processor's cache the rest comes from afar. */
static void long_buffers_cost_more(void **state)
{
    (void)state;
    struct wio_model_params params = detailed();
    params.cache_size = MIB;
    params.bw_far = 20e9;
    struct wio_model *model = create(&params);
    assert_near(write_s(model, 0, MIB_BYTES), CALL_S + 1e-6 + MIB / 4e9, 1e-12);
    assert_near(write_s(model, 8 * STEP, 8 * STEP),
                CALL_S + 8e-6 + 16 * MIB / 4e9 + 15 * MIB / 20e9, 1e-12);
    const struct wio_model_op read = {
        .offset = 8 * STEP, .size = 8 * STEP, .method = WIO_MODEL_READ};
    assert_near(step(model, read).cost_s, 4e-7 + 16 * MIB / 2e10 + 15 * MIB / 20e9, 1e-12);
    wio_model_destroy(model);
}

static void rates_are_rates_or_nothing(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model_params params = detailed();
    params.bw_clean = 0.5;
    assert_status(wio_model_params_check(&params, &err), WIO_ERR_USAGE, &err);
    assert_non_null(strstr(err.message, "'bw_clean' must be 0 or at least 1"));
    params = detailed();
    params.bw_hit = 1e-300;
    assert_status(wio_model_params_check(&params, &err), WIO_ERR_USAGE, &err);
    assert_non_null(strstr(err.message, "'bw_hit'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_folio_costs_more),
        cmocka_unit_test(what_is_clean_has_to_be_noted),
        cmocka_unit_test(write_back_slows_clean_pages_too),
        cmocka_unit_test(a_part_of_a_large_folio_costs_more),
        cmocka_unit_test(a_hit_has_a_price_of_its_own),
        cmocka_unit_test(without_them_all_is_as_it_was),
        cmocka_unit_test(tables_say_what_pieces_take),
        cmocka_unit_test(write_back_makes_no_piece_cheaper),
        cmocka_unit_test(pieces_are_no_longer_than_folios),
        cmocka_unit_test(folios_are_no_smaller_than_pages),
        cmocka_unit_test(parts_of_a_folio_are_read_cheaper),
        cmocka_unit_test(long_buffers_cost_more),
        cmocka_unit_test(rates_are_rates_or_nothing),
    };
    return WIO_RUN(tests);
}
