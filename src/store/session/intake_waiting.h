/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that wait for admission: copies, with what they borrow. */
#ifndef WIO_STORE_SESSION_INTAKE_WAITING_H
#define WIO_STORE_SESSION_INTAKE_WAITING_H

#include <sys/queue.h>

#include "store/session/intake.h"

struct wio_intake_waiting {
    TAILQ_ENTRY(wio_intake_waiting) by_client; /* both: of those in the policy's queue */
    TAILQ_ENTRY(wio_intake_waiting) by_admission;
    struct wio_intake_client *client;  /* NULL: it has left */
    struct wio_intake_waiting *behind; /* of the same attempt, to come in when this is served */
    struct wio_store_request request;
    size_t bytes; /* that this takes */
};

/* NULL: no memory. */
struct wio_intake_waiting *wio_intake_copy(const struct wio_store_request *request);
/* Bytes that a copy takes. */
size_t wio_intake_copy_bytes(const struct wio_store_request *request);
/* That of the client which the request has to follow; NULL: none. */
struct wio_intake_waiting *wio_intake_ahead(const struct wio_intake_client *client,
                                            const struct wio_store_request *request);

/* The last LOCK of the client that waits, which an UNLOCK has to follow; NULL: none. */
struct wio_intake_waiting *wio_intake_lock_ahead(const struct wio_intake_client *client);

/* Of requests that begin a transaction here: was this attempt's refused? Operations that came
 * behind it are refused as well, so that they are sent again behind it. */
bool wio_intake_was_refused(const struct wio_intake_client *client,
                            const struct wio_store_request *request);
void wio_intake_note_refused(struct wio_intake_client *client,
                             const struct wio_store_request *request);
void wio_intake_note_accepted(struct wio_intake_client *client,
                              const struct wio_store_request *request);

#endif
