/* SPDX-License-Identifier: Apache-2.0 */
/* A connection by libuv: conn.c moves its bytes, listen.c and connect.c make it. */
#ifndef WIO_STORE_NET_CONN_H
#define WIO_STORE_NET_CONN_H

#include "store/net/net_internal.h"

struct wio_io_conn {
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } uv; /* its data: this */
    struct wio_net *net;
    const struct wio_io_handler *handler; /* NULL: none, so far or any more */
    void *context;
    uv_connect_t connecting;
    uv_getaddrinfo_t resolving;
    size_t unsent;
    unsigned refs; /* the handle, a name that is looked up */
    bool is_closed;
    bool is_paused;
    bool is_connected;
    bool has_failed;
    struct wio_io_conn *next_failed;
};

/* A handle of that kind, with nothing done to it. NULL: out of memory. */
struct wio_io_conn *wio_net_conn_create(struct wio_net *net, bool is_unix);
/* One reference less: the last one frees it. */
void wio_net_conn_unref(struct wio_io_conn *conn);
/* `closed` follows, from the loop. */
void wio_net_conn_fail(struct wio_io_conn *conn);
/* It is connected: read, and tell. */
void wio_net_conn_opened(struct wio_io_conn *conn);

#endif
