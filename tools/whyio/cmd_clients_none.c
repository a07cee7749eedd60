/* SPDX-License-Identifier: Apache-2.0 */
/* Without libuv there are no clients of a store. */
#include "cmd.h"
#include "options.h"

static int tell(void)
{
    struct wio_error err = WIO_ERROR_INIT;
    (void)wio_error_set(&err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                        "this whyio was built without libuv, which stores need");
    return cmd_fail(&err);
}

int cmd_store(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return tell();
}

int cmd_load(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return tell();
}

int cmd_mount(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return tell();
}
