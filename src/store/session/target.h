/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A target's process: the server's logic (store/server) on connections (store/link). It gives each
 * client's messages to the server, sends what the server says, keeps time for it, and asks other
 * targets. One thread: the loop's.
 */
#ifndef WIO_STORE_SESSION_TARGET_H
#define WIO_STORE_SESSION_TARGET_H

#include "store/link/server.h"
#include "store/server/server.h"
#include "store/session/intake.h"
#include "store/trace/tracer.h"

struct wio_target;

struct wio_target_config {
    struct wio_link_config link;     /* its limits.silence_ns is the lease */
    struct wio_server_config server; /* but for ops, context, watch and lease_ns */
    const char *const *addresses;    /* of all server.targets; copied */
    /* The key of the store's servers: only what a client has shown a grant for is done
     * (grants.h). Copied; NULL: all is. */
    const struct wio_link_key *servers_key;
    struct wio_tracer *tracer; /* NULL: transactions are not traced; the caller's */
    uint32_t admin;            /* the user who may drop statistics of jobs, beside user 0 */
    struct wio_admit_total *admission;
};

/* The caller owns it, and the backing in the configuration. */
WIO_MUST_CHECK enum wio_status wio_target_create(struct wio_io *io,
                                                 const struct wio_target_config *config,
                                                 struct wio_target **target_out,
                                                 struct wio_error *err);
/* As wio_link_server_listen; behind recovery. */
WIO_MUST_CHECK enum wio_status wio_target_listen(struct wio_target *target, const char *address,
                                                 const char **address_out, struct wio_error *err);
/* Of the log (wio_server_durable): not from within a function of the backing. */
void wio_target_durable(struct wio_target *target, uint64_t lsn, bool is_ok);
/* The same of wio_server_unlogged. */
void wio_target_unlogged(struct wio_target *target, uint64_t lsn, enum wio_store_result result);
/* Where the targets are, where that was not known when it was made. Copied. */
void wio_target_set_addresses(struct wio_target *target, const char *const *addresses);

/* For recovery and statistics. The admission is NULL where the configuration has none. */
struct wio_intake *wio_target_intake(struct wio_target *target);
struct wio_server *wio_target_server(struct wio_target *target);

/* No message is sent after it. NULL is allowed. */
void wio_target_destroy(struct wio_target *target);

#endif
