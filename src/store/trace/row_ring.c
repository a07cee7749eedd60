/* SPDX-License-Identifier: Apache-2.0 */
#include "store/trace/row_ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

enum wio_status row_ring_init(struct row_ring *ring, uint32_t rows)
{
    *ring = (struct row_ring){.room = rows};
    WIO_PRE(rows >= WIO_TXN_BLOCKERS);
    ring->entries = calloc(rows, sizeof(*ring->entries));
    ring->blockers = calloc(rows, sizeof(*ring->blockers));
    if (ring->entries == NULL || ring->blockers == NULL) {
        row_ring_fini(ring);
        return WIO_ERR_NOMEM;
    }
    return WIO_OK;
}

void row_ring_fini(struct row_ring *ring)
{
    free(ring->entries);
    free(ring->blockers);
    *ring = (struct row_ring){0};
}

/* Blockers of one row are side by side. */
static void put_blockers(struct row_ring *ring, const struct wio_txn_row *row)
{
    uint64_t at = ring->blocker_count % ring->room;
    if (at + row->blocker_listed > ring->room) {
        ring->blocker_count += ring->room - at;
        at = 0;
    }
    memcpy(ring->blockers + at, row->blockers, row->blocker_listed * sizeof(*row->blockers));
}

void row_ring_put(struct row_ring *ring, const struct wio_txn_row *row)
{
    struct row_ring_entry *entry = &ring->entries[ring->count++ % ring->room];
    if (row->blocker_listed > 0) {
        put_blockers(ring, row);
    }
    entry->row = *row;
    entry->first = ring->blocker_count;
    ring->blocker_count += row->blocker_listed;
}

uint64_t row_ring_first(const struct row_ring *ring)
{
    return ring->count > ring->room ? ring->count - ring->room : 0;
}

struct wio_txn_row row_ring_get(const struct row_ring *ring, uint64_t index,
                                struct wio_txn_blocker blockers_out[WIO_TXN_BLOCKERS])
{
    const struct row_ring_entry *entry = &ring->entries[index % ring->room];
    struct wio_txn_row row = entry->row;
    if (entry->first + ring->room < ring->blocker_count) {
        row.blocker_listed = 0;
    }
    memcpy(blockers_out, ring->blockers + entry->first % ring->room,
           row.blocker_listed * sizeof(*blockers_out));
    row.blockers = blockers_out;
    return row;
}
