/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that other processes make. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/system/loopback.h"
#include "store/link/address.h"
#include "store/net/conn.h"
#include "store/net/owner.h"

enum { BACKLOG = 1024, OVERFLOW_ID = 65534 };

struct wio_io_listener {
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } uv; /* its data: this */
    struct wio_net *net;
    bool is_unix;
    wio_io_accepted *accepted;
    void *context;
    char address[WIO_LINK_ADDRESS_BYTES];
};

/* ---- the peer -------------------------------------------------------------------------- */

/* Of the user alone: what groups that one is in, a TCP socket does not say. */
static void look_at_owner(struct wio_io_conn *conn, struct wio_io_peer *peer)
{
    struct sockaddr_storage far;
    struct sockaddr_storage near;
    int far_bytes = sizeof(far);
    int near_bytes = sizeof(near);
    memset(&far, 0, sizeof(far));
    memset(&near, 0, sizeof(near));
    if (uv_tcp_getpeername(&conn->uv.tcp, (struct sockaddr *)&far, &far_bytes) == 0 &&
        uv_tcp_getsockname(&conn->uv.tcp, (struct sockaddr *)&near, &near_bytes) == 0 &&
        wio_address_is_loopback(&far)) {
        peer->is_local = true;
        peer->has_uid = wio_net_owner(&far, &near, &peer->uid);
        peer->gid = peer->uid == geteuid() ? getegid() : OVERFLOW_ID;
    }
}

static struct wio_io_peer look(struct wio_io_conn *conn, bool is_unix)
{
    struct wio_io_peer peer = {.is_local = is_unix};
    struct ucred cred;
    socklen_t size = sizeof(cred);
    uv_os_fd_t fd = -1;
    if (!is_unix) {
        look_at_owner(conn, &peer);
    } else if (uv_fileno(&conn->uv.handle, &fd) == 0 &&
               getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) == 0) {
        peer.has_uid = true;
        peer.uid = cred.uid;
        peer.gid = cred.gid;
    }
    return peer;
}

static void incoming(uv_stream_t *stream, int status)
{
    struct wio_io_listener *listener = stream->data;
    struct wio_io_conn *conn =
        status == 0 ? wio_net_conn_create(listener->net, listener->is_unix) : NULL;
    if (conn == NULL) {
        return; /* out of descriptors: libuv took it and closed it */
    }
    if (uv_accept(stream, &conn->uv.stream) != 0) {
        wio_net_conn_close(conn);
        return;
    }
    if (!listener->is_unix) {
        (void)uv_tcp_nodelay(&conn->uv.tcp, 1);
    }
    struct wio_io_peer peer = look(conn, listener->is_unix);
    listener->accepted(listener->context, conn, &peer);
}

/* ---- where --------------------------------------------------------------------------------- */

/* A socket of a server that is no more: nothing answers there. */
static bool is_left_behind(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat st;
    if (lstat(path, &st) != 0 || !S_ISSOCK(st.st_mode)) {
        return false; /* a connection to a file is refused, too */
    }
    WIO_CLEANUP(wio_fd_cleanup) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    return fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 &&
           errno == ECONNREFUSED;
}

/* Mode 0600 before it listens: until then a connection is refused. */
static int bind_unix(struct wio_io_listener *listener, const char *path)
{
    if (is_left_behind(path)) {
        (void)unlink(path);
    }
    int failed = uv_pipe_bind(&listener->uv.pipe, path);
    return failed == 0 && chmod(path, S_IRUSR | S_IWUSR) != 0 ? -errno : failed;
}

static int bind_tcp(struct wio_io_listener *listener, const struct wio_link_address *address)
{
    char port[8];
    struct addrinfo *list = NULL;
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    snprintf(port, sizeof(port), "%u", (unsigned)address->port);
    if (getaddrinfo(address->host, port, &hints, &list) != 0) {
        return UV_EAI_NONAME;
    }
    int failed = uv_tcp_bind(&listener->uv.tcp, list->ai_addr, 0);
    freeaddrinfo(list);
    return failed;
}

/* With the port that the system chose. */
static void name(struct wio_io_listener *listener, const struct wio_link_address *address)
{
    struct sockaddr_storage own;
    int bytes = sizeof(own);
    unsigned port = address->port;
    if (listener->is_unix) {
        snprintf(listener->address, sizeof(listener->address), "unix:%s", address->path);
        return;
    }
    if (uv_tcp_getsockname(&listener->uv.tcp, (struct sockaddr *)&own, &bytes) == 0) {
        port = ntohs(own.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&own)->sin6_port
                                               : ((struct sockaddr_in *)&own)->sin_port);
    }
    bool is_v6 = strchr(address->host, ':') != NULL;
    snprintf(listener->address, sizeof(listener->address), "%s%s%s:%u", is_v6 ? "[" : "",
             address->host, is_v6 ? "]" : "", port);
}

static void handle_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void wio_net_listener_close(struct wio_io_listener *listener)
{
    if (listener != NULL) {
        uv_close(&listener->uv.handle, handle_closed);
    }
}

const char *wio_net_listener_address(struct wio_io_listener *listener)
{
    return listener->address;
}

static struct wio_io_listener *create(struct wio_net *net, bool is_unix)
{
    struct wio_io_listener *listener = calloc(1, sizeof(*listener));
    if (listener == NULL) {
        return NULL;
    }
    int failed = is_unix ? uv_pipe_init(&net->loop, &listener->uv.pipe, 0)
                         : uv_tcp_init(&net->loop, &listener->uv.tcp);
    if (failed != 0) {
        free(listener);
        return NULL;
    }
    listener->net = net;
    listener->is_unix = is_unix;
    listener->uv.handle.data = listener;
    return listener;
}

enum wio_status wio_net_listen(struct wio_io *io, const char *address, wio_io_accepted *accepted,
                               void *context, struct wio_io_listener **listener_out,
                               struct wio_error *err)
{
    struct wio_link_address parsed;
    WIO_TRY(wio_link_address_parse(address, &parsed, err));
    struct wio_io_listener *listener = create(wio_net_of(io), parsed.is_unix);
    if (listener == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    listener->accepted = accepted;
    listener->context = context;
    int failed = parsed.is_unix ? bind_unix(listener, parsed.path) : bind_tcp(listener, &parsed);
    if (failed == 0) {
        failed = uv_listen(&listener->uv.stream, BACKLOG, incoming);
    }
    if (failed != 0) {
        char reason[64];
        wio_net_listener_close(listener);
        return wio_error_set(err, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET,
                             "cannot listen at '%.300s': %s", address,
                             uv_strerror_r(failed, reason, sizeof(reason)));
    }
    name(listener, &parsed);
    *listener_out = listener;
    return WIO_OK;
}
