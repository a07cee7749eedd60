/* SPDX-License-Identifier: Apache-2.0 */
#include "measured.h"

#include <math.h>

#include "base/cleanup.h"
#include "support/unit.h"

enum wio_status measured(struct sim *sim, struct wio_calibrate_params *params,
                         struct wio_calibration *calibration, struct wio_error *err)
{
    *err = (struct wio_error)WIO_ERROR_INIT;
    *calibration = wio_calibration_unknown();
    calibration->params[WIO_PARAM_limit_bg].value = sim->params.limit_bg;
    calibration->params[WIO_PARAM_cache_size].value = sim->params.cache_size;
    calibration->rate_limit = sim->told_rate;
    struct wio_rig rig = sim_rig(sim);
    params->dir = "simulated";
    enum wio_status status = wio_measure(&rig, params, sim->dirty_bytes, calibration, err);
    sim_fini(sim);
    return status;
}

void calibrate_amply(struct sim *sim, struct wio_calibration *calibration)
{
    struct wio_calibrate_params params = {.max_bytes = 4 * GIB, .budget_s = 60};
    struct wio_error err;
    assert_ok(measured(sim, &params, calibration, &err), &err);
}

void is_near(const struct wio_calibration *calibration, enum wio_param param, double wanted,
             double relative)
{
    const struct wio_calibrate_value *got = &calibration->params[param];
    if (!(fabs(got->value - wanted) <= relative * wanted)) {
        fail_msg("%s is %g, not within %g of %g", wio_param_name(param), got->value, relative,
                 wanted);
    }
    assert_int_equal(got->how, WIO_CALIBRATE_MEASURED);
}

struct sim sliced(double rate)
{
    struct sim sim = sim_default();
    sim.noise = 0.02;
    sim.params.bw_dev = 2 * GIB;
    sim.params.bw_ramdisk = 40e9;
    sim.slice_s = 0.1;
    sim.slice_rate = rate;
    return sim;
}

/* Of so many writes of a size over a file, one after the other and from its beginning again,
 * seconds: by a model that is told what was found. */
static double predicted_s(const struct wio_calibration *found, enum wio_model_method method,
                          uint64_t size, size_t count)
{
    struct wio_model_params params = wio_calibration_params(found);
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_model *model;
    struct wio_model_op op = {.size = 1 << 20, .method = WIO_MODEL_DIRECT};
    struct wio_model_result result;
    struct wio_error err;
    double sum_s = 0;
    params.bs = 4096;
    params.bf = 4096;
    params.limit_hard = 2 * params.limit_bg;
    params.dirty_expire = 30;
    assert_ok(wio_model_create(WIO_MODEL_KERNEL, &params, &heap, &model, &err), &err);
    assert_ok(wio_model_step(model, &op, &result, &err), &err); /* what it goes over */
    op = (struct wio_model_op){.size = size, .method = method, .delay_s = 1};
    for (size_t i = 0; i < count; i++) {
        op.offset = size * i % (1 << 20);
        assert_ok(wio_model_step(model, &op, &result, &err), &err);
        sum_s += result.cost_s;
        op.delay_s = 0;
    }
    wio_model_destroy(model);
    return sum_s;
}

void rises(const struct wio_model_table *table)
{
    for (size_t i = 1; i < table->count; i++) {
        if (table->points[i].seconds < table->points[i - 1].seconds) {
            fail_msg("%g s for %g bytes", table->points[i].seconds, table->points[i].bytes);
        }
    }
}

void keeps_to_rate(const struct wio_calibration *found, double rate)
{
    static const enum wio_model_method methods[] = {WIO_MODEL_DIRECT, WIO_MODEL_SYNC,
                                                    WIO_MODEL_DIRECT_NOSYNC};
    bool has_slices = found->params[WIO_PARAM_slice].value > 0;
    for (size_t i = 0; i < WIO_ARRAY_SIZE(methods); i++) {
        for (uint64_t size = 65536; size <= 1 << 20; size *= 4) {
            double sum_s = predicted_s(found, methods[i], size, (size_t)(2 * rate / (double)size));
            if (sum_s < 1.75 || (has_slices && sum_s > 2.4)) {
                fail_msg("2 s of writes of %g bytes, kind %d, take %g s", (double)size,
                         (int)methods[i], sum_s);
            }
        }
    }
    rises(&found->direct_table);
    rises(&found->sync_table);
    rises(&found->append_table);
    rises(&found->direct_nosync_table);
}
