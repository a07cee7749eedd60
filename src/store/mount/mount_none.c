/* SPDX-License-Identifier: Apache-2.0 */
/* store/mount/mount.h without libfuse3. */
#include "store/mount/mount.h"

enum wio_status wio_mount(const struct wio_mount_config *config, struct wio_error *err)
{
    (void)config;
    return wio_error_set(err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                         "this whyio was built without libfuse3");
}
