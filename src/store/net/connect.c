/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that this process makes. */
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/link/address.h"
#include "store/net/conn.h"

static void connected(uv_connect_t *connect, int status)
{
    struct wio_io_conn *conn = connect->data;
    if (conn->is_closed) {
        return;
    }
    conn->net->connect_failure = status;
    if (status != 0) {
        wio_net_conn_fail(conn);
    } else {
        wio_net_conn_opened(conn);
    }
}

static void connect_to(struct wio_io_conn *conn, const struct sockaddr *address)
{
    (void)uv_tcp_nodelay(&conn->uv.tcp, 1);
    int failed = uv_tcp_connect(&conn->connecting, &conn->uv.tcp, address, connected);
    if (failed != 0) {
        conn->net->connect_failure = failed;
        wio_net_conn_fail(conn);
    }
}

static void resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *list)
{
    struct wio_io_conn *conn = request->data;
    if (!conn->is_closed) {
        if (status != 0 || list == NULL) {
            conn->net->connect_failure = status;
            wio_net_conn_fail(conn);
        } else {
            connect_to(conn, list->ai_addr);
        }
    }
    uv_freeaddrinfo(list);
    wio_net_conn_unref(conn);
}

/* Numbers at once, names by the resolver's thread. */
static int begin_tcp(struct wio_io_conn *conn, const struct wio_link_address *address)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    char port[8];
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    if (uv_ip4_addr(address->host, address->port, &v4) == 0) {
        connect_to(conn, (const struct sockaddr *)&v4);
        return 0;
    }
    if (uv_ip6_addr(address->host, address->port, &v6) == 0) {
        connect_to(conn, (const struct sockaddr *)&v6);
        return 0;
    }
    snprintf(port, sizeof(port), "%u", (unsigned)address->port);
    sigset_t before;
    wio_net_block_signals(&before); /* of the resolver's thread, which may begin here */
    int failed =
        uv_getaddrinfo(&conn->net->loop, &conn->resolving, resolved, address->host, port, &hints);
    wio_net_allow_signals(&before);
    conn->refs += failed == 0 ? 1 : 0;
    return failed;
}

enum wio_status wio_net_connect(struct wio_io *io, const char *address,
                                const struct wio_io_handler *handler, void *context,
                                struct wio_io_conn **conn_out, struct wio_error *err)
{
    struct wio_link_address parsed;
    WIO_TRY(wio_link_address_parse(address, &parsed, err));
    struct wio_io_conn *conn = wio_net_conn_create(wio_net_of(io), parsed.is_unix);
    if (conn == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    conn->handler = handler;
    conn->context = context;
    conn->connecting.data = conn;
    conn->resolving.data = conn;
    if (parsed.is_unix) {
        uv_pipe_connect(&conn->connecting, &conn->uv.pipe, parsed.path, connected);
    } else if (begin_tcp(conn, &parsed) != 0) {
        wio_net_conn_close(conn);
        return wio_error_set(err, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET, "cannot look up '%s'",
                             parsed.host);
    }
    *conn_out = conn;
    return WIO_OK;
}

const char *wio_net_connect_failure(struct wio_io *io, bool *is_final_out)
{
    const int failure = wio_net_of(io)->connect_failure;
    *is_final_out = failure == UV_EAI_NONAME || failure == UV_EACCES || failure == UV_EPERM ||
                    failure == UV_ENOTDIR || failure == UV_ELOOP || failure == UV_ENAMETOOLONG;
    switch (failure) {
    case 0:
        return NULL;
    case UV_EAI_NONAME:
        return "no such host";
    default:
        return uv_strerror(failure); /* a literal: libuv has made this number */
    }
}
