/* SPDX-License-Identifier: Apache-2.0 */
/* What operations come to. Private to the room. */
#ifndef WIO_PREDICT_SIM_ACCOUNT_H
#define WIO_PREDICT_SIM_ACCOUNT_H

#include "model/model.h"
#include "predict/predict.h"

/* A model has said what an operation costs. */
void wio_account_op(struct wio_predict_account *sum, const struct wio_model_op *op, double cost_s);

#endif
