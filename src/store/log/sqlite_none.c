/* SPDX-License-Identifier: Apache-2.0 */
/* The reference log where this whyio was built without SQLite. */
#include "store/log/log.h"

enum wio_status wio_log_open_sqlite(const struct wio_log_config *config, struct wio_log **log_out,
                                    struct wio_error *err)
{
    (void)config;
    (void)log_out;
    return wio_error_set(err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                         "--log=sqlite: this whyio was built without SQLite");
}
