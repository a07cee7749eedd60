/* SPDX-License-Identifier: Apache-2.0 */
/* Several tasks on one machine: where they meet, they share. */
#include "support/unit.h"

#include <math.h>
#include <stdbool.h>

#include "model/model.h"

#define MIB 1048576.0
#define MIB_BYTES (UINT64_C(1) << 20)
#define TASKS_MAX 64

static struct wio_model_params machine(void)
{
    struct wio_model_params params = wio_model_params_default();
    params.bw_mem = 8e9;
    params.bw_ramdisk = 4e9;
    params.bw_reduced = 3e9;
    params.bw_dev = 100 * MIB;
    params.bw_rdev = 200 * MIB;
    params.sc_w = 2e-6;
    params.sc_sw = 1e-4;
    params.c_sk = 0;
    params.bs = 4096;
    params.bf = 4096;
    params.limit_bg = 128 * MIB;
    params.limit_hard = 512 * MIB;
    params.dirty_expire = 30;
    return params;
}

static struct wio_model *create(enum wio_model_kind kind)
{
    struct wio_model_params params = machine();
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model *model;
    assert_ok(wio_model_create(kind, &params, &heap, &model, &err), &err);
    return model;
}

static void begin(struct wio_model *model, uint32_t task, struct wio_model_op op)
{
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_model_begin(model, task, &op, &err), &err);
}

static struct wio_model_done run(struct wio_model *model)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model_done done = {0};
    assert_ok(wio_model_run(model, HUGE_VAL, &done, &err), &err);
    return done;
}

/* Each task does `count` operations like `op`, one behind the other in a file of its own; how long
 * all of it takes. */
static double run_all(struct wio_model *model, uint32_t tasks, unsigned count,
                      struct wio_model_op op)
{
    unsigned left[TASKS_MAX];
    double end_s = 0;
    for (uint32_t task = 0; task < tasks; task++) {
        left[task] = count;
        op.file = task;
        begin(model, task, op);
    }
    for (unsigned n = 0; n < tasks * count; n++) {
        struct wio_model_done done = run(model);
        assert_true(done.result.time_s >= end_s);
        assert_true(done.result.cost_s >= 0);
        end_s = done.result.time_s;
        if (--left[done.task] > 0) {
            op.file = done.task;
            op.offset = (count - left[done.task]) * op.size;
            begin(model, done.task, op);
        }
    }
    return end_s;
}

/* One after the other by step, or begun and run: the same to the bit. */
static void one_task_is_a_step(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < WIO_MODEL_KIND_COUNT; kind++) {
        struct wio_model *a = create((enum wio_model_kind)kind);
        struct wio_model *b = create((enum wio_model_kind)kind);
        struct wio_error err = WIO_ERROR_INIT;
        uint64_t seed = 1;
        for (int i = 0; i < 300; i++) {
            struct wio_model_op op = {
                .file = wio_test_random(&seed) % 3,
                .offset = wio_test_random(&seed) % 64 * MIB_BYTES,
                .size = wio_test_random(&seed) % (16 * MIB_BYTES),
                .method = (enum wio_model_method)(wio_test_random(&seed) % WIO_MODEL_METHOD_COUNT),
            };
            struct wio_model_result result;
            assert_ok(wio_model_step(a, &op, &result, &err), &err);
            begin(b, 7, op);
            struct wio_model_done done = run(b);
            assert_int_equal(done.task, 7);
            assert_true(fabs(done.result.cost_s - result.cost_s) <= 1e-9);
            /* cawl's own clock stands while stdio buffers */
            assert_true(kind == WIO_MODEL_CAWL || done.result.time_s == result.time_s);
            assert_true(done.result.dirty_bytes == result.dirty_bytes);
            assert_int_equal(done.result.state, result.state);
            assert_true(wio_model_time(a) == wio_model_time(b));
        }
        wio_model_destroy(a);
        wio_model_destroy(b);
    }
}

/* The device writes one byte after the other, for all tasks: n direct writers take n times. */
static void direct_writers_share_the_device(void **state)
{
    (void)state;
    struct wio_model_op op = {.size = 10 * MIB_BYTES, .method = WIO_MODEL_DIRECT};
    for (uint32_t tasks = 1; tasks <= 4; tasks++) {
        struct wio_model *model = create(WIO_MODEL_KERNEL);
        double time_s = run_all(model, tasks, 5, op);
        assert_true(fabs(time_s / (tasks * 5 * 0.1) - 1) < 0.01);
        wio_model_destroy(model);
    }
}

/* Each of two that write 64 MiB and fsync pays for both (docs/MODEL.md, rule 11). */
static void syncing_writers_pay_twice_each(void **state)
{
    (void)state;
    struct wio_model *model = create(WIO_MODEL_KERNEL);
    (void)run_all(model, 2, 1, (struct wio_model_op){.size = 64 * MIB_BYTES});
    begin(model, 0, (struct wio_model_op){.file = 0, .method = WIO_MODEL_FSYNC});
    begin(model, 1, (struct wio_model_op){.file = 1, .method = WIO_MODEL_FSYNC});
    double first_s = run(model).result.cost_s;
    double second_s = run(model).result.cost_s;
    assert_true(fabs(first_s - 0.64) < 0.01);
    assert_true(fabs(second_s - 1.28) < 0.01);
    wio_model_destroy(model);
}

/* Under throttling all tasks together get what the device can do. */
static void throttled_writers_share_the_bandwidth(void **state)
{
    (void)state;
    struct wio_model_op op = {.size = 4 * MIB_BYTES};
    struct wio_model *one = create(WIO_MODEL_KERNEL);
    double alone_s = run_all(one, 1, 1024, op);
    wio_model_destroy(one);
    for (uint32_t tasks = 2; tasks <= 8; tasks *= 2) {
        struct wio_model *model = create(WIO_MODEL_KERNEL);
        double time_s = run_all(model, tasks, 1024 / tasks, op);
        assert_true(fabs(time_s / alone_s - 1) < 0.1);
        wio_model_destroy(model);
    }
}

/* While one waits for the disk, another goes on in memory. */
static void a_waiting_task_holds_up_no_other(void **state)
{
    (void)state;
    struct wio_model *model = create(WIO_MODEL_KERNEL);
    begin(model, 0, (struct wio_model_op){.size = 100 * MIB_BYTES, .method = WIO_MODEL_DIRECT});
    begin(model, 1, (struct wio_model_op){.file = 1, .size = MIB_BYTES});
    assert_int_equal(run(model).task, 1);
    assert_true(wio_model_time(model) < 0.01);
    assert_int_equal(run(model).task, 0);
    assert_true(fabs(wio_model_time(model) - 1) < 0.01);
    wio_model_destroy(model);
}

/* Together they reach the background limit. The task that passes it finds the device writing, and
 * is slower.
 */
static void of_two_at_once_the_lower_number_goes_first(void **state)
{
    (void)state;
    struct wio_model *model = create(WIO_MODEL_KERNEL);
    struct wio_model_op op = {.size = 64 * MIB_BYTES};
    for (uint32_t task = 0; task < 2; task++) {
        op.file = task;
        begin(model, task, op);
    }
    for (uint32_t task = 0; task < 2; task++) {
        assert_int_equal(run(model).task, task);
        begin(model, task,
              (struct wio_model_op){.file = task, .offset = 64 * MIB_BYTES, .size = 2 * MIB_BYTES});
    }
    for (uint32_t task = 0; task < 2; task++) {
        struct wio_model_done done = run(model);
        assert_int_equal(done.task, task);
        assert_int_equal(done.result.state,
                         task == 0 ? WIO_MODEL_STATE_FREE : WIO_MODEL_STATE_ASYNC);
    }
    wio_model_destroy(model);
}

static void time_stops_where_it_is_asked_to(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < WIO_MODEL_KIND_COUNT; kind++) {
        struct wio_model *model = create((enum wio_model_kind)kind);
        struct wio_error err = WIO_ERROR_INIT;
        struct wio_model_done done;
        struct wio_model_op op = {.size = 100 * MIB_BYTES, .method = WIO_MODEL_DIRECT};
        assert_int_equal(wio_model_run(model, 0.25, &done, &err), WIO_END);
        assert_true(wio_model_time(model) == 0.25);
        begin(model, 3, op);
        assert_int_equal(wio_model_run(model, 0.5, &done, &err), WIO_END);
        assert_true(wio_model_time(model) == 0.5);
        assert_status(wio_model_begin(model, 3, &op, &err), WIO_ERR_USAGE, &err);
        done = run(model);
        assert_true(fabs(done.result.cost_s - 1) < 0.01);
        assert_int_equal(wio_model_run(model, HUGE_VAL, &done, &err), WIO_END);
        wio_model_destroy(model);
    }
}

/* Where it begins to wait for the device, once, and where it ends. */
static void sleep_is_told(void **state)
{
    (void)state;
    struct wio_model *model = create(WIO_MODEL_KERNEL);
    struct wio_model *naive = create(WIO_MODEL_NAIVE);
    assert_false(wio_model_tell_sleep(naive));
    assert_true(wio_model_tell_sleep(model));
    begin(model, 1, (struct wio_model_op){.size = MIB_BYTES});
    struct wio_model_done done = run(model);
    assert_false(done.is_asleep); /* it only copied */
    double begin_s = wio_model_time(model);
    begin(model, 1, (struct wio_model_op){.method = WIO_MODEL_FSYNC});
    done = run(model);
    assert_true(done.is_asleep);
    assert_int_equal(done.task, 1);
    assert_true(done.result.time_s == begin_s);
    done = run(model);
    assert_false(done.is_asleep);
    assert_true(done.result.time_s >= begin_s + 0.01);
    wio_model_destroy(model);
    wio_model_destroy(naive);
}

/* A throttled writer is told asleep once, and takes as long as if the state was not asked for. */
static void telling_changes_no_time(void **state)
{
    (void)state;
    struct wio_model *told = create(WIO_MODEL_KERNEL);
    struct wio_model *other = create(WIO_MODEL_KERNEL);
    unsigned sleeps = 0;
    assert_true(wio_model_tell_sleep(told));
    for (uint64_t i = 0; i < 64; i++) {
        const struct wio_model_op op = {.offset = i * 16 * MIB_BYTES, .size = 16 * MIB_BYTES};
        begin(told, 1, op);
        begin(other, 1, op);
        struct wio_model_done done = run(told);
        if (done.is_asleep) {
            sleeps++;
            done = run(told);
        }
        assert_false(done.is_asleep);
        assert_true(done.result.cost_s == run(other).result.cost_s);
    }
    assert_in_range(sleeps, 1, 64);
    wio_model_destroy(told);
    wio_model_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_task_is_a_step),
        cmocka_unit_test(direct_writers_share_the_device),
        cmocka_unit_test(syncing_writers_pay_twice_each),
        cmocka_unit_test(throttled_writers_share_the_bandwidth),
        cmocka_unit_test(a_waiting_task_holds_up_no_other),
        cmocka_unit_test(of_two_at_once_the_lower_number_goes_first),
        cmocka_unit_test(time_stops_where_it_is_asked_to),
        cmocka_unit_test(sleep_is_told),
        cmocka_unit_test(telling_changes_no_time),
    };
    return WIO_RUN(tests);
}
