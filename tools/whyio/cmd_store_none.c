/* SPDX-License-Identifier: Apache-2.0 */
/* Without libuv there are no clients of a store. */
#include "cmd.h"
#include "options.h"

int cmd_store(int argc, char **argv)
{
    struct wio_error err = WIO_ERROR_INIT;
    (void)argc;
    (void)argv;
    (void)wio_error_set(&err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                        "this whyio was built without libuv, which stores need");
    return cmd_fail(&err);
}
