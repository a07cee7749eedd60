/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a server is, as a text:
 *
 *     unix:PATH          a Unix socket; PATH up to 107 bytes
 *     HOST:PORT          a name or an IPv4 address
 *     [ADDRESS]:PORT     an IPv6 address
 */
#ifndef WIO_STORE_LINK_ADDRESS_H
#define WIO_STORE_LINK_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

enum { WIO_LINK_PATH_BYTES = 108, WIO_LINK_HOST_BYTES = 256, WIO_LINK_ADDRESS_BYTES = 300 };

struct wio_link_address {
    bool is_unix;
    char path[WIO_LINK_PATH_BYTES];
    char host[WIO_LINK_HOST_BYTES];
    uint16_t port;
};

/* WIO_ERR_USAGE with what was expected. */
WIO_MUST_CHECK enum wio_status wio_link_address_parse(const char *text,
                                                      struct wio_link_address *address_out,
                                                      struct wio_error *err);

/* Reached by no other host: a Unix socket, 127.0.0.0/8, ::1. Names are not looked up, and so are
 * not local: what they mean is another's to say. */
bool wio_link_address_is_local(const struct wio_link_address *address);

#endif
