/* SPDX-License-Identifier: Apache-2.0 */
/* The last rows of a target, in memory: a flight recorder. Rows that are put are copied, with their
 * blockers; the oldest go. Not thread safe. */
#ifndef WIO_STORE_TRACE_ROW_RING_H
#define WIO_STORE_TRACE_ROW_RING_H

#include "trace/txn/txn.h"

struct row_ring_entry {
    struct wio_txn_row row;
    uint64_t first; /* of its blockers, in the order in which all were put */
};

struct row_ring {
    struct row_ring_entry *entries; /* NULL: there is no ring */
    struct wio_txn_blocker *blockers;
    uint32_t room;          /* of both */
    uint64_t count;         /* rows that were put */
    uint64_t blocker_count; /* places of blockers that were used, or left out */
};

/* `rows` at least WIO_TXN_BLOCKERS. WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status row_ring_init(struct row_ring *ring, uint32_t rows);
void row_ring_fini(struct row_ring *ring);
void row_ring_put(struct row_ring *ring, const struct wio_txn_row *row);
/* Rows row_ring_first(ring) to ring->count - 1 are there. */
uint64_t row_ring_first(const struct row_ring *ring);
/* A copy, with copies of its blockers in `blockers_out`. Where others have taken the place of these
 * it has none listed; their true number stays. */
struct wio_txn_row row_ring_get(const struct row_ring *ring, uint64_t index,
                                struct wio_txn_blocker blockers_out[WIO_TXN_BLOCKERS]);

#endif
