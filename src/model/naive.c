/* SPDX-License-Identifier: Apache-2.0 */
/* The baseline: a disk with a bandwidth and nothing in front of it. */
#include "model/model_internal.h"

static enum wio_status step(struct wio_model *model, const struct wio_model_op *op,
                            struct wio_model_result *result)
{
    double size = (double)op->size;
    if (op->method == WIO_MODEL_READ) {
        result->cost_s = size / model->params.bw_rdev;
    } else if (op->method != WIO_MODEL_FFLUSH && op->method != WIO_MODEL_FSYNC) {
        result->cost_s = size / model->params.bw_dev;
    }
    model->time_s += op->delay_s + result->cost_s;
    return WIO_OK;
}

const struct wio_model_class wio_model_naive = {.name = "naive", .step = step};
