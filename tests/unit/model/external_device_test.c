/* SPDX-License-Identifier: Apache-2.0 */
/* A device outside: left alone it changes nothing, slow it slows. */
#include "support/unit.h"

#include <math.h>
#include <stdbool.h>

#include "model/kernel/external_device.h"

#define MIB 1048576.0
#define MIB_BYTES (UINT64_C(1) << 20)

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
    params.limit_bg = 64 * MIB;
    params.limit_hard = 256 * MIB;
    params.dirty_expire = 30;
    params.read_ahead = 0;
    return params;
}

static struct wio_model *create_of(enum wio_model_kind kind, const struct wio_model_params *params,
                                   bool is_outside)
{
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model *model;
    assert_ok(wio_model_create(kind, params, &heap, &model, &err), &err);
    if (is_outside) {
        assert_ok(wio_model_outside_init(model, &err), &err);
    }
    return model;
}

static struct wio_model *create(enum wio_model_kind kind, bool is_outside)
{
    const struct wio_model_params params = machine();
    return create_of(kind, &params, is_outside);
}

static struct wio_model_result step(struct wio_model *model, struct wio_model_op op)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model_result result;
    assert_ok(wio_model_step(model, &op, &result, &err), &err);
    return result;
}

static void begin(struct wio_model *model, struct wio_model_op op)
{
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_model_begin(model, 0, &op, &err), &err);
}

static enum wio_status run(struct wio_model *model, double until_s, struct wio_model_done *done)
{
    struct wio_error err = WIO_ERROR_INIT;
    return wio_model_run(model, until_s, done, &err);
}

static void only_kernel_has_one(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < WIO_MODEL_KIND_COUNT; kind++) {
        struct wio_error err = WIO_ERROR_INIT;
        struct wio_model *model = create((enum wio_model_kind)kind, false);
        assert_status(wio_model_outside_init(model, &err),
                      kind == WIO_MODEL_KERNEL ? WIO_OK : WIO_ERR_UNSUPPORTED, &err);
        wio_model_destroy(model);
    }
}

/* All is granted before it is asked for: the same to the bit. */
static void alone_it_changes_nothing(void **state)
{
    (void)state;
    static const enum wio_model_method methods[] = {WIO_MODEL_WRITE, WIO_MODEL_WRITE,
                                                    WIO_MODEL_FWRITE, WIO_MODEL_FSYNC};
    struct wio_model *own = create(WIO_MODEL_KERNEL, false);
    struct wio_model *outside = create(WIO_MODEL_KERNEL, true);
    uint64_t seed = 7;
    wio_model_outside_grant(outside, UINT64_MAX);
    for (int i = 0; i < 500; i++) {
        struct wio_model_op op = {.file = wio_test_random(&seed) % 3,
                                  .offset = wio_test_random(&seed) % 512 * MIB_BYTES,
                                  .size = wio_test_random(&seed) % (16 * MIB_BYTES),
                                  .delay_s = (double)(wio_test_random(&seed) % 50) / 1000,
                                  .method = methods[wio_test_random(&seed) % 4]};
        struct wio_model_result a = step(own, op);
        struct wio_model_result b = step(outside, op);
        assert_true(a.cost_s == b.cost_s && a.dirty_bytes == b.dirty_bytes);
        assert_true(b.device_s == 0);
    }
    assert_true(wio_model_time(own) == wio_model_time(outside));
    wio_model_destroy(own);
    wio_model_destroy(outside);
}

static void what_is_not_granted_does_not_end(void **state)
{
    (void)state;
    struct wio_model *model = create(WIO_MODEL_KERNEL, true);
    struct wio_model_done done = {0};
    (void)step(model, (struct wio_model_op){.size = 4 * MIB_BYTES});
    assert_int_equal(wio_model_outside_ask(model).asked_bytes, 0);
    assert_true(wio_model_outside_ask(model).dirty_bytes == 4 * MIB);
    begin(model, (struct wio_model_op){.method = WIO_MODEL_FSYNC});
    assert_int_equal(run(model, 100, &done), WIO_END);
    assert_int_equal(wio_model_outside_ask(model).asked_bytes, 4 * MIB_BYTES);
    assert_true(isinf(wio_model_outside_wake(model, 0)));
    wio_model_outside_grant(model, 4 * MIB_BYTES - 1);
    assert_true(isinf(wio_model_outside_wake(model, 0)));
    wio_model_outside_grant(model, 4 * MIB_BYTES);
    assert_true(wio_model_outside_wake(model, 0) == 100);
    assert_int_equal(run(model, 100, &done), WIO_OK);
    assert_true(done.result.time_s == 100);
    assert_true(wio_model_outside_ask(model).dirty_bytes == 0);
    wio_model_destroy(model);
}

/* Tables may be of a buffer, or of another device: one outside has the rate that it has. */
static void tables_do_not_speed_it_up(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    params.direct_table =
        (struct wio_model_table){.count = 2, .points = {{4096, 1e-3}, {65536, 1.1e-3}}};
    struct wio_model *model = create_of(WIO_MODEL_KERNEL, &params, true);
    for (uint64_t pages = 1; pages <= 4096; pages *= 16) {
        const struct wio_model_op op = {.size = pages * 4096, .method = WIO_MODEL_DIRECT};
        struct wio_model_result result = step(model, op);
        assert_true(fabs(result.device_s - (double)op.size / params.bw_dev) < 1e-12);
        assert_true(pages > 16 || fabs(result.cost_s + result.device_s - 1e-3) < 1.1e-4);
        assert_true(pages <= 16 || result.cost_s < 1e-9);
    }
    wio_model_destroy(model);
}

static void device_time_is_left_to_the_caller(void **state)
{
    (void)state;
    static const enum wio_model_method methods[] = {WIO_MODEL_READ, WIO_MODEL_DIRECT,
                                                    WIO_MODEL_SYNC};
    for (size_t i = 0; i < 3; i++) {
        struct wio_model *own = create(WIO_MODEL_KERNEL, false);
        struct wio_model *outside = create(WIO_MODEL_KERNEL, true);
        struct wio_model_op op = {.size = 10 * MIB_BYTES, .method = methods[i]};
        double device_s = methods[i] == WIO_MODEL_READ ? 0.05 : 0.1;
        double all_s = step(own, op).cost_s;
        struct wio_model_result result = step(outside, op);
        assert_true(fabs(result.device_s - device_s) < 1e-12);
        assert_true(result.cost_s > 0 && result.cost_s < device_s);
        assert_true(fabs(result.cost_s + result.device_s - all_s) < 1e-12);
        wio_model_destroy(own);
        wio_model_destroy(outside);
    }
}

/* The disk or the model moves the heads: nothing is counted twice, and nothing is lost. */
static void seeks_are_counted_once(void **state)
{
    (void)state;
    static const enum wio_model_method methods[] = {WIO_MODEL_READ, WIO_MODEL_READ_DIRECT,
                                                    WIO_MODEL_DIRECT, WIO_MODEL_DIRECT_NOSYNC,
                                                    WIO_MODEL_SYNC};
    struct wio_model_params params = machine();
    params.sc_sw = 1.6e-4;
    params.c_sk = 1e-3;
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        struct wio_model *own = create_of(WIO_MODEL_KERNEL, &params, false);
        struct wio_model *outside = create_of(WIO_MODEL_KERNEL, &params, true);
        for (uint64_t k = 0; k < 6; k++) {
            const struct wio_model_op op = {.offset = k * 32 * MIB_BYTES,
                                            .size = 10 * MIB_BYTES,
                                            .method = methods[i],
                                            .random = (enum wio_model_random)(k % 3)};
            double all_s = step(own, op).cost_s;
            struct wio_model_result result = step(outside, op);
            assert_true(result.cost_s > 0 && result.device_s > 0);
            if (!(fabs(result.cost_s + result.device_s - all_s) < 1e-12)) {
                fail_msg("method %u, %u: %g and %g s are not %g s", (unsigned)i, (unsigned)k,
                         result.cost_s, result.device_s, all_s);
            }
        }
        wio_model_destroy(own);
        wio_model_destroy(outside);
    }
}

/* What is beside a table is beside the rate of the device outside, too: a seek, and the rest of a
 * folio of which a block is written. */
static void fast_tables_leave_what_is_beside_them(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    params.c_sk = 8e-3;
    params.c_page_sync = 1e-5;
    params.direct_table = params.sync_table =
        (struct wio_model_table){.count = 2, .points = {{4096, 3e-5}, {MIB, 5e-4}}};
    for (int i = 0; i < 4; i++) {
        bool is_random = i % 2 == 1;
        params.slice = i < 2 ? 0 : 0.1; /* not of the device outside */
        struct wio_model *model = create_of(WIO_MODEL_KERNEL, &params, true);
        wio_model_outside_grant(model, UINT64_MAX);
        struct wio_model_op op = {.size = MIB_BYTES,
                                  .method = WIO_MODEL_DIRECT,
                                  .random = is_random ? WIO_MODEL_RANDOM_YES : WIO_MODEL_RANDOM_NO};
        double seek_s = is_random ? params.c_sk : 0;
        struct wio_model_result result = step(model, op);
        assert_true(fabs(result.device_s - 0.01) < 1e-12);
        assert_true(fabs(result.cost_s - seek_s) < 1e-12);
        (void)step(model, (struct wio_model_op){.file = 1, .size = MIB_BYTES});
        (void)step(model, (struct wio_model_op){.file = 1, .method = WIO_MODEL_FSYNC});
        op.file = 1;
        op.size /= 2;
        op.method = WIO_MODEL_SYNC;
        result = step(model, op);
        assert_true(fabs(result.device_s - 0.005) < 1e-12);
        assert_true(fabs(result.cost_s - seek_s - 128 * params.c_page_sync) < 1e-12);
        wio_model_destroy(model);
    }
}

/* Old data goes to the device at the look that was foretold, though no task is there. */
static void looks_for_old_data_are_foretold(void **state)
{
    (void)state;
    struct wio_model *model = create(WIO_MODEL_KERNEL, true);
    struct wio_model_done done;
    assert_true(isinf(wio_model_outside_ask(model).look_s));
    (void)step(model, (struct wio_model_op){.size = MIB_BYTES});
    double look_s = wio_model_outside_ask(model).look_s;
    assert_true(look_s >= 30 && look_s <= 36);
    assert_int_equal(run(model, look_s - 1e-3, &done), WIO_END);
    assert_int_equal(wio_model_outside_ask(model).asked_bytes, 0);
    assert_int_equal(run(model, look_s, &done), WIO_END);
    assert_int_equal(wio_model_outside_ask(model).asked_bytes, MIB_BYTES);
    wio_model_destroy(model);
}

/* Writes 2 GiB in 16 MiB; at each 10 ms the disk outside has written what it can; how long. */
static double write_beside(double disk_bytes_s)
{
    struct wio_model *model = create(WIO_MODEL_KERNEL, true);
    struct wio_model_done done;
    double written = 0;
    double now_s = 0;
    begin(model, (struct wio_model_op){.size = 16 * MIB_BYTES});
    for (uint64_t i = 1; i <= 128;) {
        now_s += 0.01;
        while (i <= 128 && run(model, now_s, &done) == WIO_OK) {
            if (i < 128) {
                begin(model,
                      (struct wio_model_op){.offset = i * 16 * MIB_BYTES, .size = 16 * MIB_BYTES});
            }
            i++;
        }
        double asked = (double)wio_model_outside_ask(model).asked_bytes;
        written = fmin(written + 0.01 * disk_bytes_s, asked);
        wio_model_outside_grant(model, (uint64_t)written);
    }
    wio_model_destroy(model);
    return now_s;
}

/* The dirty limits let 256 MiB stay in memory, the rest waits for the disk. */
static void a_slow_disk_slows_the_writer(void **state)
{
    (void)state;
    double alone_s = write_beside(1e12);
    double shared_s = write_beside(50 * MIB);
    assert_true(alone_s > (2048 - 256) / 100.0 && alone_s < 2048 / 100.0);
    assert_true(shared_s > (2048 - 256) / 50.0 && shared_s < 2048 / 50.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_kernel_has_one),
        cmocka_unit_test(alone_it_changes_nothing),
        cmocka_unit_test(what_is_not_granted_does_not_end),
        cmocka_unit_test(tables_do_not_speed_it_up),
        cmocka_unit_test(device_time_is_left_to_the_caller),
        cmocka_unit_test(seeks_are_counted_once),
        cmocka_unit_test(fast_tables_leave_what_is_beside_them),
        cmocka_unit_test(looks_for_old_data_are_foretold),
        cmocka_unit_test(a_slow_disk_slows_the_writer),
    };
    return WIO_RUN(tests);
}
