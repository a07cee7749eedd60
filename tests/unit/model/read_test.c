/* SPDX-License-Identifier: Apache-2.0 */
/* Reads of the kernel model: what is in memory, what is read ahead, what memory has room for. */
#include "support/unit.h"

#include <math.h>

#include "machine.h"

#define PAGE 4096.0

static struct wio_model_result read_bytes(struct wio_model *model, uint64_t file, uint64_t offset,
                                          uint64_t size, double delay_s)
{
    return step(model, (struct wio_model_op){.file = file,
                                             .offset = offset,
                                             .size = size,
                                             .delay_s = delay_s,
                                             .method = WIO_MODEL_READ});
}

static struct wio_model_result read_at(struct wio_model *model, uint64_t file, uint64_t mib,
                                       uint64_t size_mib)
{
    return read_bytes(model, file, mib * MIB_BYTES, size_mib * MIB_BYTES, 0);
}

/* Written data is read from memory, other data from the device, once. */
static void reads_find_what_is_in_memory(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    const double hit_s = 10 * MIB / 8e9 + 2e-6;
    struct wio_model *model = create(&params);
    (void)write_at(model, 0, 10 * MIB_BYTES);
    assert_near(read_at(model, 0, 0, 10).cost_s, hit_s, 1e-9);
    assert_near(read_at(model, 1, 0, 10).cost_s, 0.1, 5e-4); /* copied meanwhile, but for the end */
    assert_near(read_at(model, 1, 0, 10).cost_s, hit_s, 1e-9);
    /* 1280 KiB behind it were read ahead; then the device has to seek */
    (void)step(model, (struct wio_model_op){.delay_s = 1});
    assert_near(read_at(model, 1, 5, 10).cost_s, 0.0375 + 1e-3 + hit_s, 5e-4);
    wio_model_destroy(model);
}

/* What was not written since the file was cut is zeros, and those are nowhere. */
static void holes_need_no_device(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    const double hit_s = 4 * MIB / 8e9 + 2e-6;
    params.read_ahead = 0;
    params.c_sk = 0;
    struct wio_model *model = create(&params);
    (void)step(model, (struct wio_model_op){.method = WIO_MODEL_TRUNCATE});
    (void)write_at(model, 2, 4 * MIB_BYTES);
    assert_near(read_at(model, 0, 0, 4).cost_s, hit_s, 1e-9);
    assert_near(read_at(model, 0, 12, 4).cost_s, hit_s, 1e-9);
    (void)step(model, (struct wio_model_op){.method = WIO_MODEL_FSYNC});
    (void)step(model, (struct wio_model_op){.method = WIO_MODEL_FORGET});
    assert_near(read_at(model, 0, 4, 4).cost_s, hit_s, 1e-9);
    assert_near(read_at(model, 0, 8, 4).cost_s, 0.04, 5e-3); /* the device has these */
    wio_model_destroy(model);
}

/* A hole begins behind the cut; what others may have written is none. */
static void what_may_be_data_is_no_hole(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model_op cut = {.offset = 8 * MIB_BYTES, .method = WIO_MODEL_TRUNCATE};
    params.c_sk = 0;
    struct wio_model *model = create(&params);
    (void)step(model, cut);
    assert_near(read_at(model, 0, 4, 4).cost_s, 0.04, 5e-3);
    assert_near(read_at(model, 0, 12, 4).cost_s, 4 * MIB / 8e9 + 2e-6, 1e-9);
    cut = (struct wio_model_op){.file = 1, .is_shared = true, .method = WIO_MODEL_TRUNCATE};
    (void)step(model, cut);
    assert_near(read_at(model, 1, 4, 4).cost_s, 0.04, 5e-3);
    wio_model_destroy(model);
}

/* Past memory, too: 1 MiB of 4 was written, by a direct write. */
static void direct_reads_skip_holes(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model_op op = {.offset = MIB_BYTES, .size = MIB_BYTES, .method = WIO_MODEL_DIRECT};
    struct wio_model *model = create(&params);
    (void)step(model, (struct wio_model_op){.method = WIO_MODEL_TRUNCATE});
    (void)step(model, op);
    op = (struct wio_model_op){
        .size = 4 * MIB_BYTES, .random = WIO_MODEL_RANDOM_NO, .method = WIO_MODEL_READ_DIRECT};
    assert_near(step(model, op).cost_s, 0.01 + 2e-6, 1e-9);
    op.offset = 2 * MIB_BYTES;
    op.size = MIB_BYTES;
    assert_near(step(model, op).cost_s, 2e-6, 1e-9);
    wio_model_destroy(model);
}

/* What is dirty stays, and is on its way to the device then. */
static void what_is_clean_can_be_forgotten(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    const double hit_s = 4 * MIB / 8e9 + 2e-6;
    struct wio_model_op forget = {
        .offset = 4 * MIB_BYTES, .size = 4 * MIB_BYTES, .method = WIO_MODEL_FORGET};
    params.read_ahead = 0;
    params.c_sk = 0;
    struct wio_model *model = create(&params);
    (void)write_at(model, 0, 10 * MIB_BYTES);
    assert_near(step(model, forget).cost_s, 2e-6, 1e-12);
    assert_near(read_at(model, 0, 4, 4).cost_s, hit_s, 1e-9);
    assert_near(step(model, (struct wio_model_op){.method = WIO_MODEL_FSYNC}).cost_s, 0.1, 2e-3);
    (void)step(model, forget);
    assert_near(read_at(model, 0, 0, 4).cost_s, hit_s, 1e-9);
    assert_near(read_at(model, 0, 4, 4).cost_s, 0.04, 1e-3);
    forget.size = 0;
    (void)step(model, forget);
    assert_near(read_at(model, 0, 8, 2).cost_s, 0.02, 1e-3);
    wio_model_destroy(model);
}

static void without_memory_all_comes_from_the_device(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    params.mem_bytes = 0;
    params.c_sk = 0;
    struct wio_model *model = create(&params);
    (void)write_at(model, 0, 10 * MIB_BYTES);
    for (int i = 0; i < 3; i++) {
        assert_near(read_at(model, 0, 0, 10).cost_s, 0.1, 5e-3);
    }
    wio_model_destroy(model);
}

/* A synchronous write stays in memory, a direct one drives out what was there. */
static void direct_writes_leave_memory(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    params.c_sk = 0;
    struct wio_model *model = create(&params);
    struct wio_model_op op = {.size = MIB_BYTES, .method = WIO_MODEL_SYNC};
    (void)step(model, op);
    assert_near(read_at(model, 0, 0, 1).cost_s, MIB / 8e9 + 2e-6, 1e-9);
    op.method = WIO_MODEL_DIRECT;
    (void)step(model, op);
    assert_true(read_at(model, 0, 0, 1).cost_s > 0.01);
    wio_model_destroy(model);
}

/* O_DIRECT reads write out what is dirty, and leave nothing in memory. */
static void direct_reads_pass_memory_by(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    struct wio_model_op op = {.size = 10 * MIB_BYTES, .method = WIO_MODEL_READ_DIRECT};
    assert_near(step(model, op).cost_s, 0.1 + 2e-6, 1e-9);
    op.random = WIO_MODEL_RANDOM_YES;
    assert_near(step(model, op).cost_s, 0.1 + 2e-6 + 1e-3, 1e-9);
    (void)write_at(model, 0, 10 * MIB_BYTES);
    struct wio_model_result result = step(model, op);
    assert_near(result.cost_s, 0.1 + 0.1 + 2e-6 + 1e-3, 1e-9);
    assert_near(result.dirty_bytes, 0, 0);
    wio_model_destroy(model);
}

/* While a program computes, the device reads ahead: what it needs next is there. */
static void computing_hides_the_device(void **state)
{
    (void)state;
    const uint64_t size = 65536;
    for (int is_computing = 0; is_computing < 2; is_computing++) {
        struct wio_model_params params = machine();
        struct wio_model *model = create(&params);
        double sum_s = 0;
        for (uint64_t i = 0; i < 160; i++) {
            sum_s += read_bytes(model, 0, i * size, size, is_computing ? 2e-3 : 0).cost_s;
        }
        if (is_computing) {
            assert_true(sum_s < 160 * (65536 / 8e9 + 2e-6) + 2e-3);
        } else {
            assert_near(sum_s, 0.1, 5e-3);
        }
        wio_model_destroy(model);
    }
}

/* Reading that jumps gets what it asks for, after a seek. */
static void jumping_reads_are_not_read_ahead(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    for (uint64_t i = 1; i < 20; i++) {
        double cost_s = read_bytes(model, 0, (i * 7919 % 997) * MIB_BYTES, 4096, 0).cost_s;
        double seek_s = i > 1 ? 1e-3 : 0; /* the first use of a file */
        assert_near(cost_s, 2e-6 + PAGE / (100 * MIB) + PAGE / 8e9 + seek_s, 1e-9);
    }
    wio_model_destroy(model);
}

/* A first small read fetches 4 pages; of a file that is known to end there only what it has. */
static void nothing_is_read_behind_the_end(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    struct wio_model_op op = {.size = 100, .method = WIO_MODEL_READ};
    double rest_s = 2e-6 + 100 / 8e9;
    assert_near(step(model, op).cost_s, 4 * PAGE / (100 * MIB) + rest_s, 1e-9);
    op.file = 1;
    op.at_end = true;
    assert_near(step(model, op).cost_s, PAGE / (100 * MIB) + rest_s, 1e-9);
    params.read_ahead = 0;
    struct wio_model *without = create(&params);
    op.at_end = false;
    assert_near(step(without, op).cost_s, PAGE / (100 * MIB) + rest_s, 1e-9);
    wio_model_destroy(without);
    wio_model_destroy(model);
}

/* Two tasks that read different parts of a file are both read ahead for. */
static void readers_of_one_file_have_windows_of_their_own(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    double sum_s = 0;
    params.c_sk = 0;
    for (uint64_t i = 0; i < 100; i++) {
        for (uint64_t k = 0; k < 4; k++) {
            sum_s += read_bytes(model, 0, k * 100 * MIB_BYTES + i * 4096, 4096, 2e-3).cost_s;
        }
    }
    /* but for the first reads all is there */
    assert_true(sum_s < 400 * (4096 / 8e9 + 2e-6) + 4 * 6e-3);
    wio_model_destroy(model);
}

/* A file that is longer than memory, read once, does not drive out what is used often. */
static void scanning_spares_what_is_used_often(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    params.mem_bytes = 100 * MIB;
    params.c_sk = 0;
    struct wio_model *model = create(&params);
    (void)read_at(model, 0, 0, 40);
    (void)read_at(model, 0, 0, 40);
    (void)read_at(model, 1, 0, 40);
    for (uint64_t i = 0; i < 8000; i++) { /* in small pieces, which is one use each */
        (void)read_bytes(model, 2, i * 131072, 131072, 0);
    }
    assert_near(read_at(model, 0, 0, 40).cost_s, 40 * MIB / 8e9 + 2e-6, 1e-9);
    assert_near(read_at(model, 1, 0, 40).cost_s, 0.4, 5e-3);
    assert_near(read_at(model, 2, 998, 2).cost_s, 2 * MIB / 8e9 + 2e-6, 1e-9);
    wio_model_destroy(model);
}

/* The device reads for one after the other, and does not write meanwhile. */
static void readers_share_the_device(void **state)
{
    (void)state;
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    struct wio_error err = WIO_ERROR_INIT;
    for (uint32_t task = 0; task < 3; task++) {
        struct wio_model_op op = {.file = task, .size = 10 * MIB_BYTES, .method = WIO_MODEL_READ};
        assert_ok(wio_model_begin(model, task, &op, &err), &err);
    }
    struct wio_model_done done = {0};
    for (int i = 0; i < 3; i++) {
        assert_ok(wio_model_run(model, HUGE_VAL, &done, &err), &err);
    }
    assert_near(done.result.time_s, 0.3, 0.05);
    wio_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_find_what_is_in_memory),
        cmocka_unit_test(holes_need_no_device),
        cmocka_unit_test(what_may_be_data_is_no_hole),
        cmocka_unit_test(direct_reads_skip_holes),
        cmocka_unit_test(what_is_clean_can_be_forgotten),
        cmocka_unit_test(without_memory_all_comes_from_the_device),
        cmocka_unit_test(direct_writes_leave_memory),
        cmocka_unit_test(direct_reads_pass_memory_by),
        cmocka_unit_test(computing_hides_the_device),
        cmocka_unit_test(jumping_reads_are_not_read_ahead),
        cmocka_unit_test(nothing_is_read_behind_the_end),
        cmocka_unit_test(readers_of_one_file_have_windows_of_their_own),
        cmocka_unit_test(scanning_spares_what_is_used_often),
        cmocka_unit_test(readers_share_the_device),
    };
    return WIO_RUN(tests);
}
