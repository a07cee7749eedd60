/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission of all servers of a process: made at the begin, changed by a file while they run, and
 * shown as metrics. The targets share one queue, and the catalogue has its own, so that data keeps
 * no name waiting. A change or a snapshot holds each server's thread for a moment, between two
 * events of its loop. Changes are made by the catalogue's thread; snapshots by any other one.
 */
#ifndef WIO_STORE_SERVE_ADMIN_H
#define WIO_STORE_SERVE_ADMIN_H

#include <pthread.h>

#include "base/buf.h"
#include "store/io.h"
#include "store/serve/loop_hold.h"
#include "store/serve/policy_file.h"
#include "store/serve/serve.h"
#include "store/serve/target_thread.h"

struct serve_admin {
    const struct wio_serve_config *config;
    struct serve_policy begun;           /* with what all servers start */
    struct wio_admit_total *total;       /* of the targets */
    struct wio_admit_total *names_total; /* of the catalogue */
    pthread_mutex_t mutex;               /* one change, snapshot or flush of targets at a time */
    pthread_mutex_t names_mutex;         /* one snapshot of the catalogue at a time */
    bool has_mutex;
    struct target_thread **targets; /* NULL: they have not begun */
    unsigned count;
    struct wio_net *net;      /* the catalogue's loop .. */
    struct loop_hold hold;    /* .. held for a snapshot */
    struct wio_intake *names; /* of its thread; NULL: this process has no catalogue, or not yet */
};

/* `log_bytes` of each target: for the reserve. WIO_ERR_FORMAT, WIO_ERR_IO: of the policy file. */
WIO_MUST_CHECK enum wio_status serve_admin_begin(struct serve_admin *admin,
                                                 const struct wio_serve_config *config,
                                                 struct wio_net *net, unsigned targets,
                                                 uint64_t log_bytes, struct wio_error *err);
/* The targets run: what the policy file said at the begin, of tenants too, is put in force. */
WIO_MUST_CHECK enum wio_status
serve_admin_run(struct serve_admin *admin, struct target_thread **targets, struct wio_error *err);
/* The catalogue runs, on this thread: what the file said at the begin is put in force there. */
WIO_MUST_CHECK enum wio_status serve_admin_names(struct serve_admin *admin,
                                                 struct wio_intake *names, struct wio_error *err);
/* On the thread of the catalogue's loop, when it was woken; and when it ends. */
void serve_admin_woken(struct serve_admin *admin);
void serve_admin_unheld(struct serve_admin *admin);
/* The policy file is read again and put in force; what is wrong with it changes nothing. */
WIO_MUST_CHECK enum wio_status serve_admin_reload(struct serve_admin *admin, struct wio_error *err);
/* A snapshot of all servers as text for Prometheus: not from the catalogue's thread. */
WIO_MUST_CHECK enum wio_status serve_admin_metrics(struct serve_admin *admin, struct wio_blob *out);
/* Behind the end of the targets, which use what it owns. */
void serve_admin_end(struct serve_admin *admin);

/* ---- metrics over HTTP: metrics_http.c, or metrics_none.c without libmicrohttpd ---- */

struct serve_http;
/* Serves GET /metrics at HOST:PORT, [V6]:PORT or PORT (loopback), from threads of its own.
 * WIO_ERR_UNSUPPORTED: no libmicrohttpd. */
WIO_MUST_CHECK enum wio_status serve_http_begin(struct serve_admin *admin, const char *address,
                                                struct serve_http **http_out,
                                                struct wio_error *err);
/* The port that the system chose for port 0. */
unsigned serve_http_port(const struct serve_http *http);
void serve_http_end(struct serve_http *http); /* NULL is allowed */

#endif
