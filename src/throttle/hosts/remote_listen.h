/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the coordinator of a run listens: at one network only. The first of these that there is:
 *
 *     - the interface that WHYIO_INTERFACE names, by name or by address
 *     - the addresses from which the hosts of --hosts=HOST,.. are reached
 *     - the only interface, besides the loopback
 *     - the addresses of the host's own name
 *     - the address that the default route has
 *     - the loopback, where there is nothing else
 */
#ifndef WIO_THROTTLE_HOSTS_REMOTE_LISTEN_H
#define WIO_THROTTLE_HOSTS_REMOTE_LISTEN_H

#include "throttle/hosts/remote_address.h"

struct wio_remote_where {
    const char *interface; /* NULL = not chosen */
    const char *hosts;     /* "a,b,c"; NULL = not named */
};

/* Non-blocking listeners; sockets[i] is the address, with its port, of fds[i]. */
struct wio_remote_listeners {
    int fds[WIO_REMOTE_SOCKETS_MAX];
    struct wio_remote_socket sockets[WIO_REMOTE_SOCKETS_MAX];
    uint32_t count;
};

/* WIO_ERR_USAGE: there is no such interface, or several and nothing chooses one (the message names
 * them). May ask for names (getaddrinfo). */
WIO_MUST_CHECK enum wio_status wio_remote_listen(const struct wio_remote_where *where,
                                                 struct wio_remote_listeners *listeners_out,
                                                 struct wio_error *err);
void wio_remote_listeners_fini(struct wio_remote_listeners *listeners);

#endif
