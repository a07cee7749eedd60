/* SPDX-License-Identifier: Apache-2.0 */
#include "store/net/conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* What the kernel did not take at once. */
struct later {
    uv_write_t write;
    struct wio_io_conn *conn;
    size_t size;
    char bytes[];
};

/* ---- life ---------------------------------------------------------------------------------- */

struct wio_io_conn *wio_net_conn_create(struct wio_net *net, bool is_unix)
{
    struct wio_io_conn *conn = calloc(1, sizeof(*conn));
    if (conn == NULL) {
        return NULL;
    }
    conn->net = net;
    conn->refs = 1;
    int failed = is_unix ? uv_pipe_init(&net->loop, &conn->uv.pipe, 0)
                         : uv_tcp_init(&net->loop, &conn->uv.tcp);
    if (failed != 0) {
        free(conn);
        return NULL;
    }
    conn->uv.handle.data = conn;
    return conn;
}

void wio_net_conn_unref(struct wio_io_conn *conn)
{
    if (--conn->refs == 0) {
        free(conn);
    }
}

static void handle_closed(uv_handle_t *handle)
{
    wio_net_conn_unref(handle->data);
}

static void forget_failed(struct wio_io_conn *conn)
{
    struct wio_io_conn **at = &conn->net->failed;
    while (*at != NULL && *at != conn) {
        at = &(*at)->next_failed;
    }
    if (*at == conn) {
        *at = conn->next_failed;
    }
}

void wio_net_conn_close(struct wio_io_conn *conn)
{
    if (conn == NULL) {
        return;
    }
    conn->handler = NULL;
    conn->is_closed = true;
    if (conn->has_failed) {
        forget_failed(conn);
    }
    uv_close(&conn->uv.handle, handle_closed);
}

void wio_net_conn_fail(struct wio_io_conn *conn)
{
    if (conn->has_failed || conn->is_closed) {
        return;
    }
    conn->has_failed = true;
    conn->next_failed = conn->net->failed;
    conn->net->failed = conn;
    (void)uv_idle_start(&conn->net->idle, wio_net_conns_failed);
}

void wio_net_conns_failed(uv_idle_t *idle)
{
    struct wio_net *net = idle->data;
    while (net->failed != NULL) {
        struct wio_io_conn *conn = net->failed;
        net->failed = conn->next_failed;
        if (conn->handler != NULL) {
            conn->handler->closed(conn->context, WIO_ERR_IO);
        }
    }
    (void)uv_idle_stop(idle);
}

/* ---- in ------------------------------------------------------------------------------------ */

static void give_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct wio_io_conn *conn = handle->data;
    size_t size = 0;
    (void)suggested;
    void *room = conn->handler->room(conn->context, &size);
    *buf = uv_buf_init(room, room == NULL ? 0 : (unsigned)size);
}

static void came(uv_stream_t *stream, ssize_t bytes, const uv_buf_t *buf)
{
    struct wio_io_conn *conn = stream->data;
    (void)buf;
    if (bytes > 0) {
        conn->handler->came(conn->context, (size_t)bytes);
    } else if (bytes < 0 && conn->handler != NULL) {
        (void)uv_read_stop(stream);
        conn->handler->closed(conn->context, bytes == UV_EOF ? WIO_END : WIO_ERR_IO);
    }
}

static void read_on(struct wio_io_conn *conn)
{
    if (conn->is_connected && !conn->is_paused && !conn->is_closed &&
        uv_read_start(&conn->uv.stream, give_room, came) != 0) {
        wio_net_conn_fail(conn);
    }
}

void wio_net_conn_pause(struct wio_io_conn *conn, bool is_paused)
{
    conn->is_paused = is_paused;
    if (is_paused) {
        (void)uv_read_stop(&conn->uv.stream);
    } else {
        read_on(conn);
    }
}

void wio_net_conn_attach(struct wio_io_conn *conn, const struct wio_io_handler *handler,
                         void *context)
{
    conn->handler = handler;
    conn->context = context;
    conn->is_connected = true;
    read_on(conn);
}

void wio_net_conn_opened(struct wio_io_conn *conn)
{
    conn->is_connected = true;
    read_on(conn);
    conn->handler->opened(conn->context);
}

/* ---- out ----------------------------------------------------------------------------------- */

static void sent(uv_write_t *write, int status)
{
    struct later *later = write->data;
    struct wio_io_conn *conn = later->conn;
    conn->unsent -= later->size;
    conn->net->unsent -= later->size;
    free(later);
    if (conn->is_closed) {
        return;
    }
    if (status != 0) {
        wio_net_conn_fail(conn);
    } else if (conn->unsent == 0 && conn->handler != NULL) {
        conn->handler->drained(conn->context);
    }
}

/* A copy of all but the first `skip` bytes of the parts. */
static struct later *copy(const struct wio_io_bytes *parts, size_t count, size_t skip, size_t size)
{
    struct later *later = malloc(sizeof(*later) + size);
    size_t at = 0;
    for (size_t i = 0; i < count && later != NULL; i++) {
        size_t skipped = skip < parts[i].size ? skip : parts[i].size;
        memcpy(later->bytes + at, (const char *)parts[i].data + skipped, parts[i].size - skipped);
        at += parts[i].size - skipped;
        skip -= skipped;
    }
    return later;
}

static enum wio_status send_later(struct wio_io_conn *conn, const struct wio_io_bytes *parts,
                                  size_t count, size_t skip, size_t size)
{
    struct later *later = copy(parts, count, skip, size);
    if (later == NULL) {
        wio_net_conn_fail(conn);
        return WIO_ERR_NOMEM;
    }
    uv_buf_t buf = uv_buf_init(later->bytes, (unsigned)size);
    later->conn = conn;
    later->size = size;
    later->write.data = later;
    wio_net_guard(conn->net);
    if (uv_write(&later->write, &conn->uv.stream, &buf, 1, sent) != 0) {
        free(later);
        wio_net_conn_fail(conn);
        return WIO_ERR_IO;
    }
    conn->unsent += size;
    conn->net->unsent += size;
    return WIO_OK;
}

/* What the kernel takes of it at once; negative: the connection has failed. Without SIGPIPE, which
 * may be the program's own in this thread. */
static ssize_t send_now(const struct wio_io_conn *conn, const struct wio_io_bytes *parts,
                        size_t count)
{
    struct iovec iov[WIO_IO_BYTES_MAX];
    const struct msghdr message = {.msg_iov = iov, .msg_iovlen = count};
    uv_os_fd_t fd = -1;
    ssize_t taken;
    if (uv_fileno(&conn->uv.handle, &fd) != 0) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        /* not const; sendmsg(2) does not write to them */
        iov[i] = (struct iovec){(void *)(uintptr_t)parts[i].data, parts[i].size};
    }
    do {
        taken = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (taken < 0 && errno == EINTR);
    bool is_full = taken < 0 && (errno == EAGAIN || errno == ENOBUFS);
    return is_full ? 0 : taken;
}

enum wio_status wio_net_conn_send(struct wio_io_conn *conn, const struct wio_io_bytes *parts,
                                  size_t count)
{
    size_t size = 0;
    ssize_t taken = 0;
    for (size_t i = 0; i < count; i++) {
        size += parts[i].size;
    }
    if (conn->unsent == 0 && conn->is_connected) {
        taken = send_now(conn, parts, count);
    }
    if (taken < 0) {
        wio_net_conn_fail(conn);
        return WIO_ERR_IO;
    }
    size_t done = (size_t)taken;
    return done == size ? WIO_OK : send_later(conn, parts, count, done, size - done);
}

size_t wio_net_conn_unsent(struct wio_io_conn *conn)
{
    return conn->unsent;
}
