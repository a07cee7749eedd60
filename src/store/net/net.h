/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam store/io.h over the kernel: libuv's loop for connections, timers and flushes, the page
 * cache for files, one thread for what blocks.
 *
 *     wio_net_create("/scratch/store", &net, &err);
 *     wio_link_server_create(wio_net_io(net), ..);
 *     wio_net_run(net);             until wio_net_stop
 *     wio_net_destroy(net);
 *
 * One thread at a time, but for wio_net_wake. Threads may take turns, with what orders their memory
 * between them (a mutex): each calls wio_net_enter, then wio_net_turn or functions of the seam,
 * then wio_net_leave. Built where libuv is; without it there is no `whyio serve`.
 */
#ifndef WIO_STORE_NET_H
#define WIO_STORE_NET_H

#include "store/io.h"

struct wio_net;

/* In the thread that will run the loop: SIGPIPE is blocked there until wio_net_leave. `dir`, which
 * is there, is what files are below; NULL: this process has none, and file_open and its like fail
 * with WIO_ERR_USAGE. The caller owns it. */
WIO_MUST_CHECK enum wio_status wio_net_create(const char *dir, struct wio_net **net_out,
                                              struct wio_error *err);
/* In the thread that runs the loop, which leaves it. Everything that was made through the seam has
 * been closed by then; NULL is allowed. */
void wio_net_destroy(struct wio_net *net);

/* Valid as long as `net`. */
struct wio_io *wio_net_io(struct wio_net *net);

/* Until wio_net_stop, or until there is nothing left to wait for. */
void wio_net_run(struct wio_net *net);
/* What is due now, waiting for nothing. False: nothing is left to wait for. */
bool wio_net_poll(struct wio_net *net);
/* What is due, after waiting for it where nothing is; returns early after wio_net_stop. */
void wio_net_turn(struct wio_net *net);
/* From the thread that runs the loop: wio_net_run, or the wio_net_turn that is under way, or else
 * the next one, returns without waiting. */
void wio_net_stop(struct wio_net *net);
/* This thread runs the loop from now on; the one that did has left it. Signals of the thread stay
 * as they are, but for SIGPIPE, which is blocked where a write might cause it; wio_net_leave undoes
 * that. */
void wio_net_enter(struct wio_net *net);
void wio_net_leave(struct wio_net *net);
/* From any thread: `wake` is called on the loop, once or more, some time later. */
void wio_net_on_wake(struct wio_net *net, void (*wake)(void *context), void *context);
void wio_net_wake(struct wio_net *net);

/* Call `came` on the loop when the signal comes; no more than four signals. WIO_ERR_IO. */
WIO_MUST_CHECK enum wio_status wio_net_on_signal(struct wio_net *net, int signal,
                                                 void (*came)(void *context, int signal),
                                                 void *context, struct wio_error *err);

#endif
