/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/whatif/whatif_costs.h"

#include <stdlib.h>

#define ABORT_NS UINT64_C(50000) /* where a trace tells of no message there and back */
#define ENOUGH 10u               /* requests that tell what a class costs */
/* Quantiles: of pauses that are hardly more than taking the next request up, of times without
 * others. */
#define SHORT_PAUSE 0.25
#define SHORT_TIME 0.1
#define USUAL_TIME 0.25
/* Pauses of up to so many times the short ones are none. */
#define PAUSE_TIMES 2

/* Requests of a class. */
struct seen {
    struct wio_histogram behind; /* pauses of the server behind an answer to another client */
    struct wio_histogram all;    /* times since the client's answer before .. */
    struct wio_histogram alone;  /* .. of those that met no other client's at the server */
    double none_ns;              /* a shorter pause of the server is none */
};

static bool has_time(const struct wio_replay_request *request)
{
    return !request->is_beside && request->after_ns > 0; /* not the first of its transaction */
}

static void see(struct seen *seen, const struct wio_replay_request *request)
{
    struct seen *of = &seen[wio_replay_class(request->moved)];
    if (request->is_behind && request->pause_ns != UINT32_MAX) {
        wio_histogram_add(&of->behind, request->pause_ns);
    }
    if (has_time(request)) {
        wio_histogram_add(&of->all, request->after_ns);
    }
    if (has_time(request) && request->is_alone) {
        wio_histogram_add(&of->alone, request->after_ns);
    }
}

/* The mean of the pauses that are none. */
static double receive_of(const struct seen *seen)
{
    uint64_t count = 0;
    uint64_t sum = 0;
    unsigned last = wio_histogram_bucket_of((uint64_t)seen->none_ns);
    for (unsigned i = 0; i <= last; i++) {
        count += seen->behind.buckets[i].count;
        sum += seen->behind.buckets[i].sum;
    }
    return count > 0 ? (double)sum / (double)count : 0;
}

/* Which requests may have lain there: requests are in the order of their answers. */
static void find_queued(const struct wio_replays *replays, const struct seen *seen,
                        uint32_t *queued_ns)
{
    uint64_t busy_ns[WIO_REPLAY_SERVERS] = {0};
    for (uint32_t i = 0; i < replays->request_count; i++) {
        const struct wio_replay_request *request = &replays->requests[i];
        const struct seen *of = &seen[wio_replay_class(request->moved)];
        uint64_t *since_ns = &busy_ns[request->server];
        bool has_paused = (double)request->pause_ns > of->none_ns || *since_ns == 0;
        bool has_lain = !has_paused && request->is_behind && request->came_ns > *since_ns;
        uint64_t lay_ns = has_lain ? request->came_ns - *since_ns : 0;
        *since_ns = has_paused && request->came_ns > *since_ns ? request->came_ns : *since_ns;
        queued_ns[i] = lay_ns < UINT32_MAX ? (uint32_t)lay_ns : UINT32_MAX;
    }
}

static struct wio_whatif_cost cost_of(const struct seen *seen)
{
    double least_ns = wio_histogram_quantile(&seen->all, SHORT_TIME);
    double receive_ns = seen->behind.count >= ENOUGH ? receive_of(seen) : 0;
    double after_ns =
        seen->alone.count >= ENOUGH ? wio_histogram_quantile(&seen->alone, USUAL_TIME) : least_ns;
    receive_ns = receive_ns < after_ns ? receive_ns : after_ns;
    return (struct wio_whatif_cost){(uint64_t)receive_ns,
                                    (uint64_t)(after_ns > receive_ns ? after_ns - receive_ns : 0)};
}

static double bytes_of(unsigned index)
{
    return index == 0 ? 0 : (double)(UINT64_C(192) << index); /* the middle of the class */
}

static uint64_t between(double x, double x0, uint64_t y0, double x1, uint64_t y1)
{
    return (uint64_t)((double)y0 + ((double)y1 - (double)y0) * (x - x0) / (x1 - x0));
}

/* Classes without requests: on a line between their neighbours; outside of all as the next one, by
 * their bytes where they are larger. */
static void fill_gaps(struct wio_whatif_cost *of, const bool *is_known)
{
    for (unsigned i = 0; i < WIO_REPLAY_CLASSES; i++) {
        unsigned below = i;
        unsigned above = i;
        while (below > 0 && !is_known[below]) {
            below--;
        }
        while (above + 1 < WIO_REPLAY_CLASSES && !is_known[above]) {
            above++;
        }
        if (is_known[i] || (!is_known[below] && !is_known[above])) {
            continue;
        }
        if (!is_known[below]) {
            of[i] = of[above];
        } else if (!is_known[above]) {
            double times = bytes_of(i) / (bytes_of(below) > 0 ? bytes_of(below) : bytes_of(i));
            of[i].receive_ns = (uint64_t)((double)of[below].receive_ns * times);
            of[i].client_ns = (uint64_t)((double)of[below].client_ns * times);
        } else {
            double x = bytes_of(i);
            double x0 = bytes_of(below);
            double x1 = bytes_of(above);
            of[i].receive_ns = between(x, x0, of[below].receive_ns, x1, of[above].receive_ns);
            of[i].client_ns = between(x, x0, of[below].client_ns, x1, of[above].client_ns);
        }
    }
}

static void sum_up(const struct wio_replays *replays, struct wio_whatif_costs *costs)
{
    const struct wio_histogram *late = &replays->late_ns;
    const struct wio_histogram *early = &replays->early_ns;
    uint64_t small_ns = costs->of[0].receive_ns + costs->of[0].client_ns;
    uint64_t back_ns = small_ns > 0 ? small_ns : ABORT_NS;
    costs->abort_ns = replays->abort_ns.count > 0
                          ? (uint64_t)wio_histogram_quantile(&replays->abort_ns, 0.5)
                          : back_ns;
    costs->again_ns = replays->again_ns.count > 0
                          ? (uint64_t)wio_histogram_quantile(&replays->again_ns, 0.5)
                          : back_ns;
    costs->late_ns = late->count >= early->count ? (int64_t)wio_histogram_quantile(late, 0.5)
                                                 : -(int64_t)wio_histogram_quantile(early, 0.5);
}

static void fit(const struct wio_replays *replays, struct seen *seen,
                struct wio_whatif_costs *costs)
{
    bool is_known[WIO_REPLAY_CLASSES];
    for (uint32_t i = 0; i < replays->request_count; i++) {
        see(seen, &replays->requests[i]);
    }
    for (unsigned i = 0; i < WIO_REPLAY_CLASSES; i++) {
        bool is_enough = seen[i].behind.count >= ENOUGH && seen[i].all.count >= ENOUGH;
        double short_ns = is_enough ? wio_histogram_quantile(&seen[i].behind, SHORT_PAUSE) : 0;
        seen[i].none_ns = PAUSE_TIMES * short_ns;
    }
    find_queued(replays, seen, costs->queued_ns);
    for (unsigned i = 0; i < WIO_REPLAY_CLASSES; i++) {
        is_known[i] = seen[i].all.count >= ENOUGH;
        costs->of[i] = is_known[i] ? cost_of(&seen[i]) : (struct wio_whatif_cost){0, 0};
    }
    fill_gaps(costs->of, is_known);
}

enum wio_status wio_whatif_costs(const struct wio_replays *replays,
                                 struct wio_whatif_costs *costs_out)
{
    struct seen *seen = calloc(WIO_REPLAY_CLASSES, sizeof(*seen));
    *costs_out = (struct wio_whatif_costs){
        .queued_ns = calloc((size_t)replays->request_count + 1, sizeof(uint32_t))};
    if (seen == NULL || costs_out->queued_ns == NULL) {
        free(seen);
        return WIO_ERR_NOMEM;
    }
    fit(replays, seen, costs_out);
    sum_up(replays, costs_out);
    free(seen);
    return WIO_OK;
}

void wio_whatif_costs_fini(struct wio_whatif_costs *costs)
{
    free(costs->queued_ns);
}

struct wio_whatif_cost wio_whatif_cost_of(const struct wio_whatif_costs *costs,
                                          const struct wio_replays *replays, uint32_t request,
                                          uint64_t after_ns)
{
    struct wio_whatif_cost cost = costs->of[wio_replay_class(replays->requests[request].moved)];
    uint64_t usual_ns = cost.client_ns;
    cost.receive_ns = cost.receive_ns < after_ns ? cost.receive_ns : after_ns;
    cost.client_ns = after_ns - cost.receive_ns;
    if (cost.client_ns > usual_ns) {
        uint64_t more_ns = cost.client_ns - usual_ns;
        uint64_t queued_ns = costs->queued_ns[request];
        cost.client_ns -= more_ns < queued_ns ? more_ns : queued_ns;
    }
    return cost;
}
