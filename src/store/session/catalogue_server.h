/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The catalogue's process: names (store/catalogue) on connections (store/link). Each request is one
 * transaction of the catalogue, by the user that the connection has proven, performed on the loop
 * and answered before the next one, in the order of admission (intake.h). A change that a client
 * asks for again, with the same number, is not made again: its answer is kept as long as the
 * client's lease. One thread: the loop's.
 */
#ifndef WIO_STORE_SESSION_CATALOGUE_SERVER_H
#define WIO_STORE_SESSION_CATALOGUE_SERVER_H

#include "store/catalogue/catalogue.h"
#include "store/link/server.h"
#include "store/session/intake.h"
#include "store/trace/tracer.h"

/* Changes of one client whose answers are kept: as many as it may have under way. */
#define WIO_CATALOGUE_WINDOW 64

struct wio_catalogue_server;

struct wio_catalogue_server_config {
    struct wio_link_config link;            /* its limits.silence_ns is the lease */
    struct wio_catalogue *catalogue;        /* outlives it */
    const struct wio_link_key *servers_key; /* copied */
    const char *const *targets;             /* addresses, by index; copied */
    uint16_t target_count;
    struct wio_tracer *tracer; /* is told of files that are opened; NULL: none; the caller's */
    uint32_t admin;            /* the user who may drop statistics of jobs, beside user 0 */
    struct wio_admit_total *admission; /* outlives it; NULL: what comes is served at once */
    /* The catalogue could not be read or written: nothing is changed any more. */
    void (*failed)(void *context);
    void *context;
};

/* The caller owns it. WIO_ERR_UNSUPPORTED: this whyio was built without libsodium. */
WIO_MUST_CHECK enum wio_status
wio_catalogue_server_create(struct wio_io *io, const struct wio_catalogue_server_config *config,
                            struct wio_catalogue_server **server_out, struct wio_error *err);
/* As wio_link_server_listen. */
WIO_MUST_CHECK enum wio_status wio_catalogue_server_listen(struct wio_catalogue_server *server,
                                                           const char *address,
                                                           const char **address_out,
                                                           struct wio_error *err);
/* NULL where the configuration has no admission. For policies and metrics. */
struct wio_intake *wio_catalogue_server_intake(struct wio_catalogue_server *server);
/* No message is sent after it. NULL is allowed. */
void wio_catalogue_server_destroy(struct wio_catalogue_server *server);

#endif
