/* SPDX-License-Identifier: Apache-2.0 */
/* A target's questions to other targets: connections that are made when there is one to ask. */
#ifndef WIO_STORE_SESSION_INQUIRER_H
#define WIO_STORE_SESSION_INQUIRER_H

#include "store/link/link.h"

struct wio_inquirer;

typedef void wio_inquirer_answered(void *context, uint16_t target, const struct wio_txn *txn,
                                   enum wio_store_outcome outcome);

/* `config` and `servers_key` (NULL: the others want no grants) live as long; the addresses are
 * copied. WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_inquirer_create(struct wio_io *io,
                                                   const struct wio_link_config *config,
                                                   const struct wio_link_key *servers_key,
                                                   const char *const *addresses, uint16_t targets,
                                                   wio_inquirer_answered *answered, void *context,
                                                   struct wio_inquirer **inquirer_out);
/* For connections that are made from now on. Copied. */
void wio_inquirer_set_addresses(struct wio_inquirer *inquirer, const char *const *addresses);
/* No answer comes afterwards; NULL is allowed. */
void wio_inquirer_destroy(struct wio_inquirer *inquirer);

/* INQUIRE. Where there is no connection one is made, and the question is dropped: it is asked
 * again. */
void wio_inquirer_ask(struct wio_inquirer *inquirer, uint16_t target, const struct wio_txn *txn,
                      bool is_prepared);

#endif
