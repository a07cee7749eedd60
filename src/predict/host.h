/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine described in a file: HOST.json, as `whyio calibrate` writes it.
 *
 *     {"schema": "whyio.host/1", "bw_mem": 8e9, "bw_ramdisk": 4e9, ...}
 *
 * The numbers are the parameters of src/model/model.h under their names. Tables are lists of
 * [bytes, seconds]: direct_table, sync_table, append_table, or one dev_table that stands in for
 * direct_table and sync_table where these are missing. Other keys are for information.
 */
#ifndef WIO_PREDICT_HOST_H
#define WIO_PREDICT_HOST_H

#include <whyio/status.h>

#include "model/model.h"

/*
 * Read and check `path`. WIO_ERR_FORMAT names the file, the place where it is no JSON, or the
 * parameter that is missing or wrong; WIO_ERR_IO where it cannot be read. Thread safe.
 */
WIO_MUST_CHECK enum wio_status wio_host_read(const char *path, struct wio_model_params *params_out,
                                             struct wio_error *err);

#endif
