/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics over HTTP without libmicrohttpd. */
#include "store/serve/admin.h"

enum wio_status serve_http_begin(struct serve_admin *admin, const char *address,
                                 struct serve_http **http_out, struct wio_error *err)
{
    (void)admin;
    (void)address;
    *http_out = NULL;
    return wio_error_set(err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                         "--metrics: this whyio was built without libmicrohttpd");
}

unsigned serve_http_port(const struct serve_http *http)
{
    (void)http;
    return 0;
}

void serve_http_end(struct serve_http *http)
{
    (void)http;
}
