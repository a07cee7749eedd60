/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of struct wio_net: loop.c makes the table out of its parts. */
#ifndef WIO_STORE_NET_INTERNAL_H
#define WIO_STORE_NET_INTERNAL_H

#include <signal.h>
#include <uv.h>

#include "store/net/net.h"

enum { WIO_NET_SIGNALS = 4 };

struct wio_net_signal {
    uv_signal_t handle;
    void (*came)(void *context, int signal);
    void *context;
};

/* The thread for what blocks, and what it has to do and has done. */
struct wio_net_worker {
    uv_thread_t thread;
    uv_mutex_t mutex;
    uv_cond_t cond;
    struct wio_io_work *todo; /* oldest first, by reserved[0] */
    struct wio_io_work *done;
    bool is_started;
    bool is_ending;
    unsigned under_way; /* given and not told as done: of the loop's thread */
};

struct wio_net {
    struct wio_io io; /* first */
    struct wio_io_ops ops;
    uv_loop_t loop;
    bool has_loop;
    int dir;                 /* -1: none */
    uint64_t file_bytes_max; /* of the file system of `dir`; 0: not asked yet */
    uv_async_t async;
    uv_idle_t idle;
    int connect_failure;        /* libuv's number; 0: the last connection was made */
    struct wio_io_conn *failed; /* to be told `closed` by idle */
    void (*wake)(void *context);
    void *wake_context;
    struct wio_net_signal signals[WIO_NET_SIGNALS];
    unsigned signal_count;
    struct wio_net_worker worker;
    size_t unsent;      /* bytes of all connections that libuv has to write */
    bool is_guarded;    /* SIGPIPE is blocked in the thread that runs the loop .. */
    sigset_t unguarded; /* .. which had this mask before */
};

static inline struct wio_net *wio_net_of(struct wio_io *io)
{
    return (struct wio_net *)io;
}

/* SIGPIPE is blocked in this thread, until wio_net_leave: before libuv writes to a socket. */
void wio_net_guard(struct wio_net *net);
/* For the begin of a thread of the library's own, which takes no signal: what it gives goes to
 * wio_net_allow_signals. */
void wio_net_block_signals(sigset_t *before);
void wio_net_allow_signals(const sigset_t *before);

/* listen.c, connect.c, conn.c */
enum wio_status wio_net_listen(struct wio_io *io, const char *address, wio_io_accepted *accepted,
                               void *context, struct wio_io_listener **listener_out,
                               struct wio_error *err);
const char *wio_net_listener_address(struct wio_io_listener *listener);
void wio_net_listener_close(struct wio_io_listener *listener);
enum wio_status wio_net_connect(struct wio_io *io, const char *address,
                                const struct wio_io_handler *handler, void *context,
                                struct wio_io_conn **conn_out, struct wio_error *err);
const char *wio_net_connect_failure(struct wio_io *io, bool *is_final_out);
void wio_net_conn_attach(struct wio_io_conn *conn, const struct wio_io_handler *handler,
                         void *context);
enum wio_status wio_net_conn_send(struct wio_io_conn *conn, const struct wio_io_bytes *parts,
                                  size_t count);
size_t wio_net_conn_unsent(struct wio_io_conn *conn);
void wio_net_conn_pause(struct wio_io_conn *conn, bool is_paused);
void wio_net_conn_close(struct wio_io_conn *conn);
/* Tell those that have failed. */
void wio_net_conns_failed(uv_idle_t *idle);

/* file.c: its part of the table */
void wio_net_file_ops(struct wio_io_ops *ops);

/* work.c */
enum wio_status wio_net_work(struct wio_io *io, struct wio_io_work *work);
void wio_net_work_done(struct wio_net *net);
void wio_net_work_end(struct wio_net *net);

#endif
