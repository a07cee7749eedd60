/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of struct wio_attempts, shared by attempt*.c. */
#ifndef WIO_EXPLAIN_ABORTS_ATTEMPTS_INTERNAL_H
#define WIO_EXPLAIN_ABORTS_ATTEMPTS_INTERNAL_H

#include "explain/aborts/attempts.h"

#define WIO_PART_INACTIVE UINT32_MAX /* struct wio_attempt_part, place */
#define WIO_ATTEMPT_OPEN UINT64_MAX  /* end_ns, last_ns */

/* attempt_table.c */
WIO_MUST_CHECK enum wio_status wio_attempts_new(struct wio_attempts *attempts,
                                                const struct wio_txn_name *name, uint64_t begin_ns,
                                                struct wio_attempt **attempt_out);
/* It, or a later attempt of its transaction, is over: what comes of it now was late. */
bool wio_attempts_is_past(const struct wio_attempts *attempts, const struct wio_txn_name *name);
/* The part is active no more. */
void wio_attempts_deactivate(struct wio_attempts *attempts, struct wio_attempt *attempt,
                             struct wio_attempt_part *part, uint64_t now_ns);

/* attempt_part.c: what a row says of its attempt at this server: bytes, refusal. */
WIO_MUST_CHECK enum wio_status wio_attempt_part_add(struct wio_attempt_part *part,
                                                    const struct wio_txn_row *row);

/* attempt_waits.c */
void wio_attempt_note_served(struct wio_attempt *attempt, const struct wio_txn_row *row);
WIO_MUST_CHECK enum wio_status wio_attempt_note_waits(struct wio_attempt *attempt, uint32_t server,
                                                      const struct wio_txn_row *row);

/* NULL is allowed. */
void wio_attempt_waits_free(struct wio_attempt_waits *waits);
/* The attempt is over: what it still waits for it waited for until then. */
void wio_attempt_end_waits(struct wio_attempt *attempt);

#endif
