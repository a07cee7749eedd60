/* SPDX-License-Identifier: Apache-2.0 */
/* Does an address lead to this machine alone? 127.0.0.0/8, ::1, and the former written in IPv6
 * (::ffff:127.0.0.1), as a socket for both families has it. Other families: false. Pure. */
#ifndef WIO_BASE_SYSTEM_LOOPBACK_H
#define WIO_BASE_SYSTEM_LOOPBACK_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

static inline bool wio_address_is_loopback(const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
        return ntohl(v4->sin_addr.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
    }
    const struct in6_addr *v6 = &((const struct sockaddr_in6 *)address)->sin6_addr;
    return address->ss_family == AF_INET6 &&
           (IN6_IS_ADDR_LOOPBACK(v6) ||
            (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == IN_LOOPBACKNET));
}

#endif
