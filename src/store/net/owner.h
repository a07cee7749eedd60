/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a connection on the loopback interface is: sock_diag(7). Nothing that the other end says
 * has a part in it. */
#ifndef WIO_STORE_NET_OWNER_H
#define WIO_STORE_NET_OWNER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* The user of the socket at `far`, connected to `near` on this host. False: the kernel does not
 * say, or that socket is no process's any more. */
bool wio_net_owner(const struct sockaddr_storage *far, const struct sockaddr_storage *near,
                   uint32_t *uid_out);

#endif
