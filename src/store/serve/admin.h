/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission of all targets of a process: made at the begin, changed by a file while they run, and
 * shown as metrics. A change or a snapshot holds each target's thread for a moment, between two
 * events of its loop. Thread safe between serve_admin_begin and serve_admin_end.
 */
#ifndef WIO_STORE_SERVE_ADMIN_H
#define WIO_STORE_SERVE_ADMIN_H

#include <pthread.h>

#include "base/buf.h"
#include "store/io.h"
#include "store/serve/serve.h"
#include "store/serve/target_thread.h"

struct serve_admin {
    const struct wio_serve_config *config;
    struct wio_admit_total *total;
    pthread_mutex_t mutex; /* one change or snapshot at a time */
    bool has_mutex;
    struct target_thread **targets; /* NULL: they have not begun */
    unsigned count;
};

/* `log_bytes` of each target: for the reserve. WIO_ERR_FORMAT, WIO_ERR_IO: of the policy file. */
WIO_MUST_CHECK enum wio_status serve_admin_begin(struct serve_admin *admin,
                                                 const struct wio_serve_config *config,
                                                 struct wio_io *io, unsigned targets,
                                                 uint64_t log_bytes, struct wio_error *err);
/* The targets run: what the policy file says of tenants is put in force. */
WIO_MUST_CHECK enum wio_status
serve_admin_run(struct serve_admin *admin, struct target_thread **targets, struct wio_error *err);
/* The policy file is read again and put in force; what is wrong with it changes nothing. */
WIO_MUST_CHECK enum wio_status serve_admin_reload(struct serve_admin *admin, struct wio_error *err);
/* A snapshot of all targets as text for Prometheus. */
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
