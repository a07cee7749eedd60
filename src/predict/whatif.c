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

static bool is_on(enum wio_predict_force force, bool as_it_is)
{
    return force == WIO_PREDICT_AS_IS ? as_it_is : force == WIO_PREDICT_ON;
}

enum wio_model_method wio_whatif_method(const struct wio_predict_whatif *whatif,
                                        enum wio_model_method method)
{
    bool is_sync = method == WIO_MODEL_SYNC || method == WIO_MODEL_DIRECT;
    bool is_direct = method == WIO_MODEL_DIRECT || method == WIO_MODEL_DIRECT_NOSYNC;
    if (method != WIO_MODEL_WRITE && !is_sync && !is_direct) {
        return method;
    }
    is_sync = is_on(whatif->sync, is_sync);
    if (is_on(whatif->direct, is_direct)) {
        return is_sync ? WIO_MODEL_DIRECT : WIO_MODEL_DIRECT_NOSYNC;
    }
    return is_sync ? WIO_MODEL_SYNC : WIO_MODEL_WRITE;
}
