/* SPDX-License-Identifier: Apache-2.0 */
#include "support/stingy.h"
#include "support/unit.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

#define MIB 1048576.0
#define MIB_BYTES (UINT64_C(1) << 20)

static struct wio_model_params machine(void)
{
    struct wio_model_params params = wio_model_params_default();
    params.bw_mem = 8e9;
    params.bw_ramdisk = 4e9;
    params.bw_reduced = 3.5e9;
    params.bw_dev = 100 * MIB;
    params.bw_rdev = 100 * MIB;
    params.sc_w = 2e-6;
    params.sc_sw = 1.6e-4;
    params.c_sk = 1e-3;
    params.bs = 4096;
    params.bf = 4096;
    params.limit_bg = 128 * MIB;
    params.limit_hard = 512 * MIB;
    params.dirty_expire = 30;
    params.c_lib = 5e-8;
    params.dirty_ratelimit0 = 90 * MIB;
    params.write_bw0 = 95 * MIB;
    return params;
}

static struct wio_model *create(const struct wio_model_params *params)
{
    struct wio_model *model = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    assert_ok(wio_model_create(WIO_MODEL_KERNEL, params, &heap, &model, &err), &err);
    return model;
}

static struct wio_model_result step(struct wio_model *model, struct wio_model_op op)
{
    struct wio_model_result result;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_model_step(model, &op, &result, &err), &err);
    return result;
}

/* write(2) of the i-th piece of `size` bytes. */
static struct wio_model_result write_at(struct wio_model *model, uint64_t i, uint64_t size)
{
    return step(model, (struct wio_model_op){.offset = i * size, .size = size});
}

static double write_many(struct wio_model *model, uint64_t count, uint64_t size)
{
    double cost_s = 0;
    for (uint64_t i = 0; i < count; i++) {
        cost_s += write_at(model, i, size).cost_s;
    }
    return cost_s;
}

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) {
        fail_msg("%.12g is not %.12g", a, b);
    }
}

static void a_first_write_goes_at_memory_speed(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    struct wio_model_result result = write_at(model, 0, 16 * MIB_BYTES);
    assert_near(result.cost_s, 16 * MIB / 4e9 + 2e-6, 1e-12);
    assert_near(result.dirty_bytes, 16 * MIB, 0);
    assert_int_equal(result.state, WIO_MODEL_STATE_FREE);
    result = step(model, (struct wio_model_op){0});
    assert_near(result.cost_s, 2e-6, 1e-12);
    wio_model_destroy(model);
}

/* Up to 320 MiB nobody sleeps; above the background limit write-back is noticed. */
static void states_follow_the_dirty_amount(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    enum wio_model_state last = WIO_MODEL_STATE_FREE;
    for (uint64_t i = 0; i < 64; i++) {
        struct wio_model_result result = write_at(model, i, 16 * MIB_BYTES);
        assert_true(result.state >= last);
        last = result.state;
        assert_true(last == WIO_MODEL_STATE_FREE || result.dirty_bytes > 128 * MIB);
        if (result.dirty_bytes <= 320 * MIB) {
            assert_true(result.state != WIO_MODEL_STATE_THROTTLE);
            assert_true(result.cost_s < 16 * MIB / 3.5e9 + 3e-6);
        } else {
            assert_int_equal(result.state, WIO_MODEL_STATE_THROTTLE);
        }
        assert_true(result.dirty_bytes <= 512 * MIB);
    }
    assert_int_equal(last, WIO_MODEL_STATE_THROTTLE);
    wio_model_destroy(model);
}

/* A throttled writer gets the device's bandwidth, and its writes take whole jiffies. */
static void throttled_writes_take_jiffies(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    (void)write_many(model, 60, 16 * MIB_BYTES);
    int whole = 0;
    double sum_s = 0;
    for (uint64_t i = 60; i < 160; i++) {
        double cost_s = write_at(model, i, 16 * MIB_BYTES).cost_s;
        double jiffies = cost_s * 250;
        sum_s += cost_s;
        whole += fabs(jiffies - nearbyint(jiffies)) < 0.01;
    }
    assert_true(whole > 80);
    assert_near(100 * 16 / sum_s, 100, 3);
    wio_model_destroy(model);
}

/* The first pause is one of 2 jiffies: 2 MiB at 2 x 1.12 x 90 MiB/s are 2.5. A sleep of 2 jiffies
 * ends at the third tick. */
static void a_sleep_ends_at_the_tick_after_the_last(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    struct wio_model_result result = {0};
    double start_s = 0;
    for (uint64_t i = 0; result.state != WIO_MODEL_STATE_THROTTLE; i++) {
        start_s = result.time_s;
        result = write_at(model, i, 2 * MIB_BYTES);
    }
    double asleep_s = start_s + 2e-6 + 2 * MIB / 3.5e9;
    assert_near(result.time_s, (floor(asleep_s * 250) + 3) / 250 + 5e-5, 1e-9);
    wio_model_destroy(model);
}

/* Even far above the ceiling, pages that are dirty already cost only the copy. */
static void rewriting_dirty_pages_is_free(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    (void)write_many(model, 50, 16 * MIB_BYTES);
    double cached = write_at(model, 50, 16 * MIB_BYTES).dirty_bytes;
    for (int i = 0; i < 100; i++) {
        struct wio_model_result result = write_at(model, 50 * 16 + 15, MIB_BYTES);
        assert_int_equal(result.state, WIO_MODEL_STATE_ASYNC);
        assert_near(result.cost_s, MIB / 8e9 + 2e-6, 1e-12);
        assert_true(result.dirty_bytes <= cached);
    }
    wio_model_destroy(model);
}

static void fsync_costs_what_is_dirty(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    const struct wio_model_op fsync = {.method = WIO_MODEL_FSYNC};
    (void)write_many(model, 4, 16 * MIB_BYTES);
    (void)step(model, (struct wio_model_op){.file = 1, .size = 4096});
    struct wio_model_result result = step(model, fsync);
    assert_near(result.cost_s, 0.64 + 1.6e-4, 1e-9);
    assert_near(result.dirty_bytes, 4096, 0);
    assert_near(step(model, fsync).cost_s, 1.6e-4, 1e-12);
    /* Above the background limit part of the way is done already, at the same speed. */
    (void)write_many(model, 16, 16 * MIB_BYTES);
    double cached = write_at(model, 16, 16 * MIB_BYTES).dirty_bytes;
    result = step(model, fsync);
    assert_near(result.cost_s, cached / (100 * MIB), 8.1 / 100);
    assert_near(result.dirty_bytes, 0, 0); /* the other file was older: it went out first */
    wio_model_destroy(model);
}

/* 100 MiB into a buffer at 200 MiB/s while it empties at 100: 50 MiB of it are used. */
static void a_buffer_in_the_device_is_faster(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    params.bw_burst = 200 * MIB;
    params.burst_size = 52 * MIB;
    struct wio_model *model = create(&params);
    const struct wio_model_op fsync = {.method = WIO_MODEL_FSYNC};
    (void)write_many(model, 25, 4 * MIB_BYTES);
    assert_near(step(model, fsync).cost_s, 0.5 + 1.6e-4, 1e-6);
    (void)write_many(model, 25, 4 * MIB_BYTES); /* it has emptied by next to nothing */
    assert_near(step(model, fsync).cost_s, 1, 0.05);
    (void)step(model, (struct wio_model_op){.delay_s = 1});
    (void)write_many(model, 25, 4 * MIB_BYTES);
    assert_near(step(model, fsync).cost_s, 0.5 + 1.6e-4, 1e-6);
    wio_model_destroy(model);
}

static struct wio_model_result read_at(struct wio_model *model, uint64_t file, uint64_t mib,
                                       uint64_t size_mib)
{
    return step(model, (struct wio_model_op){.file = file,
                                             .offset = mib * MIB_BYTES,
                                             .size = size_mib * MIB_BYTES,
                                             .method = WIO_MODEL_READ});
}

/* Written data is read from memory, other data from the device, once. */
static void reads_find_what_is_in_memory(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    const double miss_s = 10.0 / 100 + 2e-6;
    const double hit_s = 10 * MIB / 8e9 + 2e-6;
    struct wio_model *without = create(&params);
    assert_near(read_at(without, 0, 0, 10).cost_s, miss_s, 1e-9);
    assert_near(read_at(without, 0, 0, 10).cost_s, miss_s, 1e-9);
    wio_model_destroy(without);
    params.cache_size = 100 * MIB;
    struct wio_model *model = create(&params);
    (void)write_at(model, 0, 10 * MIB_BYTES);
    assert_near(read_at(model, 0, 0, 10).cost_s, hit_s, 1e-9);
    assert_near(read_at(model, 1, 0, 10).cost_s, miss_s, 1e-9);
    assert_near(read_at(model, 1, 0, 10).cost_s, hit_s, 1e-9);
    assert_near(read_at(model, 1, 5, 10).cost_s, (miss_s + hit_s) / 2, 1e-9);
    wio_model_destroy(model);
}

/* A file that is longer than memory, read once, does not drive out what is used often. */
static void scanning_spares_what_is_used_often(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    params.cache_size = 100 * MIB;
    struct wio_model *model = create(&params);
    (void)read_at(model, 0, 0, 40);
    (void)read_at(model, 0, 0, 40);
    (void)read_at(model, 1, 0, 40);
    (void)read_at(model, 2, 0, 1000);
    assert_near(read_at(model, 0, 0, 40).cost_s, 40 * MIB / 8e9 + 2e-6, 1e-9);
    assert_near(read_at(model, 1, 0, 40).cost_s, 0.4 + 2e-6, 1e-9);
    assert_near(read_at(model, 2, 998, 2).cost_s, 2 * MIB / 8e9 + 2e-6, 1e-9);
    wio_model_destroy(model);
}

/* Looked at every 5 s: data of 0 s goes out at 30 s and not before, however often rewritten. */
static void old_data_is_written_back(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    struct wio_model_result result = {0};
    for (int i = 0; i < 29; i++) {
        result = step(model, (struct wio_model_op){.size = 10 * MIB_BYTES, .delay_s = 1});
        assert_near(result.dirty_bytes, 10 * MIB, 0);
    }
    result = step(model, (struct wio_model_op){.delay_s = 7});
    assert_near(result.dirty_bytes, 0, 0);
    params.dirty_interval = 0;
    struct wio_model *never = create(&params);
    (void)write_at(never, 0, MIB_BYTES);
    assert_near(step(never, (struct wio_model_op){.delay_s = 1e6}).dirty_bytes, MIB, 0);
    wio_model_destroy(never);
    wio_model_destroy(model);
}

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
    struct wio_model *model = create(&params);
    struct wio_model_op op = {
        .size = 8000, .method = WIO_MODEL_SYNC, .random = WIO_MODEL_RANDOM_NO};
    assert_near(step(model, op).cost_s, 0.007, 1e-12); /* the file was empty */
    assert_near(step(model, op).cost_s, 0.002, 1e-12); /* two blocks */
    op.size = 100;
    assert_near(step(model, op).cost_s, 0.001, 1e-12);
    op.method = WIO_MODEL_DIRECT;
    op.random = WIO_MODEL_RANDOM_YES;
    op.size = 1 << 20;
    assert_near(step(model, op).cost_s, 0.003, 1e-12); /* with a seek */
    op = (struct wio_model_op){.size = 16384, .method = WIO_MODEL_SYNC};
    assert_near(step(model, op).cost_s, 0.004 + 1e-3, 1e-12); /* beyond the last point */
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

static struct wio_model_result fwrite_at(struct wio_model *model, uint64_t offset, uint64_t size)
{
    return step(model,
                (struct wio_model_op){.offset = offset, .size = size, .method = WIO_MODEL_FWRITE});
}

/* The first fwrite finds no buffer to fill: whole blocks go out, the rest stays. */
static void fwrite_buffers_as_glibc(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    struct wio_model_result result = fwrite_at(model, 0, 10000);
    assert_near(result.dirty_bytes, 8192, 0);
    assert_near(result.cost_s, 5e-8 + 2e-6 + 8192 / 4e9, 1e-12);
    result = fwrite_at(model, 10000, 2288); /* fills the buffer: 1808 + 2288 = 4096 */
    assert_near(result.cost_s, 5e-8, 1e-12);
    assert_int_equal(result.state, WIO_MODEL_STATE_NONE);
    result = fwrite_at(model, 12288, 1); /* no room: the buffer goes out */
    assert_near(result.cost_s, 5e-8 + 2e-6 + 4096 / 4e9, 1e-12);
    assert_near(result.dirty_bytes, 12288, 0);
    result = fwrite_at(model, 0, 1); /* a seek flushes; its page becomes dirty as a whole */
    assert_near(result.dirty_bytes, 12289, 0);
    result = step(model, (struct wio_model_op){.method = WIO_MODEL_FFLUSH});
    assert_true(result.cost_s > 2e-6);
    result = step(model, (struct wio_model_op){.method = WIO_MODEL_FFLUSH});
    assert_near(result.cost_s, 0, 0);
    wio_model_destroy(model);
}

/* One write of 1 GiB costs as much as 16 of 64 MiB. */
static void splitting_changes_nothing(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    const uint64_t sizes[] = {64, 16, 2};
    struct wio_model *whole = create(&params);
    double expected = write_many(whole, 1, 1024 * MIB_BYTES);
    assert_true(expected > 6);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct wio_model *split = create(&params);
        assert_near(write_many(split, 1024 / sizes[i], sizes[i] * MIB_BYTES) / expected, 1, 0.01);
        wio_model_destroy(split);
    }
    wio_model_destroy(whole);
}

/* From the same state a longer write costs more: free, in write-back, throttled. */
static void cost_rises_with_size(void **state)
{
    (void)state;
    const uint64_t before[] = {0, 15, 40};
    struct wio_model_params params = machine();
    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
        double last_s = 0;
        enum wio_model_state last = WIO_MODEL_STATE_NONE;
        for (uint64_t size = 2 * MIB_BYTES; size <= 64 * MIB_BYTES; size += 2 * MIB_BYTES) {
            struct wio_model *model = create(&params);
            (void)write_many(model, before[i], 16 * MIB_BYTES);
            struct wio_model_result result = step(
                model, (struct wio_model_op){.offset = before[i] * 16 * MIB_BYTES, .size = size});
            assert_true(result.state != last || result.cost_s > last_s);
            last_s = result.cost_s;
            last = result.state;
            wio_model_destroy(model);
        }
    }
}

static struct wio_model_op random_op(uint64_t *seed, uint64_t *end)
{
    static const double delays[] = {0, 0, 0, 0.01, 0.3, 2, 40};
    uint64_t r = wio_test_random(seed);
    struct wio_model_op op = {
        .file = (r >> 8) % 3,
        .offset = r % 3 == 0 ? *end : ((r >> 16) % 200) * 700001,
        .size = (r >> 24) % 20 == 0 ? 0 : ((r >> 32) % 64) * ((r >> 40) % 2 == 0 ? 512 : 700001),
        .delay_s = delays[(r >> 44) % 7],
        .method =
            (enum wio_model_method)((r >> 48) % 4 == 0 ? (r >> 52) % WIO_MODEL_METHOD_COUNT : 0),
    };
    *end = op.offset + op.size;
    return op;
}

/* Whatever happens: time never runs backwards, costs are its steps, what is cached was written. */
static void random_operations_keep_the_books(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct wio_model_params params = machine();
        params.limit_bg = (double)(seed % 5) * 20 * MIB;
        params.limit_hard = params.limit_bg + (double)(seed % 7 + 1) * 10 * MIB;
        params.dirty_expire = (double)(seed % 3) * 15;
        params.balance_step = seed % 2 == 0 ? 4096 : 2 * MIB;
        params.cache_size = (double)(seed % 4) * 10 * MIB;
        struct wio_model *models[2] = {create(&params), create(&params)};
        uint64_t random = seed * 0x9e3779b97f4a7c15u;
        uint64_t end = 0;
        double written = 0;
        double time_s = 0;
        for (int i = 0; i < 300; i++) {
            struct wio_model_op op = random_op(&random, &end);
            struct wio_model_result a = step(models[0], op);
            struct wio_model_result b = step(models[1], op);
            assert_memory_equal(&a, &b, sizeof(a));
            written += (double)op.size;
            assert_true(a.cost_s >= 0);
            assert_near(a.time_s, time_s + op.delay_s + a.cost_s, 1e-9 * fmax(1, a.time_s));
            assert_true(a.dirty_bytes >= 0 && a.dirty_bytes <= written);
            time_s = a.time_s;
        }
        wio_model_destroy(models[0]);
        wio_model_destroy(models[1]);
    }
}

/* Absurd times and machines do no harm. */
static void absurd_numbers_are_survived(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    params.limit_bg = 0;
    params.limit_hard = 4096;
    struct wio_model *tiny = create(&params);
    struct wio_model_result result = write_at(tiny, 0, 64 * 4096);
    assert_true(isfinite(result.cost_s));
    result = step(tiny, (struct wio_model_op){.offset = UINT64_C(1) << 52, .size = 1 << 20});
    result = step(tiny, (struct wio_model_op){.size = 9999, .delay_s = 1e300});
    result = step(tiny, (struct wio_model_op){.size = 4096, .method = WIO_MODEL_FSYNC});
    assert_true(isfinite(result.time_s));
    wio_model_destroy(tiny);
    params.bw_dev = 1e16;
    params.limit_hard = 1e16;
    params.dirty_ratelimit0 = 1e16;
    params.write_bw0 = 1e16;
    params.hz = 1e5;
    struct wio_model *huge = create(&params);
    assert_true(isfinite(write_many(huge, 100, 64 * MIB_BYTES)));
    wio_model_destroy(huge);
}

static void its_parameters_are_checked(void **state)
{
    (void)state;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_model *model = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model_params params = machine();
    params.hz = 0;
    assert_status(wio_model_create(WIO_MODEL_KERNEL, &params, &heap, &model, &err), WIO_ERR_USAGE,
                  &err);
    assert_non_null(strstr(err.message, "'hz'"));
    assert_ok(wio_model_create(WIO_MODEL_CAWL, &params, &heap, &model, &err), &err);
    wio_model_destroy(model);
    params = machine();
    params.bf = 0.5;
    assert_status(wio_model_create(WIO_MODEL_KERNEL, &params, &heap, &model, &err), WIO_ERR_USAGE,
                  &err);
    assert_non_null(strstr(err.message, "'bf'"));
}

static void running_out_of_memory_is_an_error(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    params.request_max = 4096 * 300;
    params.cache_size = 50 * MIB;
    bool is_done = false;
    int refused = 0;
    for (int n = 0; !is_done; n++) {
        struct wio_stingy stingy = {.left = n};
        struct wio_alloc alloc = wio_stingy_alloc(&stingy);
        struct wio_error err = WIO_ERROR_INIT;
        struct wio_model *model = NULL;
        enum wio_status status = wio_model_create(WIO_MODEL_KERNEL, &params, &alloc, &model, &err);
        for (uint64_t i = 0; status == WIO_OK && i < 16; i++) {
            struct wio_model_op op = {
                .file = i % 3, .offset = i << 25, .size = 20 * MIB_BYTES, .delay_s = 4};
            struct wio_model_result result;
            status = wio_model_step(model, &op, &result, &err);
        }
        is_done = status == WIO_OK;
        assert_true(is_done || status == WIO_ERR_NOMEM);
        refused += !is_done;
        wio_model_destroy(model);
        assert_int_equal(stingy.out, 0);
    }
    assert_true(refused > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_first_write_goes_at_memory_speed),
        cmocka_unit_test(states_follow_the_dirty_amount),
        cmocka_unit_test(throttled_writes_take_jiffies),
        cmocka_unit_test(a_sleep_ends_at_the_tick_after_the_last),
        cmocka_unit_test(rewriting_dirty_pages_is_free),
        cmocka_unit_test(fsync_costs_what_is_dirty),
        cmocka_unit_test(a_buffer_in_the_device_is_faster),
        cmocka_unit_test(reads_find_what_is_in_memory),
        cmocka_unit_test(scanning_spares_what_is_used_often),
        cmocka_unit_test(old_data_is_written_back),
        cmocka_unit_test(direct_writes_have_the_device_to_themselves),
        cmocka_unit_test(tables_tell_what_synchronous_writes_cost),
        cmocka_unit_test(bad_tables_are_named),
        cmocka_unit_test(fwrite_buffers_as_glibc),
        cmocka_unit_test(splitting_changes_nothing),
        cmocka_unit_test(cost_rises_with_size),
        cmocka_unit_test(random_operations_keep_the_books),
        cmocka_unit_test(absurd_numbers_are_survived),
        cmocka_unit_test(its_parameters_are_checked),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };
    return WIO_RUN(tests);
}
