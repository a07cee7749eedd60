/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that tests of the kernel model run on, and operations one after the other. */
#ifndef WIO_TESTS_MODEL_MACHINE_H
#define WIO_TESTS_MODEL_MACHINE_H

#include "support/unit.h"

#include <math.h>

#include "model/model.h"

#define MIB 1048576.0
#define MIB_BYTES (UINT64_C(1) << 20)

/* A device of 100 MiB/s below a page cache that may hold 512 MiB of dirty data. */
static inline struct wio_model_params machine(void)
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

static inline struct wio_model *create(const struct wio_model_params *params)
{
    struct wio_model *model = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    assert_ok(wio_model_create(WIO_MODEL_KERNEL, params, &heap, &model, &err), &err);
    return model;
}

static inline struct wio_model_result step(struct wio_model *model, struct wio_model_op op)
{
    struct wio_model_result result;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_model_step(model, &op, &result, &err), &err);
    return result;
}

/* write(2) of the i-th piece of `size` bytes. */
static inline struct wio_model_result write_at(struct wio_model *model, uint64_t i, uint64_t size)
{
    return step(model, (struct wio_model_op){.offset = i * size, .size = size});
}

static inline double write_many(struct wio_model *model, uint64_t count, uint64_t size)
{
    double cost_s = 0;
    for (uint64_t i = 0; i < count; i++) {
        cost_s += write_at(model, i, size).cost_s;
    }
    return cost_s;
}

static inline void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) {
        fail_msg("%.12g is not %.12g", a, b);
    }
}

#endif
