/* SPDX-License-Identifier: Apache-2.0 */
/* A simulated machine, measured. */
#ifndef WIO_TESTS_CALIBRATE_MEASURED_H
#define WIO_TESTS_CALIBRATE_MEASURED_H

#include "calibrate/measure/measure.h"
#include "sim.h"

#define MIB 1048576.0
#define GIB (UINT64_C(1) << 30)

/* The machine is gone afterwards; limits are those of `params`. */
enum wio_status measured(struct sim *sim, struct wio_calibrate_params *params,
                         struct wio_calibration *calibration, struct wio_error *err);
/* measured() with as many bytes and as much time as any stage wants; it has to work. */
void calibrate_amply(struct sim *sim, struct wio_calibration *calibration);
/* A parameter was measured, and is what is wanted but for such a part of it. */
void is_near(const struct wio_calibration *calibration, enum wio_param param, double wanted,
             double relative);

/* A fast device behind a limit that counts by slices of 0.1 s. */
struct sim sliced(double rate);
/* A table takes no less for more. */
void rises(const struct wio_model_table *table);
/* Whatever passes at once, what is written for two seconds takes two: no less, and no more where
 * slices were found (else tables have means of few writes, of which one waits for all). */
void keeps_to_rate(const struct wio_calibration *found, double rate);

#endif
