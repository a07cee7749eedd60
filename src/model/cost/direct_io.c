/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "model/model_internal.h"

double wio_model_bypass_cost(const struct wio_model_params *params, const struct wio_model_op *op,
                             bool is_random)
{
    double size = (double)op->size;
    double cost = params->sc_sw + (is_random ? params->c_sk : 0);
    if (op->method != WIO_MODEL_SYNC) {
        return cost + size / params->bw_dev;
    }
    double rem = fmod(size, params->bs);
    cost += size / params->bw_ramdisk + (size - rem) / params->bw_dev;
    return rem > 0 ? cost + params->bs / params->bw_rdev + params->bs / params->bw_dev : cost;
}
