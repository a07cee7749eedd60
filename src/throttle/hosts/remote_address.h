/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WHYIO_DIRECTOR: what the coordinator passes to the workers behind the launcher, through the
 * launcher's environment. Nothing else is agreed beforehand:
 *
 *     PROTOCOL/VERSION/KEY/PLACE/ADDRESS@PORT,ADDRESS@PORT../DIRECTORY
 *
 * KEY: 64 hexadecimal digits. PLACE: the coordinator's machine and network namespace. DIRECTORY:
 * of the run's trace, absolute, with % and two hexadecimal digits for all but letters, digits and
 * "/._-".
 */
#ifndef WIO_THROTTLE_HOSTS_REMOTE_ADDRESS_H
#define WIO_THROTTLE_HOSTS_REMOTE_ADDRESS_H

#include <limits.h>
#include <sys/socket.h>

#include "throttle/hosts/remote_key.h"

#define WIO_REMOTE_PLACE_BYTES 72
#define WIO_REMOTE_SOCKETS_MAX 4u
/* The longest value. */
#define WIO_REMOTE_ADDRESS_BYTES (3 * PATH_MAX + 1024)

struct wio_remote_socket {
    struct sockaddr_storage address;
    socklen_t size;
};

struct wio_remote_address {
    struct wio_remote_key key;
    char place[WIO_REMOTE_PLACE_BYTES];
    struct wio_remote_socket sockets[WIO_REMOTE_SOCKETS_MAX];
    uint32_t count;
    char dir[PATH_MAX];
};

/* WIO_ERR_USAGE where it does not fit. */
WIO_MUST_CHECK enum wio_status wio_remote_address_write(const struct wio_remote_address *address,
                                                        char text_out[WIO_REMOTE_ADDRESS_BYTES],
                                                        struct wio_error *err);
/* WIO_ERR_USAGE: another version of whyio wrote it (the message names both), or none. */
WIO_MUST_CHECK enum wio_status wio_remote_address_read(const char *text,
                                                       struct wio_remote_address *address_out,
                                                       struct wio_error *err);

/* This machine since its start, and this process's network: "" where the kernel does not say. */
void wio_remote_place(char place_out[WIO_REMOTE_PLACE_BYTES]);

/* An address without port, as in the value. False: neither IPv4 nor IPv6. */
bool wio_remote_socket_text(const struct wio_remote_socket *socket, char *text, size_t room);
bool wio_remote_socket_parse(const char *text, uint16_t port, struct wio_remote_socket *socket_out);
uint16_t wio_remote_socket_port(const struct wio_remote_socket *socket);

#endif
