/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The side that listens. Connections that have proven nothing (strangers) are few, have little
 * memory and little time; the oldest one that has not said a HELLO goes when there are too many.
 * What they send is counted by what was wrong with it, and nothing else happens.
 */
#ifndef WIO_STORE_LINK_SERVER_H
#define WIO_STORE_LINK_SERVER_H

#include "store/link/link.h"

struct wio_link_server;

struct wio_link_counts {
    uint64_t accepted;
    uint64_t opened;
    uint64_t ends[WIO_LINK_ENDS]; /* of connections that were accepted, opened or not */
    unsigned strangers;           /* now */
    unsigned links;               /* now, open */
};

/* The caller owns it. `config` and `events` live as long as it. NULL: out of memory. */
struct wio_link_server *wio_link_server_create(struct wio_io *io,
                                               const struct wio_link_config *config,
                                               const struct wio_link_events *events, void *context);
/*
 * Listen there too. WIO_ERR_USAGE: open to all, and not at a loopback address or Unix socket; no
 * credentials for MUNGE. WIO_ERR_UNSUPPORTED: no libsodium. `address_out` (may be NULL) is the
 * server's: the address with the port that the system chose.
 */
WIO_MUST_CHECK enum wio_status wio_link_server_listen(struct wio_link_server *server,
                                                      const char *address, const char **address_out,
                                                      struct wio_error *err);
const struct wio_link_counts *wio_link_server_counts(const struct wio_link_server *server);
/* Ends listeners and strangers; open links stay their owner's. NULL is allowed. */
void wio_link_server_destroy(struct wio_link_server *server);

#endif
