/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/sim/account.h"

void wio_account_op(struct wio_predict_account *sum, const struct wio_model_op *op, double cost_s)
{
    enum wio_model_flow flow = wio_model_flow(op->method);
    sum->ops++;
    sum->io_s += cost_s;
    sum->modelled_s += cost_s;
    sum->bytes_read += flow == WIO_MODEL_MOVES_IN ? op->size : 0;
    sum->bytes_written += flow == WIO_MODEL_MOVES_OUT ? op->size : 0;
}
