/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds for any operations on any machine: with one device and plenty of memory, and with
 * several devices, little memory, no reading ahead. The seed is printed; as an argument it repeats
 * a run.
 */
#include "support/unit.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

#define RUNS (40 / WIO_TEST_SLOWER)
#define FILES 6
#define RANGE_PAGES 40000 /* of files whose union is counted */

static uint64_t first_seed = 1;

/* One of each kind; odd ones have what is new. */
static struct wio_model_params machine_of(uint64_t seed)
{
    struct wio_model_params params = machine();
    params.limit_bg = (double)(seed % 5) * 20 * MIB;
    params.limit_hard = params.limit_bg + (double)(seed % 7 + 1) * 10 * MIB;
    params.dirty_expire = (double)(seed % 3) * 15;
    params.balance_step = seed % 2 == 0 ? 4096 : 2 * MIB;
    if (seed % 2 != 0) {
        params.mem_bytes = (double)(seed % 4) * 10 * MIB;
        params.read_ahead = (double)(seed % 3) * 65536;
        params.burst_size = (double)(seed % 2) * MIB;
        params.commit_bytes = (double)(seed % 4) * 8192;
        params.bw_burst = 300 * MIB;
        params.slice = (double)(seed % 3) * 0.03;
        params.c_folio = 2e-6;
        params.c_clean = 3e-7;
        params.c_walk = 5e-9;
        params.bw_clean = 7e9;
        params.sc_r = 4e-7;
        params.bw_hit = 2e10;
    }
    return params;
}

static uint32_t device_count(uint64_t seed)
{
    return (uint32_t)(seed % 2 == 0 ? 1 : 1 + seed % 3);
}

static struct wio_model *create_any(uint64_t seed)
{
    struct wio_model_params params = machine_of(seed);
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model *model = create(&params);
    for (uint32_t i = 1; i < device_count(seed); i++) {
        params.bw_dev *= 3;
        params.bw_rdev /= 2;
        assert_ok(wio_model_add_device(model, &params, &err), &err);
    }
    return model;
}

static struct wio_model_op random_op(uint64_t *random, uint64_t seed, uint64_t *end)
{
    static const double delays[] = {0, 0, 0, 0.01, 0.3, 2, 40};
    uint64_t r = wio_test_random(random);
    struct wio_model_op op = {
        .file = (r >> 8) % FILES,
        .offset = r % 3 == 0 ? *end : ((r >> 16) % 200) * 700001,
        .size = (r >> 24) % 20 == 0 ? 0 : ((r >> 32) % 64) * ((r >> 40) % 2 == 0 ? 512 : 700001),
        .delay_s = delays[(r >> 44) % 7],
        .method =
            (enum wio_model_method)((r >> 48) % 4 == 0 ? (r >> 52) % WIO_MODEL_METHOD_COUNT : 0),
        .at_end = (r >> 60) == 0,
    };
    op.device = (uint32_t)(op.file % device_count(seed));
    *end = op.offset + op.size;
    return op;
}

/* Time never runs backwards, costs are its steps, what is cached was written; and the same
 * operations have the same answers to the bit. */
static void the_books_are_kept(void **state)
{
    (void)state;
    for (uint64_t seed = first_seed; seed < first_seed + RUNS; seed++) {
        struct wio_model *models[2] = {create_any(seed), create_any(seed)};
        uint64_t random = seed * 0x9e3779b97f4a7c15u;
        uint64_t end = 0;
        double written = 0;
        double time_s = 0;
        for (int i = 0; i < 300; i++) {
            struct wio_model_op op = random_op(&random, seed, &end);
            struct wio_model_result a = step(models[0], op);
            struct wio_model_result b = step(models[1], op);
            assert_memory_equal(&a, &b, sizeof(a));
            written += wio_model_flow(op.method) == WIO_MODEL_MOVES_OUT ? (double)op.size : 0;
            assert_true(a.cost_s >= 0);
            assert_near(a.time_s, time_s + op.delay_s + a.cost_s, 1e-9 * fmax(1, a.time_s));
            assert_true(a.dirty_bytes >= 0 && a.dirty_bytes <= written);
            time_s = a.time_s;
        }
        wio_model_destroy(models[0]);
        wio_model_destroy(models[1]);
    }
}

/* While nothing is written back, what is dirty is the union of what was written (whole pages), less
 * what was cut off. */
static void dirty_is_the_union(void **state)
{
    (void)state;
    static bool dirty[FILES][RANGE_PAGES];
    for (uint64_t seed = first_seed; seed < first_seed + 10 / WIO_TEST_SLOWER; seed++) {
        struct wio_model_params params = machine();
        params.limit_bg = 1e12;
        params.limit_hard = 2e12;
        params.mem_bytes = seed % 2 == 0 ? WIO_MODEL_UNLIMITED : 20 * MIB;
        struct wio_model *model = create(&params);
        uint64_t random = seed;
        double written = 0;
        memset(dirty, 0, sizeof(dirty));
        for (int i = 0; i < 300; i++) {
            uint64_t r = wio_test_random(&random);
            struct wio_model_op op = {.file = r % FILES,
                                      .offset = (r >> 8) % (RANGE_PAGES / 2) * 4096 + r % 5000,
                                      .size = 1 + (r >> 32) % (16 * MIB_BYTES)};
            op.method = (r >> 60) == 0 ? WIO_MODEL_TRUNCATE : WIO_MODEL_WRITE;
            bool is_write = op.method == WIO_MODEL_WRITE;
            uint64_t first = is_write ? op.offset / 4096 : (op.offset + 4095) / 4096;
            uint64_t last = is_write ? (op.offset + op.size + 4095) / 4096 : RANGE_PAGES;
            double pages = 0;
            memset(&dirty[op.file][first], is_write, last - first);
            for (uint64_t k = 0; k < FILES * RANGE_PAGES; k++) {
                pages += dirty[k / RANGE_PAGES][k % RANGE_PAGES];
            }
            written += is_write ? (double)op.size : 0;
            assert_near(step(model, op).dirty_bytes, fmin(pages * 4096, written), 0);
        }
        wio_model_destroy(model);
    }
}

/* From the same state, whatever it is, a longer write costs more than a shorter one, if neither or
 * both are throttled. */
static void cost_rises_with_size(void **state)
{
    (void)state;
    for (uint64_t seed = first_seed; seed < first_seed + 12 / WIO_TEST_SLOWER; seed++) {
        double last_s = 0;
        enum wio_model_state last = WIO_MODEL_STATE_NONE;
        for (uint64_t size = 2 * MIB_BYTES; size <= 64 * MIB_BYTES; size += 2 * MIB_BYTES) {
            struct wio_model *model = create_any(seed);
            for (uint64_t i = 0; i < seed % 9; i++) {
                (void)step(model, (struct wio_model_op){.offset = i * 8 * MIB_BYTES,
                                                        .size = 8 * MIB_BYTES});
            }
            struct wio_model_result result = step(
                model, (struct wio_model_op){.offset = seed % 9 * 8 * MIB_BYTES, .size = size});
            assert_true(result.state != last || result.cost_s > last_s);
            last_s = result.cost_s;
            last = result.state;
            wio_model_destroy(model);
        }
    }
}

/* All of [0, total) in writes of `size`: what it costs, and what is dirty in the end. */
static double write_all(const struct wio_model_params *params, uint64_t total, uint64_t size,
                        double *dirty_out)
{
    struct wio_model *model = create(params);
    struct wio_model_result result = {0};
    for (uint64_t at = 0; at < total; at += size) {
        uint64_t left = total - at < size ? total - at : size;
        result = step(model, (struct wio_model_op){.offset = at, .size = left});
    }
    wio_model_destroy(model);
    *dirty_out = result.dirty_bytes;
    return result.time_s;
}

/* As much, but for 1 % and for the calls, which may pass while the device is waited for anyway. */
static void assert_split(double split_s, double whole_s, double calls_s)
{
    assert_near(fmax(split_s - calls_s, fmin(split_s, whole_s)) / whole_s, 1, 0.01);
}

/* One write of a GiB and more costs as much as any number of smaller ones, if the folios are the
 * same. (Smaller folios are throttled in smaller steps: 1 GiB by 1 MiB was measured to take 10 %
 * less than by 16 MiB, where a folio has 2 MiB.) */
static void splitting_changes_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = first_seed; seed < first_seed + 10 / WIO_TEST_SLOWER; seed++) {
        uint64_t random = seed;
        struct wio_model_params params = machine();
        bool has_folios = seed % 2 == 0;
        params.balance_step = has_folios ? 2 * MIB : 4096;
        params.mem_bytes = seed % 3 == 0 ? 200 * MIB : WIO_MODEL_UNLIMITED;
        params.c_folio = 2e-6;
        if (seed % 3 == 1) {
            params.new_table =
                (struct wio_model_table){3, {{4096, 3e-6}, {65536, 16e-6}, {MIB, 160e-6}}};
        }
        uint64_t total = (1024 + wio_test_random(&random) % 1024) * MIB_BYTES;
        uint64_t pieces = 1 + wio_test_random(&random) % 60;
        uint64_t size = pieces * (has_folios ? 2 * MIB_BYTES : 70 * 4096);
        double dirty;
        double whole_s = write_all(&params, total, total, &dirty);
        assert_true(whole_s > 5);
        double calls_s = (double)(total / size) * params.sc_w;
        assert_split(write_all(&params, total, size, &dirty), whole_s, calls_s);
    }
}

/* Smaller folios are ahead by what each look rounds down (rule 7); that is left to be written. */
static void what_smaller_folios_save_is_dirty(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {65536, 700001, MIB_BYTES, 3 * MIB_BYTES};
    for (uint64_t seed = first_seed; seed < first_seed + 10 / WIO_TEST_SLOWER; seed++) {
        uint64_t random = seed;
        struct wio_model_params params = machine();
        params.bw_dev = (double)(50 + wio_test_random(&random) % 200) * MIB;
        params.limit_hard = (double)(200 + wio_test_random(&random) % 800) * MIB;
        uint64_t total = (1024 + wio_test_random(&random) % 1024) * MIB_BYTES;
        uint64_t size = sizes[seed % 4];
        double dirty;
        double whole_s = write_all(&params, total, total, &dirty);
        whole_s += dirty / params.bw_dev;
        double split_s = write_all(&params, total, size, &dirty);
        split_s += dirty / params.bw_dev;
        assert_split(split_s, whole_s, (double)(total / size) * params.sc_w);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_books_are_kept),
        cmocka_unit_test(dirty_is_the_union),
        cmocka_unit_test(cost_rises_with_size),
        cmocka_unit_test(splitting_changes_nothing),
        cmocka_unit_test(what_smaller_folios_save_is_dirty),
    };
    if (argc > 1) {
        first_seed = strtoull(argv[1], NULL, 10);
    }
    printf("# seeds from %llu on\n", (unsigned long long)first_seed);
    return WIO_RUN(tests);
}
