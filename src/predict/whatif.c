/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/whatif.h"

#include <math.h>

static double given_or(double given, double value)
{
    return isnan(given) ? value : given;
}

void wio_whatif_machine(const struct wio_predict_whatif *whatif, struct wio_model_params *machine)
{
    machine->limit_bg = given_or(whatif->limit_bg, machine->limit_bg);
    machine->limit_hard = given_or(whatif->limit_hard, machine->limit_hard);
    machine->bf = given_or(whatif->bf, machine->bf);
    machine->bs = given_or(whatif->bs, machine->bs);
}

enum wio_model_method wio_whatif_method(const struct wio_predict_whatif *whatif,
                                        enum wio_model_method method)
{
    bool is_write =
        method == WIO_MODEL_WRITE || method == WIO_MODEL_SYNC || method == WIO_MODEL_DIRECT;
    if (!is_write) {
        return method;
    }
    if (whatif->direct == WIO_PREDICT_OFF && method == WIO_MODEL_DIRECT) {
        method = WIO_MODEL_SYNC;
    }
    if (whatif->sync == WIO_PREDICT_OFF && method == WIO_MODEL_SYNC) {
        method = WIO_MODEL_WRITE;
    }
    if (whatif->sync == WIO_PREDICT_ON && method == WIO_MODEL_WRITE) {
        method = WIO_MODEL_SYNC;
    }
    return whatif->direct == WIO_PREDICT_ON ? WIO_MODEL_DIRECT : method;
}
