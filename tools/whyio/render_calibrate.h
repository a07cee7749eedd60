/* SPDX-License-Identifier: Apache-2.0 */
/* How a calibration looks. docs/schema/calibrate.json describes the JSON. */
#ifndef WHYIO_RENDER_CALIBRATE_H
#define WHYIO_RENDER_CALIBRATE_H

#include <stdio.h>

#include "calibrate/calibrate.h"

/* `output` is the file that it was written to. */
void render_calibrate_json(const struct wio_calibration *calibration, const char *output,
                           FILE *out);
void render_calibrate_text(const struct wio_calibration *calibration, const char *output,
                           FILE *out);

#endif
