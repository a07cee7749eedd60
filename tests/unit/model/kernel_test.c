/* SPDX-License-Identifier: Apache-2.0 */
#include "support/stingy.h"
#include "support/unit.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

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

/* Up to 320 MiB no task sleeps; above the background limit write-back is noticed. */
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
    double woken_s = (floor((start_s + 2e-6) * 250) + 3) / 250 + 5e-5;
    assert_near(result.time_s, woken_s + 2 * MIB / 3.5e9, 1e-9);
    wio_model_destroy(model);
}

/* A task looks at the limits before each folio: what the last one of a write did is noticed, and
 * paid for, when the task writes again. */
static void the_last_folio_is_paid_for_by_the_next_write(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    const struct wio_model_op after_10_mib = {.delay_s = 0.1};
    (void)write_at(model, 0, 130 * MIB_BYTES);
    assert_near(step(model, after_10_mib).dirty_bytes, 130 * MIB, 0);
    assert_int_equal(write_at(model, 65, 2 * MIB_BYTES).state, WIO_MODEL_STATE_ASYNC);
    assert_near(step(model, after_10_mib).dirty_bytes, (132 - 8) * MIB, 0);
    wio_model_destroy(model);
}

/* Even far above the ceiling, pages that are dirty already cost only the copy. */
static void rewriting_dirty_pages_is_free(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    (void)write_many(model, 50, 16 * MIB_BYTES);
    (void)write_at(model, 50, 16 * MIB_BYTES);
    double cached =
        write_at(model, 50 * 16 + 15, MIB_BYTES).dirty_bytes; /* pays for the last folio */
    for (int i = 0; i < 100; i++) {
        struct wio_model_result result = write_at(model, 50 * 16 + 15, MIB_BYTES);
        assert_int_equal(result.state, WIO_MODEL_STATE_ASYNC);
        assert_near(result.cost_s, MIB / 8e9 + 2e-6, 1e-12);
        assert_true(result.dirty_bytes <= cached);
    }
    wio_model_destroy(model);
}

/* Background write-back takes 48 MiB at first. Of a new file they go out in requests of 8 MiB; once
 * it has its blocks they are one request, and so become clean together. */
static void blocks_that_exist_are_written_at_once(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    const struct wio_model_op after_20_mib = {.delay_s = 0.2};
    (void)write_many(model, 9, 16 * MIB_BYTES);
    assert_near(step(model, after_20_mib).dirty_bytes, 128 * MIB, 0);
    (void)step(model, (struct wio_model_op){.method = WIO_MODEL_FSYNC});
    (void)write_many(model, 9, 16 * MIB_BYTES);
    assert_near(step(model, after_20_mib).dirty_bytes, 144 * MIB, 0);
    (void)step(model, (struct wio_model_op){.method = WIO_MODEL_TRUNCATE});
    (void)write_many(model, 9, 16 * MIB_BYTES);
    assert_near(step(model, after_20_mib).dirty_bytes, 128 * MIB, 0);
    wio_model_destroy(model);
}

/* New blocks come in pieces that are aligned to their size: the first request of a file that begins
 * in the middle of one is shorter. */
static void requests_for_new_blocks_are_aligned(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    (void)step(model, (struct wio_model_op){.offset = 6 * MIB_BYTES, .size = 132 * MIB_BYTES});
    assert_near(step(model, (struct wio_model_op){.delay_s = 0.021}).dirty_bytes, 130 * MIB, 0);
    assert_near(step(model, (struct wio_model_op){.delay_s = 0.08}).dirty_bytes, 122 * MIB, 0);
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

/* Beside its data an fsync costs what a synchronous write of one block does, and more where the
 * file has grown: the journal takes in its length. */
static void fsync_of_a_longer_file_waits_for_the_journal(void **state)
{
    (void)state;
    const double block_s = 4096 / (100 * MIB) + 4096 / 4e9;
    struct wio_model_params params = machine();
    params.sync_table = (struct wio_model_table){2, {{4096, block_s + 1e-3}, {MIB, 0.02}}};
    params.append_table = (struct wio_model_table){2, {{4096, block_s + 3e-3}, {MIB, 0.04}}};
    params.bw_ramdisk = 4e9;
    struct wio_model *model = create(&params);
    const struct wio_model_op fsync = {.method = WIO_MODEL_FSYNC};
    const struct wio_model_op write = {.size = MIB_BYTES};
    (void)step(model, write);
    assert_near(step(model, fsync).cost_s, 3e-3 + 0.01, 1e-9);
    (void)step(model, write);
    assert_near(step(model, fsync).cost_s, 1e-3 + 0.01, 1e-9);
    assert_near(step(model, fsync).cost_s, params.sc_sw, 1e-12);
    wio_model_destroy(model);
}

/* A file system is synced whole; write-back that is only asked for is not waited for. */
static void files_are_synced_together(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    for (uint64_t i = 0; i < 4; i++) {
        (void)step(model, (struct wio_model_op){.file = i, .size = 10 * MIB_BYTES});
    }
    const struct wio_model_op start = {.file = 1, .method = WIO_MODEL_WRITE_OUT};
    assert_near(step(model, start).cost_s, 2e-6, 1e-12);
    struct wio_model_result result =
        step(model, (struct wio_model_op){.file = 9, .delay_s = 0.05, .method = WIO_MODEL_SYNCFS});
    assert_near(result.cost_s, 0.35, 2e-4);
    assert_near(result.dirty_bytes, 0, 0);
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

/* Whenever it was: the look that comes 30 s later finds it old, however the seconds are rounded. */
static void old_data_is_found_in_time(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    for (int i = 0; i < 60; i++) {
        struct wio_model *model = create(&params);
        (void)step(model, (struct wio_model_op){.size = MIB_BYTES, .delay_s = 0.1 * i});
        assert_near(step(model, (struct wio_model_op){.delay_s = 29.9}).dirty_bytes, MIB, 0);
        assert_near(step(model, (struct wio_model_op){.delay_s = 0.2}).dirty_bytes, 0, 0);
        wio_model_destroy(model);
    }
}

static void the_first_write_into_a_file_costs_more(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    params.c_new = 1e-5;
    struct wio_model *model = create(&params);
    double first_s = write_at(model, 0, 4096).cost_s;
    double second_s = write_at(model, 1, 4096).cost_s;
    assert_near(first_s - second_s, 1e-5, 1e-12);
    struct wio_model_op op = {.file = 1, .size = 100, .method = WIO_MODEL_FWRITE};
    assert_near(step(model, op).cost_s, params.c_lib, 1e-12); /* nothing is written yet */
    op.method = WIO_MODEL_FFLUSH;
    assert_true(step(model, op).cost_s > 1e-5);
    assert_near(step(model, op).cost_s, 0, 1e-12);
    wio_model_destroy(model);
}

/* Into its buffer, which is made then, or past it. */
static void the_first_fwrite_of_a_stream_costs_more(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    params.c_stream = 1e-5;
    struct wio_model *model = create(&params);
    struct wio_model_op op = {.file = 1, .size = 100, .method = WIO_MODEL_FWRITE};
    assert_near(step(model, op).cost_s, params.c_lib + 1e-5, 1e-12);
    op.offset = 100;
    assert_near(step(model, op).cost_s, params.c_lib, 1e-12);
    op = (struct wio_model_op){.file = 2, .size = 8192, .method = WIO_MODEL_FWRITE};
    double past_s = step(model, op).cost_s;
    params.c_stream = 0;
    struct wio_model *other = create(&params);
    assert_near(past_s - step(other, op).cost_s, 1e-5, 1e-12);
    wio_model_destroy(other);
    wio_model_destroy(model);
}

static void a_file_written_anew_has_a_new_stream(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    params.c_stream = 1e-5;
    struct wio_model *model = create(&params);
    struct wio_model_op op = {.file = 1, .size = 10000, .method = WIO_MODEL_FWRITE};
    (void)step(model, op);
    op = (struct wio_model_op){.file = 1, .method = WIO_MODEL_FFLUSH};
    (void)step(model, op);
    op = (struct wio_model_op){.file = 1, .offset = 4096, .method = WIO_MODEL_TRUNCATE};
    (void)step(model, op);
    op = (struct wio_model_op){.file = 1, .offset = 10000, .size = 1, .method = WIO_MODEL_FWRITE};
    assert_near(step(model, op).cost_s, params.c_lib, 1e-12);
    op = (struct wio_model_op){.file = 1, .method = WIO_MODEL_FFLUSH};
    (void)step(model, op);
    op = (struct wio_model_op){.file = 1, .method = WIO_MODEL_TRUNCATE};
    (void)step(model, op);
    op = (struct wio_model_op){.file = 1, .size = 1, .method = WIO_MODEL_FWRITE};
    assert_near(step(model, op).cost_s, params.c_lib + 1e-5, 1e-12);
    wio_model_destroy(model);
}

static void endless_operations_are_refused(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    struct wio_model_result result;
    struct wio_error err = WIO_ERROR_INIT;
    static const enum wio_model_method methods[] = {
        WIO_MODEL_WRITE,  WIO_MODEL_SYNC,          WIO_MODEL_FWRITE,     WIO_MODEL_READ,
        WIO_MODEL_DIRECT, WIO_MODEL_DIRECT_NOSYNC, WIO_MODEL_READ_DIRECT};
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        struct wio_model_op op = {.size = WIO_MODEL_SIZE_MAX + 1, .method = methods[i]};
        assert_status(wio_model_step(model, &op, &result, &err), WIO_ERR_USAGE, &err);
        assert_non_null(strstr(err.message, "1099511627777 bytes"));
    }
    wio_model_destroy(model);
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
    result = step(tiny, (struct wio_model_op){.size = 9999, .delay_s = 1e9});
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
    params.mem_bytes = 50 * MIB;
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
        cmocka_unit_test(the_last_folio_is_paid_for_by_the_next_write),
        cmocka_unit_test(rewriting_dirty_pages_is_free),
        cmocka_unit_test(blocks_that_exist_are_written_at_once),
        cmocka_unit_test(requests_for_new_blocks_are_aligned),
        cmocka_unit_test(fsync_costs_what_is_dirty),
        cmocka_unit_test(files_are_synced_together),
        cmocka_unit_test(fsync_of_a_longer_file_waits_for_the_journal),
        cmocka_unit_test(a_buffer_in_the_device_is_faster),
        cmocka_unit_test(old_data_is_written_back),
        cmocka_unit_test(old_data_is_found_in_time),
        cmocka_unit_test(the_first_write_into_a_file_costs_more),
        cmocka_unit_test(the_first_fwrite_of_a_stream_costs_more),
        cmocka_unit_test(a_file_written_anew_has_a_new_stream),
        cmocka_unit_test(endless_operations_are_refused),
        cmocka_unit_test(fwrite_buffers_as_glibc),
        cmocka_unit_test(absurd_numbers_are_survived),
        cmocka_unit_test(its_parameters_are_checked),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };
    return WIO_RUN(tests);
}
