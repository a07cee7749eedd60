/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/clock/clock.h"

#include <math.h>

#include "base/cleanup.h"
#include "base/pair_map.h"
#include "causal/clock/clock_hull.h"

/* Clocks of computers run right to about 1 in 10,000; one that is slewed to 1 in 2,000. */
#define RATE_MAX 1e-3
#define SEARCH_STEPS 200
#define RELAX_ROUNDS 1000
/* Rates are stored in this unit (FORMAT.md R-EDGE-6). */
#define RATE_UNIT 0x1p-40
/* Room for rounding of both ends. */
#define MARGIN_NS 3.0

/* Hosts a < b. With t on b's clock, t + offset + rate t is the same moment on a's. */
struct pair {
    uint32_t a;
    uint32_t b;
    struct wio_hull lower; /* of offset + rate t: messages a -> b */
    struct wio_hull upper; /* messages b -> a */
    double offset;
    double rate;
    double uncertainty;
};

struct wio_clock_sync {
    struct wio_alloc alloc;
    struct wio_pair_map pair_of;
    struct pair *pairs;
    size_t pair_room;
    uint32_t pair_count;
    uint32_t hosts;
};

enum wio_status wio_clock_sync_create(const struct wio_alloc *alloc, uint32_t hosts,
                                      struct wio_clock_sync **sync_out)
{
    struct wio_clock_sync *sync = alloc->get(alloc->context, sizeof(*sync));
    if (sync == NULL) {
        return WIO_ERR_NOMEM;
    }
    sync->alloc = *alloc;
    sync->hosts = hosts;
    wio_pair_map_init(&sync->pair_of, alloc);
    *sync_out = sync;
    return WIO_OK;
}

void wio_clock_sync_destroy(struct wio_clock_sync *sync)
{
    if (sync == NULL) {
        return;
    }
    struct wio_alloc alloc = sync->alloc;
    for (uint32_t i = 0; i < sync->pair_count; i++) {
        alloc.put(alloc.context, sync->pairs[i].lower.points);
        alloc.put(alloc.context, sync->pairs[i].upper.points);
    }
    wio_pair_map_fini(&sync->pair_of);
    alloc.put(alloc.context, sync->pairs);
    alloc.put(alloc.context, sync);
}

static enum wio_status find_pair(struct wio_clock_sync *sync, uint32_t a, uint32_t b,
                                 struct pair **pair_out)
{
    uint32_t number = wio_pair_map_get(&sync->pair_of, a, b);
    if (number == WIO_NO_INDEX) {
        WIO_TRY(wio_alloc_room(&sync->alloc, (void **)&sync->pairs, &sync->pair_room,
                               (size_t)sync->pair_count + 1, sizeof(*sync->pairs)));
        number = sync->pair_count++;
        sync->pairs[number] =
            (struct pair){.a = a, .b = b, .lower = {.sign = 1}, .upper = {.sign = -1}};
        WIO_TRY(wio_pair_map_put(&sync->pair_of, a, b, number));
    }
    *pair_out = &sync->pairs[number];
    return WIO_OK;
}

enum wio_status wio_clock_sync_add(struct wio_clock_sync *sync,
                                   const struct wio_clock_message *message)
{
    struct pair *pair;
    bool is_forward = message->from < message->to;
    double sent = (double)message->sent_ns;
    double received = (double)message->received_ns;
    if (message->from == message->to || message->from >= sync->hosts ||
        message->to >= sync->hosts) {
        return WIO_OK;
    }
    WIO_TRY(find_pair(sync, is_forward ? message->from : message->to,
                      is_forward ? message->to : message->from, &pair));
    if (is_forward) {
        return wio_hull_add(&pair->lower, &sync->alloc,
                            (struct wio_hull_point){received, sent - received});
    }
    return wio_hull_add(&pair->upper, &sync->alloc, (struct wio_hull_point){sent, received - sent});
}

/* How wide the gap between the hulls is for lines of this slope; negative: they overlap. */
static double gap_of(const struct pair *pair, double slope)
{
    return wio_hull_touch(&pair->upper, slope) - wio_hull_touch(&pair->lower, slope);
}

/* The gap is a concave function of the slope: close in on its largest value. */
static double widest_slope(const struct pair *pair)
{
    double low = -RATE_MAX;
    double high = RATE_MAX;
    for (unsigned i = 0; i < SEARCH_STEPS; i++) {
        double left = low + (high - low) / 3;
        double right = high - (high - low) / 3;
        if (gap_of(pair, left) < gap_of(pair, right)) {
            low = left;
        } else {
            high = right;
        }
    }
    return (low + high) / 2;
}

static void fit_both(struct pair *pair)
{
    double slope = widest_slope(pair);
    if (gap_of(pair, 0) >= gap_of(pair, slope) / 2 && gap_of(pair, 0) >= 0) {
        slope = 0; /* no drift fits as well */
    }
    double gap = gap_of(pair, slope);
    pair->rate = slope;
    pair->offset = wio_hull_touch(&pair->lower, slope) + gap / 2;
    pair->uncertainty = fabs(gap) / 2;
}

/* Messages one way only: as little as they ask for. */
static void fit_one(struct pair *pair)
{
    bool has_lower = pair->lower.count > 0;
    double bound = wio_hull_touch(has_lower ? &pair->lower : &pair->upper, 0);
    pair->rate = 0;
    pair->offset = has_lower ? fmax(0, bound + MARGIN_NS) : fmin(0, bound - MARGIN_NS);
    pair->uncertainty = INFINITY;
}

static void fit(struct pair *pair)
{
    if (pair->lower.count > 0 && pair->upper.count > 0) {
        fit_both(pair);
    } else {
        fit_one(pair);
    }
}

/* What `host` at the other end of the pair gets from `known`. */
static struct wio_clock_correction follow(const struct pair *pair, uint32_t host,
                                          const struct wio_clock_correction *known)
{
    /* t of `host` -> t (1 + rate) + offset of the known host */
    bool is_b = pair->b == host;
    double rate = is_b ? pair->rate : 1 / (1 + pair->rate) - 1;
    double offset = is_b ? pair->offset : -pair->offset / (1 + pair->rate);
    return (struct wio_clock_correction){
        .offset_ns = (1 + known->rate) * offset + known->offset_ns,
        .rate = (1 + known->rate) * (1 + rate) - 1,
        .uncertainty_ns = known->uncertainty_ns + pair->uncertainty,
        .is_known = known->is_known && isfinite(pair->uncertainty),
        .is_consistent = true,
    };
}

/* Prim's tree from `root`, by the smallest uncertainty against it. */
static void grow_tree(const struct wio_clock_sync *sync, bool *is_in,
                      struct wio_clock_correction *corrections)
{
    for (;;) {
        const struct pair *best = NULL;
        double least = INFINITY;
        for (uint32_t i = 0; i < sync->pair_count; i++) {
            const struct pair *pair = &sync->pairs[i];
            if (is_in[pair->a] == is_in[pair->b]) {
                continue;
            }
            uint32_t inside = is_in[pair->a] ? pair->a : pair->b;
            double sum = corrections[inside].uncertainty_ns + pair->uncertainty;
            if (best == NULL || sum < least) {
                best = pair;
                least = sum;
            }
        }
        if (best == NULL) {
            return;
        }
        uint32_t inside = is_in[best->a] ? best->a : best->b;
        uint32_t host = is_in[best->a] ? best->b : best->a;
        corrections[host] = follow(best, host, &corrections[inside]);
        is_in[host] = true;
    }
}

/* By how much the corrected messages from one host to another arrive too early; <= 0: none does. */
static double violation(const struct wio_hull *hull, const struct wio_clock_correction *a,
                        const struct wio_clock_correction *b)
{
    double worst = -INFINITY;
    for (size_t i = 0; i < hull->count; i++) {
        /* t on b's clock; t + y on a's: sent there (sign 1), or received (sign -1) */
        double t = hull->points[i].t;
        double other = t + hull->points[i].y;
        double on_b = t + b->offset_ns + t * b->rate;
        double on_a = other + a->offset_ns + other * a->rate;
        worst = fmax(worst, (on_a - on_b) * hull->sign);
    }
    return worst + MARGIN_NS;
}

/* Both ends give way until all messages fit; true if they do. Only offsets move. */
static bool relax(const struct wio_clock_sync *sync, struct wio_clock_correction *corrections)
{
    for (unsigned round = 0; round < RELAX_ROUNDS; round++) {
        bool is_done = true;
        for (uint32_t i = 0; i < sync->pair_count; i++) {
            const struct pair *pair = &sync->pairs[i];
            struct wio_clock_correction *a = &corrections[pair->a];
            struct wio_clock_correction *b = &corrections[pair->b];
            double early = violation(&pair->lower, a, b);
            double late = violation(&pair->upper, a, b);
            if (early <= 0 && late <= 0) {
                continue;
            }
            double shift = early > late ? early : -late;
            a->offset_ns -= shift / 2;
            b->offset_ns += shift / 2;
            is_done = early > 0 && late > 0 ? is_done : false;
        }
        if (is_done) {
            return true;
        }
    }
    return false;
}

static void judge(const struct wio_clock_sync *sync, struct wio_clock_correction *corrections)
{
    for (uint32_t i = 0; i < sync->pair_count; i++) {
        const struct pair *pair = &sync->pairs[i];
        struct wio_clock_correction *a = &corrections[pair->a];
        struct wio_clock_correction *b = &corrections[pair->b];
        if (violation(&pair->lower, a, b) > MARGIN_NS ||
            violation(&pair->upper, a, b) > MARGIN_NS) {
            a->is_consistent = false;
            b->is_consistent = false;
        }
    }
}

enum wio_status wio_clock_sync_solve(struct wio_clock_sync *sync,
                                     struct wio_clock_correction *corrections)
{
    bool *is_in = wio_alloc_array(&sync->alloc, sync->hosts, sizeof(*is_in));
    if (is_in == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < sync->pair_count; i++) {
        fit(&sync->pairs[i]);
    }
    for (uint32_t root = 0; root < sync->hosts; root++) { /* hosts without messages: as they are */
        if (!is_in[root]) {
            corrections[root] =
                (struct wio_clock_correction){.is_known = root == 0, .is_consistent = true};
            is_in[root] = true;
            grow_tree(sync, is_in, corrections);
        }
    }
    sync->alloc.put(sync->alloc.context, is_in);
    for (uint32_t host = 0; host < sync->hosts; host++) {
        corrections[host].rate = nearbyint(corrections[host].rate / RATE_UNIT) * RATE_UNIT;
    }
    (void)relax(sync, corrections);
    double zero = sync->hosts > 0 ? corrections[0].offset_ns : 0;
    for (uint32_t host = 0; host < sync->hosts; host++) {
        corrections[host].offset_ns = nearbyint(corrections[host].offset_ns - zero);
    }
    judge(sync, corrections);
    return WIO_OK;
}
