/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of a segment: where its time begins, and the rate of the counter. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "trace/seal_internal.h"

uint64_t wio_seal_time(const struct wio_seal *seal, const struct wio_seal_ring *ring,
                       uint64_t mono_ns)
{
    bool is_same_boot = strcmp(ring->header.boot_id, seal->base_boot_id) == 0;
    /* Of another boot: its wall clock says where it starts. */
    uint64_t since = is_same_boot ? mono_ns - seal->base_mono_ns
                                  : ring->header.start_unix_ns - seal->base_unix_ns + mono_ns -
                                        ring->header.start_mono_ns;
    return since <= INT64_MAX ? since : 0; /* before the base */
}

/* The segment's time begins with its first ring. */
static void find_base(struct wio_seal *seal)
{
    const struct wio_seal_ring *first = NULL;
    for (uint32_t i = 0; i < seal->ring_count; i++) {
        const struct wio_seal_ring *ring = &seal->rings[i];
        if (!ring->is_for_strings && !ring->is_skipped &&
            (first == NULL || ring->header.start_unix_ns < first->header.start_unix_ns)) {
            first = ring;
        }
    }
    if (first == NULL) {
        seal->base_unix_ns = wio_clock_unix_ns();
        seal->base_mono_ns = wio_clock_mono_ns();
        (void)snprintf(seal->base_boot_id, sizeof(seal->base_boot_id), "%s", seal->boot_id);
        return;
    }
    seal->base_unix_ns = first->header.start_unix_ns;
    seal->base_mono_ns = first->header.start_mono_ns;
    (void)snprintf(seal->base_boot_id, sizeof(seal->base_boot_id), "%s", first->header.boot_id);
}

/* The rate of this boot's counter: measured over the longest time that we know of, best from the
 * first ring's start until now. R-RING-2 */
static void find_rate(struct wio_seal *seal)
{
    uint64_t longest = 0;
    for (uint32_t i = 0; i < seal->ring_count; i++) {
        const struct wio_ring_header *header = &seal->rings[i].header;
        uint64_t end_ticks = header->end_ticks;
        uint64_t end_ns = header->end_mono_ns;
        if (header->clock != WIO_CLOCK_TSC) {
            continue;
        }
#if defined(__x86_64__)
        if (strcmp(header->boot_id, seal->boot_id) == 0 && wio_clock_has_tsc()) {
            end_ticks = wio_clock_tsc();
            end_ns = wio_clock_mono_ns();
        }
#endif
        if (end_ns > header->start_mono_ns && end_ticks > header->start_ticks &&
            end_ns - header->start_mono_ns > longest) {
            longest = end_ns - header->start_mono_ns;
            seal->ns_per_tick = (double)longest / (double)(end_ticks - header->start_ticks);
        }
    }
}

void wio_seal_find_clock(struct wio_seal *seal)
{
    find_base(seal);
    find_rate(seal);
}
