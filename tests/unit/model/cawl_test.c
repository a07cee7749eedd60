/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <math.h>

#include "cawl_reference.h"
#include "model/model.h"

#define MIB 1048576.0

static const struct wio_model_params machine = {
    .bw_mem = 8e9,
    .bw_ramdisk = 4e9,
    .bw_reduced = 3e9,
    .bw_dev = 102 * MIB,
    .bw_rdev = 100 * MIB,
    .sc_w = 2e-6,
    .sc_sw = 1.6e-4,
    .c_sk = 1e-3,
    .bs = 4096,
    .bf = 4096,
    .limit_bg = 128 * MIB,
    .limit_hard = 512 * MIB,
    .dirty_expire = 30,
    .c_lib = 5e-8,
};

static struct wio_model *create(const struct wio_model_params *params)
{
    struct wio_model *model = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    assert_ok(wio_model_create(WIO_MODEL_CAWL, params, &heap, &model, &err), &err);
    return model;
}

static struct wio_model_result step(struct wio_model *model, struct wio_model_op op)
{
    struct wio_model_result result;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_model_step(model, &op, &result, &err), &err);
    return result;
}

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * fmax(1e-9, fmax(fabs(a), fabs(b))))) {
        fail_msg("%.17g is not %.17g", a, b);
    }
}

static void a_first_write_goes_at_memory_speed(void **state)
{
    (void)state;
    struct wio_model *model = create(&machine);
    struct wio_model_result result =
        step(model, (struct wio_model_op){.size = 4000000, .method = WIO_MODEL_WRITE});
    assert_near(result.cost_s, 4e6 / 4e9 + 2e-6);
    assert_int_equal(result.state, WIO_MODEL_STATE_FREE);
    assert_near(result.dirty_bytes, 4e6);
    wio_model_destroy(model);
}

static void states_follow_the_dirty_amount(void **state)
{
    (void)state;
    struct wio_model *model = create(&machine);
    enum wio_model_state last = WIO_MODEL_STATE_FREE;
    for (uint64_t i = 0; i < 64; i++) {
        struct wio_model_result result = step(
            model,
            (struct wio_model_op){.offset = i << 24, .size = 1 << 24, .method = WIO_MODEL_WRITE});
        assert_true(result.state >= last);
        last = result.state;
    }
    assert_int_equal(last, WIO_MODEL_STATE_THROTTLE);
    wio_model_destroy(model);
}

/* Rule 1: a last block that is not full is read and written whole. */
static void a_partial_block_costs_a_whole_one(void **state)
{
    (void)state;
    struct wio_model *model = create(&machine);
    struct wio_model_result result =
        step(model, (struct wio_model_op){.size = 5000, .method = WIO_MODEL_SYNC});
    assert_near(result.cost_s,
                1.6e-4 + 5000 / 4e9 + 4096 / (102 * MIB) + 4096 / (100 * MIB) + 4096 / (102 * MIB));
    result =
        step(model, (struct wio_model_op){.offset = 5000, .size = 4096, .method = WIO_MODEL_SYNC});
    assert_near(result.cost_s, 1.6e-4 + 4096 / 4e9 + 4096 / (102 * MIB));
    result =
        step(model, (struct wio_model_op){.offset = 0, .size = 4096, .method = WIO_MODEL_DIRECT});
    assert_near(result.cost_s, 1.6e-4 + 1e-3 + 4096 / (102 * MIB));
    wio_model_destroy(model);
}

static void fwrite_costs_a_call_only_when_the_buffer_is_full(void **state)
{
    (void)state;
    struct wio_model *model = create(&machine);
    struct wio_model_result result;
    for (uint64_t i = 0; i < 8; i++) {
        result =
            step(model,
                 (struct wio_model_op){.offset = i * 512, .size = 512, .method = WIO_MODEL_FWRITE});
        assert_int_equal(result.state, WIO_MODEL_STATE_NONE);
        assert_near(result.cost_s, 5e-8 + 512 / 8e9);
    }
    result =
        step(model, (struct wio_model_op){.offset = 4096, .size = 512, .method = WIO_MODEL_FWRITE});
    assert_int_equal(result.state, WIO_MODEL_STATE_FREE);
    assert_near(result.cost_s, 5e-8 + 512 / 8e9 + 4096 / 4e9 + 2e-6);
    assert_near(result.dirty_bytes, 4096);
    result = step(model, (struct wio_model_op){.method = WIO_MODEL_FFLUSH});
    assert_near(result.dirty_bytes, 4608);
    result = step(model, (struct wio_model_op){.method = WIO_MODEL_FFLUSH, .delay_s = 1});
    assert_near(result.cost_s, 0);
    wio_model_destroy(model);
}

static void a_write_of_nothing_costs_a_call(void **state)
{
    (void)state;
    struct wio_model *model = create(&machine);
    struct wio_model_result result = step(model, (struct wio_model_op){.method = WIO_MODEL_WRITE});
    assert_near(result.cost_s, 2e-6);
    assert_near(result.dirty_bytes, 0);
    wio_model_destroy(model);
}

/* Where a call is free: later writes cost what they would without it. */
static void a_write_of_nothing_changes_nothing(void **state)
{
    (void)state;
    struct wio_model_params params = machine;
    params.sc_w = 0;
    struct wio_model *with = create(&params);
    struct wio_model *without = create(&params);
    (void)step(with, (struct wio_model_op){.method = WIO_MODEL_WRITE});
    for (uint64_t i = 0; i < 100; i++) {
        struct wio_model_op op = {.offset = i << 23, .size = 1 << 23};
        assert_near(step(with, op).cost_s, step(without, op).cost_s);
    }
    wio_model_destroy(with);
    wio_model_destroy(without);
}

/* Cleaning takes whole blocks first: a block cut in two would be cleaned in another order. */
static void a_synchronous_write_of_nothing_cuts_no_block(void **state)
{
    (void)state;
    struct wio_model_params params = machine;
    params.sc_sw = 0;
    params.limit_bg = 1e6;
    params.limit_hard = 1e9;
    struct wio_model *with = create(&params);
    struct wio_model *without = create(&params);
    const struct wio_model_op fill = {.size = 1900000};
    (void)step(with, fill);
    (void)step(without, fill);
    (void)step(with, (struct wio_model_op){.offset = 1000000,
                                           .method = WIO_MODEL_SYNC,
                                           .random = WIO_MODEL_RANDOM_NO});
    (void)step(with, (struct wio_model_op){.offset = 1500000,
                                           .method = WIO_MODEL_DIRECT,
                                           .random = WIO_MODEL_RANDOM_NO});
    const struct wio_model_op more = {.file = 1, .size = 1, .delay_s = 1};
    assert_near(step(with, more).dirty_bytes, step(without, more).dirty_bytes);
    wio_model_destroy(with);
    wio_model_destroy(without);
}

static struct wio_model_op random_op(uint64_t *seed, uint64_t *end)
{
    static const double delays[] = {0, 0, 0, 0.01, 0.3, 2, 40};
    uint64_t r = wio_test_random(seed);
    bool is_next = r % 3 == 0;
    struct wio_model_op op = {
        .file = (r >> 8) % 3,
        .offset = is_next ? *end : ((r >> 16) % 200) * 700001,
        .size = (r >> 24) % 20 == 0 ? 0 : ((r >> 32) % 64) * ((r >> 40) % 2 == 0 ? 512 : 700001),
        .delay_s = delays[(r >> 44) % 7],
        .method = (enum wio_model_method)((r >> 48) % 4 == 0 ? (r >> 52) % WIO_MODEL_METHOD_COUNT
                                                             : (r >> 50) % 8 == 0),
        .random = (enum wio_model_random)((r >> 56) % 3),
    };
    if (op.method == WIO_MODEL_DIRECT && (r >> 58) % 2 == 0) {
        op.method = WIO_MODEL_FWRITE;
    }
    *end = op.offset + op.size;
    return op;
}

/* The trees agree with the plain array on random operations, whatever the limits. */
static void agrees_with_the_reference(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct wio_model_params params = machine;
        params.limit_bg = (double)(seed % 5 + 1) * 20 * MIB;
        params.limit_hard = params.limit_bg + (double)(seed % 7 + 1) * 10 * MIB;
        params.dirty_expire = (double)(seed % 3) * 15;
        struct wio_model *model = create(&params);
        struct reference *reference = reference_create(&params);
        uint64_t random = seed * 0x9e3779b97f4a7c15ull;
        uint64_t end = 0;
        for (int i = 0; i < 600; i++) {
            struct wio_model_op op = random_op(&random, &end);
            struct wio_model_result expected;
            struct wio_model_result result = step(model, op);
            reference_step(reference, &op, &expected);
            assert_near(result.cost_s, expected.cost_s);
            assert_near(result.time_s, expected.time_s);
            assert_true(fabs(result.dirty_bytes - expected.dirty_bytes) < 1e-3);
            assert_int_equal(result.state, expected.state);
            assert_true(result.dirty_bytes >= -1e-3);
        }
        reference_destroy(reference);
        wio_model_destroy(model);
    }
}

static void the_same_operations_give_the_same_answers(void **state)
{
    (void)state;
    struct wio_model *models[2] = {create(&machine), create(&machine)};
    uint64_t seed = 7;
    uint64_t end = 0;
    for (int i = 0; i < 2000; i++) {
        struct wio_model_op op = random_op(&seed, &end);
        struct wio_model_result a = step(models[0], op);
        struct wio_model_result b = step(models[1], op);
        assert_memory_equal(&a.cost_s, &b.cost_s, sizeof(a.cost_s));
        assert_memory_equal(&a.dirty_bytes, &b.dirty_bytes, sizeof(a.dirty_bytes));
    }
    wio_model_destroy(models[0]);
    wio_model_destroy(models[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_first_write_goes_at_memory_speed),
        cmocka_unit_test(states_follow_the_dirty_amount),
        cmocka_unit_test(a_partial_block_costs_a_whole_one),
        cmocka_unit_test(fwrite_costs_a_call_only_when_the_buffer_is_full),
        cmocka_unit_test(a_write_of_nothing_costs_a_call),
        cmocka_unit_test(a_write_of_nothing_changes_nothing),
        cmocka_unit_test(a_synchronous_write_of_nothing_cuts_no_block),
        cmocka_unit_test(agrees_with_the_reference),
        cmocka_unit_test(the_same_operations_give_the_same_answers),
    };
    return WIO_RUN(tests);
}
