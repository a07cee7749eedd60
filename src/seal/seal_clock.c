/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of a segment: where its time begins, and the rate of the counter. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "seal/seal_internal.h"

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

/* A ring without a header has the time of its file. */
static bool begins_before(const struct wio_seal_ring *ring, const struct wio_seal_ring *first)
{
    if (first == NULL || ring->is_blank != first->is_blank) {
        return first == NULL || first->is_blank;
    }
    return ring->header.start_unix_ns < first->header.start_unix_ns;
}

/* The segment's time begins with its first ring. */
static void find_base(struct wio_seal *seal)
{
    const struct wio_seal_ring *first = NULL;
    for (uint32_t i = 0; i < seal->ring_count; i++) {
        const struct wio_seal_ring *ring = &seal->rings[i];
        if (!ring->is_for_strings && !ring->is_skipped && begins_before(ring, first)) {
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

/* Each machine's counter has a rate of its own. */
static const char *machine_of(const struct wio_seal_ring *ring)
{
    return ring->header.boot_id[0] != '\0' ? ring->header.boot_id : ring->header.host;
}

static enum wio_status rate_of(struct wio_seal *seal, const struct wio_seal_ring *ring,
                               struct wio_seal_rate **rate_out)
{
    const char *machine = machine_of(ring);
    uint32_t id = 0;
    WIO_TRY(wio_strtab_add(&seal->machines, machine, strlen(machine), &id));
    void *array = seal->rates;
    WIO_TRY(wio_grow(&array, sizeof(*seal->rates), &seal->rate_capacity, id + 1));
    seal->rates = array;
    *rate_out = &seal->rates[id];
    return WIO_OK;
}

double wio_seal_ns_per_tick(const struct wio_seal *seal, const struct wio_seal_ring *ring)
{
    const char *machine = machine_of(ring);
    uint32_t id = wio_strtab_find(&seal->machines, machine, strlen(machine));
    return id < seal->rate_capacity ? seal->rates[id].ns_per_tick : 0;
}

/* This machine's counter at this moment; 0 where it is none. */
static struct wio_tick_pair counter_now(void)
{
    struct wio_tick_pair now = {0, 0};
#if defined(__x86_64__)
    if (wio_clock_has_tsc()) {
        now = (struct wio_tick_pair){wio_clock_tsc(), wio_clock_mono_ns()};
    }
#endif
    return now;
}

/* Does the ring's monotonic clock go with ours? Not in another time namespace. The wall clock,
 * which all share, may have been stepped: then the ring's own pairs have to do. */
static bool is_our_clock(const struct wio_ring_header *header, uint64_t mono_ns, uint64_t unix_ns)
{
    int64_t mono = (int64_t)(mono_ns - header->start_mono_ns);
    int64_t wall = (int64_t)(unix_ns - header->start_unix_ns);
    int64_t apart = mono > wall ? mono - wall : wall - mono;
    return mono > 0 && apart < mono / 1000 + 10000000;
}

/* The rate of each boot's counter: measured over the longest time that we know of, best from the
 * first ring's start until now. R-RING-2 */
static enum wio_status find_rates(struct wio_seal *seal)
{
    const struct wio_tick_pair now = counter_now();
    const uint64_t unix_ns = wio_clock_unix_ns();
    for (uint32_t i = 0; i < seal->ring_count; i++) {
        const struct wio_ring_header *header = &seal->rings[i].header;
        struct wio_tick_pair end = {header->end_ticks, header->end_mono_ns};
        struct wio_seal_rate *rate = NULL;
        if (header->clock != WIO_CLOCK_TSC) {
            continue;
        }
        if (now.ns != 0 && strcmp(header->boot_id, seal->boot_id) == 0 &&
            is_our_clock(header, now.ns, unix_ns)) {
            end = now;
        }
        WIO_TRY(rate_of(seal, &seal->rings[i], &rate));
        if (end.ns > header->start_mono_ns && end.ticks > header->start_ticks &&
            end.ns - header->start_mono_ns > rate->span_ns) {
            rate->span_ns = end.ns - header->start_mono_ns;
            rate->ns_per_tick = (double)rate->span_ns / (double)(end.ticks - header->start_ticks);
        }
    }
    return WIO_OK;
}

enum wio_status wio_seal_find_clock(struct wio_seal *seal, struct wio_error *err)
{
    find_base(seal);
    if (find_rates(seal) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for the clocks of the rings");
    }
    return WIO_OK;
}
