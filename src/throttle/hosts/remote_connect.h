/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a worker behind the launcher connects to the coordinator: it tries all addresses at once, and
 * keeps the first whose peer proves to have the key. Loopback addresses are tried only where the
 * coordinator is in the same place (wio_remote_place).
 */
#ifndef WIO_THROTTLE_HOSTS_REMOTE_CONNECT_H
#define WIO_THROTTLE_HOSTS_REMOTE_CONNECT_H

#include "throttle/hosts/remote_address.h"
#include "throttle/hosts/remote_link.h"

/* WIO_ERR_IO: none can be reached, or what answers there does not have the run's key. */
WIO_MUST_CHECK enum wio_status wio_remote_connect(const struct wio_remote_address *address,
                                                  const struct wio_remote_hello *hello,
                                                  struct wio_remote_link *link_out,
                                                  struct wio_error *err);

#endif
