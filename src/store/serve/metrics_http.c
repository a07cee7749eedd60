/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics over HTTP by libmicrohttpd: GET /metrics alone, few connections, little memory. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <microhttpd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "store/serve/admin.h"

enum { CONNECTIONS_MAX = 8, CONNECTION_BYTES = 16384, SILENCE_S = 10 };

#define CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Of libmicrohttpd, which is loaded when metrics are asked for: it brings a TLS library along,
 * whose start would take as long as all of a short command. */
#define LIBRARY "libmicrohttpd.so.12"
struct http_library {
    void *handle;
    __typeof__(&MHD_start_daemon) start_daemon;
    __typeof__(&MHD_stop_daemon) stop_daemon;
    __typeof__(&MHD_get_daemon_info) get_daemon_info;
    __typeof__(&MHD_create_response_from_buffer) create_response_from_buffer;
    __typeof__(&MHD_add_response_header) add_response_header;
    __typeof__(&MHD_queue_response) queue_response;
    __typeof__(&MHD_destroy_response) destroy_response;
};

struct serve_http {
    struct serve_admin *admin;
    struct MHD_Daemon *daemon;
    struct http_library library;
};

/* ---- the library --------------------------------------------------------------------------- */

static bool find_functions(struct http_library *library)
{
    const struct {
        const char *name;
        void *place;
    } wanted[] = {
        {"MHD_start_daemon", &library->start_daemon},
        {"MHD_stop_daemon", &library->stop_daemon},
        {"MHD_get_daemon_info", &library->get_daemon_info},
        {"MHD_create_response_from_buffer", &library->create_response_from_buffer},
        {"MHD_add_response_header", &library->add_response_header},
        {"MHD_queue_response", &library->queue_response},
        {"MHD_destroy_response", &library->destroy_response},
    };
    for (size_t i = 0; i < WIO_ARRAY_SIZE(wanted); i++) {
        void *function = dlsym(library->handle, wanted[i].name);
        if (function == NULL) {
            return false;
        }
        memcpy(wanted[i].place, &function, sizeof(function));
    }
    return true;
}

static enum wio_status load(struct http_library *library, struct wio_error *err)
{
    library->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library->handle != NULL && find_functions(library)) {
        return WIO_OK;
    }
    (void)wio_error_set(err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                        "--metrics: cannot load %s: %s", LIBRARY, dlerror());
    return WIO_ERR_UNSUPPORTED;
}

/* ---- answers ------------------------------------------------------------------------------- */

static enum MHD_Result answer_text(const struct serve_http *http, struct MHD_Connection *connection,
                                   unsigned status, const char *text)
{
    struct MHD_Response *response = http->library.create_response_from_buffer(
        strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
    if (response == NULL) {
        return MHD_NO;
    }
    enum MHD_Result result = http->library.queue_response(connection, status, response);
    http->library.destroy_response(response);
    return result;
}

static enum MHD_Result answer_metrics(const struct serve_http *http,
                                      struct MHD_Connection *connection)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob out = {0};
    if (serve_admin_metrics(http->admin, &out) != WIO_OK) {
        return answer_text(http, connection, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory\n");
    }
    struct MHD_Response *response =
        http->library.create_response_from_buffer(out.size, out.data, MHD_RESPMEM_MUST_COPY);
    if (response == NULL) {
        return MHD_NO;
    }
    (void)http->library.add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, CONTENT_TYPE);
    enum MHD_Result result = http->library.queue_response(connection, MHD_HTTP_OK, response);
    http->library.destroy_response(response);
    return result;
}

/* NOLINTNEXTLINE(readability-function-size): as libmicrohttpd calls it */
static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *data_bytes, void **state)
{
    const struct serve_http *http = context;
    (void)version;
    (void)data;
    (void)state;
    if (*data_bytes != 0 ||
        (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)) {
        return answer_text(http, connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET /metrics\n");
    }
    return strcmp(url, "/metrics") == 0
               ? answer_metrics(http, connection)
               : answer_text(http, connection, MHD_HTTP_NOT_FOUND, "GET /metrics\n");
}

/* ---- life ---------------------------------------------------------------------------------- */

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* PORT alone is at loopback. Names are not looked up. */
static bool parse_address(const char *text, union address *to)
{
    char host[64] = "127.0.0.1";
    const char *colon = strrchr(text, ':');
    const char *port_text = colon != NULL ? colon + 1 : text;
    uint64_t port = 0;
    if (wio_parse_u64(port_text, &port) != WIO_OK || port > UINT16_MAX) {
        return false;
    }
    if (colon != NULL) {
        bool is_v6 = text[0] == '[' && colon > text && colon[-1] == ']';
        const char *from = is_v6 ? text + 1 : text;
        size_t bytes = (size_t)(colon - from) - is_v6;
        if (bytes == 0 || bytes >= sizeof(host)) {
            return false;
        }
        (void)snprintf(host, sizeof(host), "%.*s", (int)bytes, from);
    }
    *to = (union address){.v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)}};
    if (inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &to->v4.sin_addr) ==
        1) {
        return true;
    }
    *to = (union address){.v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)}};
    return inet_pton(AF_INET6, host, &to->v6.sin6_addr) == 1;
}

enum wio_status serve_http_begin(struct serve_admin *admin, const char *address,
                                 struct serve_http **http_out, struct wio_error *err)
{
    union address at;
    if (!parse_address(address, &at)) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "--metrics=%.100s: expected PORT, ADDRESS:PORT or [V6]:PORT", address);
    }
    struct serve_http *http = calloc(1, sizeof(*http));
    if (http == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    http->admin = admin;
    enum wio_status status = load(&http->library, err);
    if (status != WIO_OK) {
        free(http);
        return status;
    }
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD;
    flags |= at.any.sa_family == AF_INET6 ? MHD_USE_IPv6 : 0u;
    http->daemon = http->library.start_daemon(
        flags, 0, NULL, NULL, answer, http, MHD_OPTION_SOCK_ADDR, &at.any,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE_S,
        MHD_OPTION_END);
    if (http->daemon == NULL) {
        status = wio_error_sys(err, NULL, "--metrics: cannot listen there");
        free(http);
        return status;
    }
    *http_out = http;
    return WIO_OK;
}

unsigned serve_http_port(const struct serve_http *http)
{
    const union MHD_DaemonInfo *info =
        http->library.get_daemon_info(http->daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info != NULL ? info->port : 0;
}

void serve_http_end(struct serve_http *http)
{
    if (http != NULL) {
        http->library.stop_daemon(http->daemon);
        free(http);
    }
}
