/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the exact analysis, shared by exact*.c. */
#ifndef WIO_EXPLAIN_ABORTS_EXACT_INTERNAL_H
#define WIO_EXPLAIN_ABORTS_EXACT_INTERNAL_H

#include "explain/aborts/exact.h"

static inline double wio_exact_seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* exact_chain.c */
/* The source of a transaction that blocks: of its rows, else of the request that took the lock. */
WIO_MUST_CHECK enum wio_status wio_exact_source(const struct wio_attempts *attempts,
                                                const struct wio_txn_name *txn, uint32_t origin,
                                                uint32_t *source_out);
/* The chain of waits behind a blocker, by the first blocker of each, until one waits for nothing or
 * the chain comes back to itself: its length from 1, and the source at its end. */
WIO_MUST_CHECK enum wio_status wio_exact_chain(const struct wio_attempts *attempts,
                                               const struct wio_txn_name *txn, uint32_t origin,
                                               uint32_t *length_out, uint32_t *root_out);
/* The row is a wait that closes a cycle, or the attempt is refused or wounded while it is in one.
 */
bool wio_exact_is_in_cycle(const struct wio_attempts *attempts, const struct wio_attempt *attempt,
                           const struct wio_txn_row *row);

/* exact_contention.c */
WIO_MUST_CHECK enum wio_status wio_exact_add_times(struct wio_exact *exact, uint32_t source,
                                                   uint32_t server, const struct wio_txn_row *row,
                                                   const struct wio_attempt_lane *lane);
/* The server was too busy for an attempt, which cost so much, and so much of its own time. */
WIO_MUST_CHECK enum wio_status wio_exact_add_busy(struct wio_exact *exact, uint32_t source,
                                                  uint32_t server, bool is_silent, double seconds,
                                                  double lane_s);

#endif
