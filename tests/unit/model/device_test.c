/* SPDX-License-Identifier: Apache-2.0 */
/* Several devices below one page cache; and files that are cut or removed. */
#include "support/unit.h"

#include <math.h>
#include <string.h>

#include "machine.h"
#include "model/kernel/writeback_share.h"

/* The second device is `bw` times as fast as the first one. */
static struct wio_model *create_two(double bw)
{
    struct wio_model_params params = machine();
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model *model = create(&params);
    params.bw_dev *= bw;
    params.bw_rdev *= bw;
    params.dirty_ratelimit0 *= bw;
    params.write_bw0 *= bw;
    params.limit_hard = 1; /* of the machine: not looked at */
    assert_ok(wio_model_add_device(model, &params, &err), &err);
    return model;
}

static void each_device_has_a_speed_of_its_own(void **state)
{
    (void)state;
    struct wio_model *model = create_two(5);
    struct wio_model_op op = {.size = 10 * MIB_BYTES, .method = WIO_MODEL_DIRECT};
    assert_near(step(model, op).cost_s, 0.1 + 1.6e-4, 1e-9);
    op.device = 1;
    op.file = 1;
    assert_near(step(model, op).cost_s, 0.02 + 1.6e-4, 1e-9);
    op.method = WIO_MODEL_READ_DIRECT;
    op.random = WIO_MODEL_RANDOM_NO;
    assert_near(step(model, op).cost_s, 0.02 + 2e-6, 1e-9);
    op.method = WIO_MODEL_WRITE;
    (void)step(model, op);
    op.method = WIO_MODEL_FSYNC;
    assert_near(step(model, op).cost_s, 0.02 + 1.6e-4, 1e-6);
    wio_model_destroy(model);
}

static void devices_work_at_the_same_time(void **state)
{
    (void)state;
    struct wio_model *model = create_two(1);
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model_done done = {0};
    for (uint32_t i = 0; i < 2; i++) {
        struct wio_model_op op = {
            .file = i, .device = i, .size = 100 * MIB_BYTES, .method = WIO_MODEL_DIRECT};
        assert_ok(wio_model_begin(model, i, &op, &err), &err);
    }
    for (uint32_t i = 0; i < 2; i++) {
        assert_ok(wio_model_run(model, HUGE_VAL, &done, &err), &err);
    }
    assert_near(done.result.time_s, 1, 1e-3);
    wio_model_destroy(model);
}

/* Each of two tasks writes to a device of its own for a while; bytes by task. */
static double write_both(struct wio_model *model, double end_s, double bytes[2])
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model_done done = {0};
    uint64_t next[2] = {0, 0};
    double most = 0;
    for (uint32_t i = 0; done.result.time_s < end_s; i++) {
        uint32_t task = i < 2 ? i : done.task;
        struct wio_model_op op = {.file = task,
                                  .device = task,
                                  .offset = next[task] * 4 * MIB_BYTES,
                                  .size = 4 * MIB_BYTES};
        next[task]++;
        assert_ok(wio_model_begin(model, task, &op, &err), &err);
        if (i >= 1) {
            assert_ok(wio_model_run(model, HUGE_VAL, &done, &err), &err);
            bytes[done.task] += 4 * MIB;
            most = fmax(most, done.result.dirty_bytes);
        }
    }
    return most;
}

/* Both share the limits by what they write: each gets its own device's bandwidth, neither stands
 * still for the other. */
static void writers_get_the_bandwidth_of_their_device(void **state)
{
    (void)state;
    static const double ratios[] = {1, 0.2, 4};
    for (unsigned i = 0; i < 3; i++) {
        struct wio_model *model = create_two(ratios[i]);
        double warm[2] = {0, 0};
        double bytes[2] = {0, 0};
        double most = write_both(model, 60, warm);
        wio_model_destroy(model);
        model = create_two(ratios[i]);
        (void)write_both(model, 160, bytes);
        assert_near((bytes[0] - warm[0]) / (100 * MIB * 100), 1, 0.1);
        assert_near((bytes[1] - warm[1]) / (100 * MIB * 100 * ratios[i]), 1, 0.1);
        assert_true(most < 512 * MIB + 8 * MIB);
        wio_model_destroy(model);
    }
}

/* A second device that no task uses changes nothing. */
static void an_idle_device_changes_nothing(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *one = create(&params);
    struct wio_model *two = create_two(3);
    for (uint64_t i = 0; i < 200; i++) {
        struct wio_model_result a = write_at(one, i, 8 * MIB_BYTES);
        struct wio_model_result b = write_at(two, i, 8 * MIB_BYTES);
        assert_near(a.time_s, b.time_s, 1e-9);
        assert_near(a.dirty_bytes, b.dirty_bytes, 0);
    }
    wio_model_destroy(one);
    wio_model_destroy(two);
}

/* Old data of the one goes out whatever the other does. */
static void each_device_has_a_flusher(void **state)
{
    (void)state;
    struct wio_model *model = create_two(1);
    for (uint32_t i = 0; i < 2; i++) {
        (void)step(model, (struct wio_model_op){.file = i, .device = i, .size = 10 * MIB_BYTES});
    }
    struct wio_model_result result = step(model, (struct wio_model_op){.file = 9, .delay_s = 36});
    assert_near(result.dirty_bytes, 0, 0);
    wio_model_destroy(model);
}

static void what_was_written_fades(void **state)
{
    (void)state;
    struct wio_share share = {0};
    wio_share_add(&share, 100, 0.5);
    wio_share_add(&share, 100, 2.9);
    assert_near(wio_share_at(&share, 2.9), 200, 0);
    assert_near(wio_share_at(&share, 3), 100, 0);
    wio_share_add(&share, 100, 9);
    assert_near(wio_share_at(&share, 9), 125, 0);
}

static void bad_devices_are_refused(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_model *model = create(&params);
    struct wio_model_result result;
    const struct wio_model_op op = {.device = 1};
    assert_status(wio_model_step(model, &op, &result, &err), WIO_ERR_USAGE, &err);
    params.bw_dev = 0;
    assert_status(wio_model_add_device(model, &params, &err), WIO_ERR_USAGE, &err);
    assert_non_null(strstr(err.message, "'bw_dev'"));
    params = machine();
    for (int i = 1; i < WIO_MODEL_DEVICES_MAX; i++) {
        assert_ok(wio_model_add_device(model, &params, &err), &err);
    }
    assert_status(wio_model_add_device(model, &params, &err), WIO_ERR_USAGE, &err);
    wio_model_destroy(model);
    assert_ok(wio_model_create(WIO_MODEL_CAWL, &params, &heap, &model, &err), &err);
    assert_status(wio_model_add_device(model, &params, &err), WIO_ERR_UNSUPPORTED, &err);
    wio_model_destroy(model);
}

static struct wio_model_result cut(struct wio_model *model, uint64_t size)
{
    return step(model, (struct wio_model_op){
                           .offset = size, .method = WIO_MODEL_TRUNCATE, .is_shared = true});
}

/* However short the interval is, and however late it is: the flusher comes to an end. */
static void the_flusher_looks_a_countable_number_of_times(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_error err = WIO_ERROR_INIT;
    params.dirty_interval = 1e-9;
    struct wio_model *model = create(&params);
    assert_ok(wio_model_add_device(model, &params, &err), &err);
    (void)write_at(model, 0, MIB_BYTES);
    struct wio_model_op read = {.file = 1, .size = 4096, .delay_s = 1e9, .method = WIO_MODEL_READ};
    (void)step(model, read);
    wio_model_destroy(model);
    params = machine();
    params.bw_rdev = 1;
    model = create(&params);
    assert_ok(wio_model_add_device(model, &params, &err), &err);
    /* long reads, up to seconds that doubles cannot tell apart */
    read.size = WIO_MODEL_SIZE_MAX;
    read.method = WIO_MODEL_READ_DIRECT;
    while (wio_model_time(model) < 0x1p54) {
        (void)step(model, read);
    }
    (void)write_at(model, 0, MIB_BYTES);
    read.size = 4096;
    assert_near(step(model, read).dirty_bytes, 0, 0);
    wio_model_destroy(model);
}

/* Looks that find nothing take no time, and data that is too old is still found in the right one.
 */
static void looks_that_find_nothing_are_left_out(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_error err = WIO_ERROR_INIT;
    params.dirty_interval = 0.01;
    params.dirty_expire = 5e8;
    struct wio_model *model = create(&params);
    assert_ok(wio_model_add_device(model, &params, &err), &err);
    (void)write_at(model, 0, MIB_BYTES);
    struct wio_model_op read = {.file = 1, .size = 4096, .method = WIO_MODEL_READ_DIRECT};
    read.delay_s = 4.9e8;
    assert_near(step(model, read).dirty_bytes, MIB, 0);
    read.delay_s = 1e7 - 1;
    assert_near(step(model, read).dirty_bytes, MIB, 0);
    read.delay_s = 2;
    assert_near(step(model, read).dirty_bytes, 0, 0);
    wio_model_destroy(model);
}

/* Room for a page on each device, and no flusher that looks: a task that finds all of it taken by
 * the others does not wait for ever. */
static void pages_of_other_devices_make_room(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_error err = WIO_ERROR_INIT;
    params.limit_bg = 4096;
    params.limit_hard = 3 * 4096;
    params.dirty_interval = 0;
    struct wio_model *model = create(&params);
    for (unsigned i = 1; i < 4; i++) {
        assert_ok(wio_model_add_device(model, &params, &err), &err);
    }
    struct wio_model_op op = {.size = 4096};
    for (unsigned i = 0; i < 1000; i++) {
        op.file = op.device = i % 4;
        op.offset = i * UINT64_C(4096);
        assert_true(step(model, op).cost_s < 10);
    }
    wio_model_destroy(model);
}

/* What is dirty when a file is removed is never written. */
static void removed_data_is_not_written(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    (void)write_at(model, 0, 100 * MIB_BYTES);
    struct wio_model_result result = cut(model, 60 * MIB_BYTES);
    assert_near(result.dirty_bytes, 60 * MIB, 0);
    assert_near(result.cost_s, 0, 0);
    assert_near(cut(model, 0).dirty_bytes, 0, 0);
    result = step(model, (struct wio_model_op){.method = WIO_MODEL_FSYNC});
    assert_near(result.cost_s, 1.6e-4, 1e-9);
    /* for ever: it never comes to throttling */
    for (int i = 0; i < 100; i++) {
        assert_int_equal(write_at(model, 0, 100 * MIB_BYTES).state, WIO_MODEL_STATE_FREE);
        (void)cut(model, 0);
    }
    /* and it is not in memory; others may have written it */
    result = step(model, (struct wio_model_op){.size = MIB_BYTES, .method = WIO_MODEL_READ});
    assert_true(result.cost_s > 0.01);
    wio_model_destroy(model);
}

/* What the device has begun to write is waited for. */
static void removing_waits_for_the_device(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    double cached = write_at(model, 0, 200 * MIB_BYTES).dirty_bytes;
    struct wio_model_result result = cut(model, 0);
    assert_true(cached > 150 * MIB);
    assert_true(result.cost_s > 0.4 && result.cost_s < 1);
    assert_near(result.dirty_bytes, 0, 0);
    wio_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_device_has_a_speed_of_its_own),
        cmocka_unit_test(devices_work_at_the_same_time),
        cmocka_unit_test(writers_get_the_bandwidth_of_their_device),
        cmocka_unit_test(an_idle_device_changes_nothing),
        cmocka_unit_test(each_device_has_a_flusher),
        cmocka_unit_test(what_was_written_fades),
        cmocka_unit_test(bad_devices_are_refused),
        cmocka_unit_test(the_flusher_looks_a_countable_number_of_times),
        cmocka_unit_test(looks_that_find_nothing_are_left_out),
        cmocka_unit_test(pages_of_other_devices_make_room),
        cmocka_unit_test(removed_data_is_not_written),
        cmocka_unit_test(removing_waits_for_the_device),
    };
    return WIO_RUN(tests);
}
