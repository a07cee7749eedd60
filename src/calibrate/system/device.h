/* SPDX-License-Identifier: Apache-2.0 */
/* The file system and the device that a directory is on: for information, how far it reads ahead,
 * and the limit of its rate. */
#ifndef WIO_CALIBRATE_SYSTEM_DEVICE_H
#define WIO_CALIBRATE_SYSTEM_DEVICE_H

#include <whyio/status.h>

#include "calibrate/calibrate.h"

/* `dir` must be a directory; what else cannot be found out stays "". */
WIO_MUST_CHECK enum wio_status
wio_device_describe(const char *dir, struct wio_calibration *calibration, struct wio_error *err);

#endif
