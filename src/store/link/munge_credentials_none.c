/* SPDX-License-Identifier: Apache-2.0 */
/* store/link/munge_credentials.h where whyio is built without libmunge. */
#include "store/link/munge_credentials.h"

enum wio_status wio_munge_init(struct wio_munge *munge, const char *socket, struct wio_error *err)
{
    (void)munge;
    (void)socket;
    return wio_error_set(err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                         "this whyio was built without libmunge");
}
