/* SPDX-License-Identifier: Apache-2.0 */
/* store/serve/serve.h and check_root.h without libuv. */
#include "store/serve/check_root.h"
#include "store/serve/serve.h"

enum wio_status wio_serve(const struct wio_serve_config *config, struct wio_error *err)
{
    (void)config;
    return wio_error_set(err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                         "this whyio was built without libuv");
}

bool wio_serve_is_root(const char *path)
{
    (void)path;
    return false;
}

enum wio_status wio_serve_check(const char *path, wio_store_fault *fault, void *context,
                                struct wio_store_check *check_out, struct wio_error *err)
{
    (void)fault;
    (void)context;
    (void)check_out;
    return wio_error_set(err, WIO_ERR_UNSUPPORTED, path, WIO_ERROR_NO_OFFSET,
                         "this whyio was built without libuv");
}
