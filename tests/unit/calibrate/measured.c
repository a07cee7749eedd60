/* SPDX-License-Identifier: Apache-2.0 */
#include "measured.h"

#include <math.h>

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
