/* SPDX-License-Identifier: Apache-2.0 */
/* Direct and synchronous writes (rule 13): by equations, by tables. */
#include "support/unit.h"

#include <math.h>
#include <string.h>

#include "machine.h"

static void direct_writes_have_the_device_to_themselves(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    (void)write_at(model, 0, 16 * MIB_BYTES);
    struct wio_model_result result =
        step(model, (struct wio_model_op){.size = 10 * MIB_BYTES, .method = WIO_MODEL_DIRECT});
    assert_near(result.cost_s, 0.1 + 1.6e-4 + 1e-3,
                1e-12); /* not where the file's last one ended */
    assert_near(result.dirty_bytes, 6 * MIB, 0);
    result = step(model, (struct wio_model_op){
                             .offset = 10 * MIB_BYTES, .size = 5000, .method = WIO_MODEL_SYNC});
    assert_near(result.cost_s, 1.6e-4 + 5000 / 4e9 + 3 * 4096 / (100 * MIB), 1e-12);
    wio_model_destroy(model);
}

/* Measured times go before equations: lines between points, appending apart. */
static void tables_tell_what_synchronous_writes_cost(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    params.sync_table = (struct wio_model_table){2, {{4096, 0.001}, {12288, 0.003}}};
    params.append_table = (struct wio_model_table){1, {{4096, 0.007}}};
    params.direct_table = (struct wio_model_table){2, {{4096, 0.002}, {8192, 0.002}}};
    params.direct_nosync_table = (struct wio_model_table){1, {{4096, 0.0005}}};
    struct wio_model *model = create(&params);
    struct wio_model_op op = {
        .size = 8000, .method = WIO_MODEL_SYNC, .random = WIO_MODEL_RANDOM_NO};
    assert_near(step(model, op).cost_s, 0.007 + 4096 / (100 * MIB), 1e-12); /* the file was empty */
    assert_near(step(model, op).cost_s, 0.002, 1e-12);                      /* two blocks */
    op.size = 100;
    assert_near(step(model, op).cost_s, 0.001, 1e-12);
    op.method = WIO_MODEL_DIRECT_NOSYNC;
    assert_near(step(model, op).cost_s, 0.0005, 1e-12);
    op.method = WIO_MODEL_DIRECT;
    op.random = WIO_MODEL_RANDOM_YES;
    op.size = 1 << 20;
    assert_near(step(model, op).cost_s, 0.003 + (MIB - 8192) / (100 * MIB),
                1e-12); /* with a seek */
    op = (struct wio_model_op){.size = 16384, .method = WIO_MODEL_SYNC};
    assert_near(step(model, op).cost_s, 0.004 + 1e-3, 1e-12); /* beyond the last point */
    wio_model_destroy(model);
}

/* A line that falls, or a single point, says nothing of larger writes: they would be free. */
static void tables_that_do_not_rise_go_on_as_the_device(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    params.direct_table = (struct wio_model_table){2, {{4096, 0.003}, {8192, 0.002}}};
    params.sync_table = (struct wio_model_table){1, {{4096, 0.003}}};
    struct wio_model *model = create(&params);
    struct wio_model_op op = {.size = 8192 + 10 * MIB_BYTES, .method = WIO_MODEL_DIRECT};
    assert_near(step(model, op).cost_s, 0.002 + 0.1, 1e-9);
    op = (struct wio_model_op){
        .size = 4096 + 10 * MIB_BYTES, .method = WIO_MODEL_SYNC, .random = WIO_MODEL_RANDOM_NO};
    assert_near(step(model, op).cost_s, 0.003 + 0.1, 1e-9);
    wio_model_destroy(model);
}

/* Where nothing was measured of O_DIRECT alone it costs what it costs with O_SYNC. */
static void direct_writes_without_a_table_are_synchronous(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model_op op = {
        .size = 8192, .method = WIO_MODEL_DIRECT, .random = WIO_MODEL_RANDOM_NO};
    for (params.direct_table.count = 0; params.direct_table.count < 2;
         params.direct_table.count++) {
        params.direct_table.points[0] = (struct wio_model_point){4096, 0.007};
        struct wio_model *model = create(&params);
        double both_s = step(model, op).cost_s;
        op.method = WIO_MODEL_DIRECT_NOSYNC;
        assert_near(step(model, op).cost_s, both_s, 1e-12);
        op.method = WIO_MODEL_DIRECT;
        wio_model_destroy(model);
    }
}

/* The kernel looks at all blocks of a folio, and a folio is as large as the write that brought it.
 */
static void a_page_of_a_large_folio_costs_more(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    params.sync_table = (struct wio_model_table){1, {{4096, 0.001}}};
    params.c_page_sync = 1e-6;
    params.balance_step = 2 * MIB;
    struct wio_model *model = create(&params);
    struct wio_model_op page = {
        .size = 4096, .method = WIO_MODEL_SYNC, .random = WIO_MODEL_RANDOM_NO};
    const struct wio_model_op forget = {.method = WIO_MODEL_FORGET};
    assert_near(step(model, page).cost_s, 0.001, 1e-12); /* a file of its own */
    assert_near(step(model, page).cost_s, 0.001, 1e-12);
    (void)write_at(model, 0, 100000); /* 64 KiB and what is left */
    assert_near(step(model, page).cost_s, 0.001 + 15e-6, 1e-12);
    (void)write_at(model, 0, 16 * MIB_BYTES);
    assert_near(step(model, page).cost_s, 0.001 + 511e-6, 1e-12);
    page.offset = 16 * MIB_BYTES; /* behind the end: a folio of its own */
    assert_near(step(model, page).cost_s, 0.001, 1e-12);
    page.offset = 0;
    (void)step(model, (struct wio_model_op){.method = WIO_MODEL_FSYNC});
    (void)step(model, forget); /* none in memory */
    assert_near(step(model, page).cost_s, 0.001, 1e-12);
    wio_model_destroy(model);
}

/* Those that were only read go for nothing. */
static void direct_writes_throw_out_what_was_written(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    params.direct_table = (struct wio_model_table){1, {{16384, 0.001}}};
    params.c_forget = 1e-6;
    struct wio_model *model = create(&params);
    struct wio_model_op direct = {
        .offset = 57344, .size = 16384, .method = WIO_MODEL_DIRECT, .random = WIO_MODEL_RANDOM_NO};
    (void)write_at(model, 1, 65536); /* behind the first 64 KiB */
    (void)step(model, (struct wio_model_op){.method = WIO_MODEL_FSYNC});
    assert_near(step(model, direct).cost_s, 0.001 + 2e-6, 1e-12);
    assert_near(step(model, direct).cost_s, 0.001, 1e-12);
    direct.file = 1;
    direct.offset = 0;
    (void)step(model, (struct wio_model_op){.file = 1, .size = 65536, .method = WIO_MODEL_READ});
    assert_near(step(model, direct).cost_s, 0.001, 1e-12);
    wio_model_destroy(model);
}

static void bad_tables_are_named(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    const struct wio_model_table bad[] = {{2, {{1, 1}, {1, 2}}},
                                          {1, {{1, -1}}},
                                          {1, {{NAN, 1}}},
                                          {1, {{1, HUGE_VAL}}},
                                          {33, {{0, 0}}}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct wio_model_params params = machine();
        params.append_table = bad[i];
        assert_status(wio_model_params_check(&params, &err), WIO_ERR_USAGE, &err);
        assert_non_null(strstr(err.message, "'append_table'"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(direct_writes_have_the_device_to_themselves),
        cmocka_unit_test(tables_tell_what_synchronous_writes_cost),
        cmocka_unit_test(tables_that_do_not_rise_go_on_as_the_device),
        cmocka_unit_test(direct_writes_without_a_table_are_synchronous),
        cmocka_unit_test(a_page_of_a_large_folio_costs_more),
        cmocka_unit_test(direct_writes_throw_out_what_was_written),
        cmocka_unit_test(bad_tables_are_named),
    };
    return WIO_RUN(tests);
}
