/* SPDX-License-Identifier: Apache-2.0 */
/* What metadata operations take, tried on a few files. */
#ifndef WIO_CALIBRATE_BACKEND_META_H
#define WIO_CALIBRATE_BACKEND_META_H

#include <whyio/status.h>

#include "calibrate/backend/backend.h"

/* Each operation some times in a directory below `dir` that is gone afterwards: seconds of one. NaN
 * where the file system does not have it. */
WIO_MUST_CHECK enum wio_status
wio_meta_pass(const char *dir, double seconds_out[WIO_RIG_META_COUNT], struct wio_error *err);

#endif
