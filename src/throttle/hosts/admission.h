/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections to the coordinator that have not yet proven to have the run's key. They are served
 * beside its work, without waiting: there are at most WIO_ADMISSION_MAX, each for a limited time;
 * one more closes the oldest that has not sent HELLO with the run's key. A HELLO that was received
 * before is refused.
 */
#ifndef WIO_THROTTLE_HOSTS_ADMISSION_H
#define WIO_THROTTLE_HOSTS_ADMISSION_H

#include "throttle/hosts/remote_handshake.h"
#include "throttle/hosts/remote_listen.h"

#define WIO_ADMISSION_MAX 256u

struct wio_admission;

/* Opens the listeners. */
WIO_MUST_CHECK enum wio_status wio_admission_create(const struct wio_remote_where *where,
                                                    struct wio_admission **admission_out,
                                                    struct wio_error *err);
/* Accepts NULL. */
void wio_admission_destroy(struct wio_admission *admission);
const struct wio_remote_listeners *wio_admission_listeners(const struct wio_admission *admission);

/* A run with another key begins: what is pending is closed. */
void wio_admission_begin(struct wio_admission *admission, const struct wio_remote_key *key);

/* Accept connections, and take each that is pending as far as it goes. A bounded number of system
 * calls, and none that waits. */
void wio_admission_step(struct wio_admission *admission);

/* Take out one that has proven itself. False: there is none. */
bool wio_admission_next(struct wio_admission *admission, struct wio_remote_link *link_out,
                        struct wio_remote_hello *hello_out);

/* Connections that were closed since the run began, without proof. */
uint64_t wio_admission_refused(const struct wio_admission *admission);
uint32_t wio_admission_pending(const struct wio_admission *admission);

#endif
