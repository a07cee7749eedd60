/* SPDX-License-Identifier: Apache-2.0 */
#include "seal/ticks.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"

/* Two pairs nearer than this say nothing about the rate: reading one may take microseconds. */
#define MIN_STEP_NS 50000000u
/* Rates of neighbouring pairs differ by less than this (NTP slews by 500 ppm at most); what
 * differs more was interrupted between its two clocks. */
#define MAX_DEVIATION 0.001

void wio_ticks_fini(struct wio_ticks *ticks)
{
    free(ticks->pairs);
    *ticks = (struct wio_ticks){0};
}

enum wio_status wio_ticks_add(struct wio_ticks *ticks, uint64_t at, uint64_t ns)
{
    void *pairs = ticks->pairs;
    WIO_TRY(wio_make_room(&pairs, sizeof(*ticks->pairs), &ticks->capacity, ticks->count + 1));
    ticks->pairs = pairs;
    ticks->pairs[ticks->count++] = (struct wio_tick_pair){at, ns};
    return WIO_OK;
}

static int compare_pairs(const void *a, const void *b)
{
    const struct wio_tick_pair *left = a;
    const struct wio_tick_pair *right = b;
    return (left->ticks > right->ticks) - (left->ticks < right->ticks);
}

static double slope_between(const struct wio_tick_pair *a, const struct wio_tick_pair *b)
{
    if (b->ticks <= a->ticks || b->ns <= a->ns) {
        return 0;
    }
    return (double)(b->ns - a->ns) / (double)(b->ticks - a->ticks);
}

double wio_ticks_slope(const struct wio_ticks *ticks, uint64_t *span_ns_out)
{
    *span_ns_out = 0;
    const struct wio_tick_pair *first = NULL;
    const struct wio_tick_pair *last = NULL;
    for (size_t i = 0; i < ticks->count; i++) {
        const struct wio_tick_pair *pair = &ticks->pairs[i];
        first = first == NULL || pair->ticks < first->ticks ? pair : first;
        last = last == NULL || pair->ticks > last->ticks ? pair : last;
    }
    double slope = first == NULL ? 0 : slope_between(first, last);
    *span_ns_out = slope > 0 ? last->ns - first->ns : 0;
    return slope;
}

static int is_plausible(double slope, double whole)
{
    return slope > whole * (1 - MAX_DEVIATION) && slope < whole * (1 + MAX_DEVIATION);
}

/* Keep the first pair, and each that is far enough from the last kept and fits the whole. */
static void thin_out(struct wio_ticks *ticks)
{
    uint32_t kept = 1;
    for (uint32_t i = 1; i < ticks->count; i++) {
        const struct wio_tick_pair *last = &ticks->pairs[kept - 1];
        const struct wio_tick_pair *pair = &ticks->pairs[i];
        if (pair->ns > last->ns && pair->ns - last->ns >= MIN_STEP_NS &&
            is_plausible(slope_between(last, pair), ticks->ns_per_tick)) {
            ticks->pairs[kept++] = *pair;
        }
    }
    ticks->count = kept;
}

void wio_ticks_ready(struct wio_ticks *ticks, double ns_per_tick)
{
    uint64_t span_ns = 0;
    if (ticks->is_ns || ticks->count == 0) {
        ticks->is_ns = 1;
        return;
    }
    qsort(ticks->pairs, ticks->count, sizeof(*ticks->pairs), compare_pairs);
    double own = wio_ticks_slope(ticks, &span_ns);
    ticks->ns_per_tick = own;
    if (ns_per_tick > 0 &&
        (span_ns < 20 * (uint64_t)MIN_STEP_NS || !is_plausible(own, ns_per_tick))) {
        ticks->ns_per_tick = ns_per_tick;
    }
    if (ticks->ns_per_tick <= 0) {
        ticks->ns_per_tick = 1;
    }
    thin_out(ticks);
}

/* Index of the pair to start from: the last one not behind `at`. */
static size_t find_pair(struct wio_ticks *ticks, uint64_t at)
{
    size_t i = ticks->last < ticks->count ? ticks->last : 0;
    if (ticks->pairs[i].ticks > at) {
        i = 0;
    }
    while (i + 1 < ticks->count && ticks->pairs[i + 1].ticks <= at) {
        i++;
    }
    ticks->last = i;
    return i;
}

uint64_t wio_ticks_to_ns(struct wio_ticks *ticks, uint64_t at)
{
    if (ticks->is_ns) {
        return at;
    }
    size_t i = find_pair(ticks, at);
    const struct wio_tick_pair *pair = &ticks->pairs[i];
    double slope =
        i + 1 < ticks->count ? slope_between(pair, &ticks->pairs[i + 1]) : ticks->ns_per_tick;
    if (at >= pair->ticks) {
        double more = (double)(at - pair->ticks) * slope;
        return more < 9e18 ? pair->ns + (uint64_t)more : pair->ns;
    }
    double less = (double)(pair->ticks - at) * ticks->ns_per_tick;
    return less < (double)pair->ns ? pair->ns - (uint64_t)less : 0;
}

uint64_t wio_ticks_length(const struct wio_ticks *ticks, uint64_t length)
{
    double ns = (double)length * ticks->ns_per_tick;
    if (ticks->is_ns) {
        return length;
    }
    return ns < 9e18 ? (uint64_t)ns : 0; /* no clock has such a rate: the ring is damaged */
}
