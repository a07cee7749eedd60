/* SPDX-License-Identifier: Apache-2.0 */
/* R-RING-5: rings of processes that still run are left out, but what they hold so far is told. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "seal/seal_internal.h"

static void free_chunk(struct wio_ring_chunk **chunk)
{
    free(*chunk);
}

static uint64_t events_of(const union wio_slot *slot)
{
    switch (slot->any.kind) {
    case WIO_SLOT_EVENT:
    case WIO_SLOT_EVENT_EXT:
        return 1;
    case WIO_SLOT_EVENT_RUN: /* R-EVENT-5 */
        return slot->event.result >= 1 && slot->event.result <= WIO_RUN_MAX
                   ? (uint64_t)slot->event.result
                   : 0;
    default:
        return 0;
    }
}

/* What can be read of it: it is being written. */
static uint64_t count_events(struct wio_seal *seal, const struct wio_seal_ring *ring,
                             struct wio_ring_chunk *chunk)
{
    WIO_CLEANUP(wio_ring_close) struct wio_ring file = {.fd = -1};
    uint64_t count = 0;
    const struct wio_bound *bound = NULL;
    enum wio_status status = wio_seal_bound(seal, ring, &bound, NULL);
    status = status == WIO_OK ? wio_ring_open(&file, seal->dirs[ring->dir].fd, ring->name,
                                              ring->path, bound, NULL)
                              : status;
    for (uint32_t place = 0; status == WIO_OK && place < file.place_count;) {
        const union wio_slot *slot = NULL;
        status = wio_ring_chunk(&file, &place, chunk, NULL);
        while (status == WIO_OK && (slot = wio_chunk_next(chunk)) != NULL) {
            count += events_of(slot);
        }
    }
    return count;
}

void wio_seal_count_live(struct wio_seal *seal)
{
    WIO_CLEANUP(free_chunk) struct wio_ring_chunk *chunk = calloc(1, sizeof(*chunk));
    for (uint32_t i = 0; i < seal->ring_count && chunk != NULL; i++) {
        const struct wio_seal_ring *ring = &seal->rings[i];
        if (ring->is_skipped && !ring->is_for_strings) {
            seal->totals.live_rings += 1;
            seal->totals.live_events += count_events(seal, ring, chunk);
        }
    }
}
