/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many writes of 4 KiB a second the models predict, with few and with many cached blocks.
 *
 *     model_bench     prints lines of: model, writes per second of processor time, what was written
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "model/model.h"

#define WRITES 1000000

/* So much memory that nothing is ever written back: all blocks stay cached. */
static struct wio_model_params machine(void)
{
    struct wio_model_params params = wio_model_params_default();
    params.bw_mem = 8e9;
    params.bw_ramdisk = 4e9;
    params.bw_reduced = 3e9;
    params.bw_dev = 1e8;
    params.bw_rdev = 1e8;
    params.sc_w = 2e-6;
    params.sc_sw = 1.6e-4;
    params.c_sk = 0;
    params.bs = 4096;
    params.bf = 4096;
    params.limit_bg = 1e15;
    params.limit_hard = 3e15;
    params.dirty_expire = 1e9;
    return params;
}

static void fail(const struct wio_error *err)
{
    (void)fprintf(stderr, "model_bench: %s\n", err->message);
    exit(4);
}

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Writes of 4 KiB: the next one behind the last, or anywhere among `blocks` places. */
static void speed(enum wio_model_kind kind, uint64_t blocks, bool is_random, uint64_t writes)
{
    const struct wio_model_params params = machine();
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model *model;
    struct wio_model_result result = {0};
    uint64_t seed = 88172645463325252u;
    if (wio_model_create(kind, &params, &heap, &model, &err) != WIO_OK) {
        fail(&err);
    }
    double start = 0;
    for (uint64_t i = 0; i < blocks + writes; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        if (i == blocks) {
            start = now_s();
        }
        uint64_t place = i < blocks ? i * 2 : is_random ? seed % blocks * 2 : i * 2;
        struct wio_model_op op = {.offset = place * 4096, .size = 4096};
        if (wio_model_step(model, &op, &result, &err) != WIO_OK) {
            fail(&err);
        }
    }
    printf("%s %.0f %llu cached blocks, %s\n", wio_model_name(kind),
           (double)writes / (now_s() - start), (unsigned long long)blocks,
           is_random ? "random" : "sequential");
    wio_model_destroy(model);
}

int main(void)
{
    for (unsigned kind = 0; kind < WIO_MODEL_KIND_COUNT; kind++) {
        speed((enum wio_model_kind)kind, 1000, false, WRITES);
        speed((enum wio_model_kind)kind, 1000, true, WRITES);
        speed((enum wio_model_kind)kind, 1000000, true, WRITES);
    }
    return 0;
}
