/* SPDX-License-Identifier: Apache-2.0 */
/* The baseline: a disk with a bandwidth and nothing in front of it. */
#include "model/model_internal.h"

static enum wio_status step(struct wio_model *model, const struct wio_model_op *op,
                            struct wio_model_result *result)
{
    double size = (double)op->size;
    enum wio_model_flow flow = wio_model_flow(op->method);
    if (flow == WIO_MODEL_MOVES_IN) {
        result->cost_s = size / model->params.bw_rdev;
    } else if (flow == WIO_MODEL_MOVES_OUT) {
        result->cost_s = size / model->params.bw_dev;
    }
    model->time_s += op->delay_s + result->cost_s;
    return WIO_OK;
}

const struct wio_model_class wio_model_naive = {.name = "naive", .step = step};
