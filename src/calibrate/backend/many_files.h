/* SPDX-License-Identifier: Apache-2.0 */
/* Many files that are open at the same time: programs have such, and write a little into each. */
#ifndef WIO_CALIBRATE_BACKEND_MANY_FILES_H
#define WIO_CALIBRATE_BACKEND_MANY_FILES_H

#include <stddef.h>

#include <whyio/status.h>

#include "calibrate/backend/backend.h"

/* Writes of 4 KiB out of `data` into new files below `dir`, which are gone afterwards; what each
 * write took goes to `seconds_out`, file by file. WIO_ERR_IO, WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_many_files(const char *dir, const void *data,
                                              const struct wio_rig_many *many, double *seconds_out,
                                              struct wio_error *err);

#endif
