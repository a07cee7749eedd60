/* SPDX-License-Identifier: Apache-2.0 */
#include "support/stingy.h"
#include "support/unit.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

static const struct wio_model_params machine = {
    .bw_mem = 8e9,
    .bw_ramdisk = 4e9,
    .bw_reduced = 3e9,
    .bw_dev = 1e8,
    .bw_rdev = 2e8,
    .sc_w = 2e-6,
    .sc_sw = 1.6e-4,
    .bs = 4096,
    .bf = 4096,
    .limit_bg = 1e8,
    .limit_hard = 2e8,
    .dirty_expire = 30,
};

static void names_are_found_again(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < WIO_MODEL_KIND_COUNT; kind++) {
        assert_int_equal(wio_model_find(wio_model_name((enum wio_model_kind)kind)), kind);
    }
    assert_int_equal(wio_model_find("magic"), WIO_MODEL_KIND_COUNT);
    assert_string_equal(wio_model_state_name(WIO_MODEL_STATE_NONE), "-");
    assert_string_equal(wio_model_state_name(WIO_MODEL_STATE_THROTTLE), "throttle");
    struct wio_model_params params = wio_model_params_default();
    assert_ptr_equal(wio_model_param(&params, "bw_mem"), &params.bw_mem);
    assert_ptr_equal(wio_model_param(&params, "mem_bytes"), &params.mem_bytes);
    assert_null(wio_model_param(&params, "bw"));
}

static void refuses(struct wio_model_params params, const char *name)
{
    struct wio_error err = WIO_ERROR_INIT;
    assert_status(wio_model_params_check(&params, &err), WIO_ERR_USAGE, &err);
    assert_non_null(strstr(err.message, name));
}

/* Each parameter in turn is missing, negative and infinite: the error names it. */
static void every_bad_parameter_is_named(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_model_params_check(&machine, &err), &err);
#define TRY_PARAM(name, unit, required)                                                            \
    {                                                                                              \
        struct wio_model_params params = machine;                                                  \
        params.name = NAN;                                                                         \
        refuses(params, "'" #name "'");                                                            \
        params.name = -1;                                                                          \
        refuses(params, "'" #name "'");                                                            \
        params.name = HUGE_VAL;                                                                    \
        refuses(params, "'" #name "'");                                                            \
    }
    WIO_MODEL_PARAM_LIST(TRY_PARAM)
#undef TRY_PARAM
    struct wio_model_params params = machine;
    params.bw_dev = 0;
    refuses(params, "'bw_dev'");
    params.bw_dev = 1e-300;
    refuses(params, "'bw_dev' must be at least 1");
    params = machine;
    params.limit_hard = params.limit_bg;
    refuses(params, "'limit_hard'");
}

/* What would make a sum of costs mean nothing; an age may be as good as never. */
static void absurd_parameters_are_refused_with_their_bound(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model_params params = machine;
    params.sc_w = 1e300;
    refuses(params, "'sc_w' must be at most 1e+09 s");
    params = machine;
    params.c_forget = 1.1e9;
    refuses(params, "'c_forget' must be at most 1e+09 s");
    params = machine;
    params.c_flush = 1.1e9;
    refuses(params, "'c_flush' must be at most 1e+09 s");
    params = machine;
    params.c_length = 1.1e9;
    refuses(params, "'c_length' must be at most 1e+09 s");
    params = machine;
    params.commit_bytes = 1e17;
    refuses(params, "'commit_bytes' must be at most 1e+16 bytes");
    params = machine;
    params.hit_table = (struct wio_model_table){.count = 1, .points = {{4096, 2e9}}};
    refuses(params, "'hit_table' has a point of more than 1e+09 s");
    params = machine;
    params.sc_w = params.c_sk = 1e9;
    params.dirty_expire = params.dirty_interval = 1e18;
    params.bw_mem = 1e300;
    assert_ok(wio_model_params_check(&params, &err), &err);
}

static void bad_operations_change_nothing(void **state)
{
    (void)state;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_model *model;
    struct wio_model_result result;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_model_create(WIO_MODEL_CAWL, &machine, &heap, &model, &err), &err);
    const struct wio_model_op bad[] = {
        {.delay_s = -1},
        {.delay_s = NAN},
        {.delay_s = HUGE_VAL},
        {.delay_s = 1e17},
        {.offset = UINT64_MAX, .size = 2},
        {.size = UINT64_MAX},
        {.method = WIO_MODEL_METHOD_COUNT},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_status(wio_model_step(model, &bad[i], &result, &err), WIO_ERR_USAGE, &err);
    }
    struct wio_model_op good = {.method = WIO_MODEL_FFLUSH};
    assert_ok(wio_model_step(model, &good, &result, &err), &err);
    assert_true(result.time_s <= 0);
    wio_model_destroy(model);
    wio_model_destroy(NULL);
}

static void naive_is_size_by_bandwidth(void **state)
{
    (void)state;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_model *model;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_model_create(WIO_MODEL_NAIVE, &machine, &heap, &model, &err), &err);
    const struct {
        enum wio_model_method method;
        double cost;
    } cases[] = {{WIO_MODEL_WRITE, 0.01},  {WIO_MODEL_DIRECT, 0.01}, {WIO_MODEL_SYNC, 0.01},
                 {WIO_MODEL_FWRITE, 0.01}, {WIO_MODEL_READ, 0.005},  {WIO_MODEL_FSYNC, 0},
                 {WIO_MODEL_FFLUSH, 0}};
    double time = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wio_model_op op = {.size = 1000000, .delay_s = 0.5, .method = cases[i].method};
        struct wio_model_result result;
        assert_ok(wio_model_step(model, &op, &result, &err), &err);
        time += 0.5 + cases[i].cost;
        assert_true(fabs(result.cost_s - cases[i].cost) < 1e-15);
        assert_true(fabs(result.time_s - time) < 1e-12);
    }
    wio_model_destroy(model);
}

/* Each allocation in turn fails: an error, nothing leaks. */
static void running_out_of_memory_is_an_error(void **state)
{
    (void)state;
    bool is_done = false;
    for (int n = 0; !is_done; n++) {
        struct wio_stingy stingy = {.left = n};
        struct wio_alloc alloc = wio_stingy_alloc(&stingy);
        struct wio_error err = WIO_ERROR_INIT;
        struct wio_model *model = NULL;
        enum wio_status status = wio_model_create(WIO_MODEL_CAWL, &machine, &alloc, &model, &err);
        for (uint64_t i = 0; status == WIO_OK && i < 20; i++) {
            struct wio_model_op op = {.file = i % 3, .offset = i * 700, .size = 1000};
            struct wio_model_result result;
            status = wio_model_step(model, &op, &result, &err);
        }
        is_done = status == WIO_OK;
        assert_true(is_done || status == WIO_ERR_NOMEM);
        wio_model_destroy(model);
        assert_int_equal(stingy.out, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found_again),
        cmocka_unit_test(every_bad_parameter_is_named),
        cmocka_unit_test(absurd_parameters_are_refused_with_their_bound),
        cmocka_unit_test(bad_operations_change_nothing),
        cmocka_unit_test(naive_is_size_by_bandwidth),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };
    return WIO_RUN(tests);
}
