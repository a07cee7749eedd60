/* SPDX-License-Identifier: Apache-2.0 */
/* Without libuv there are no clients of a store. */
#include "cmd.h"
#include "jobstats_store.h"
#include "options.h"

static int tell(void)
{
    struct wio_error err = WIO_ERROR_INIT;
    (void)wio_error_set(&err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                        "this whyio was built without libuv, which stores need");
    return cmd_fail(&err);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    (void)key;
    (void)arg;
    (void)state;
    return ARGP_ERR_UNKNOWN;
}

const struct argp cmd_connect_argp = {NULL, parse, NULL, NULL, NULL, NULL, NULL};

enum wio_status jobstats_store_run(struct jobstats_store *what, struct wio_job_accounts *accounts,
                                   struct wio_error *err)
{
    (void)what;
    (void)accounts;
    return wio_error_set(err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                         "this whyio was built without libuv, which stores need");
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
