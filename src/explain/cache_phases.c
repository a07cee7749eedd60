/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/cache_phases.h"

#include <math.h>

/* `from` comes behind `to`, whose state stays. */
static void join(struct wio_cache_phase *to, const struct wio_cache_phase *from)
{
    to->begin_s = fmin(to->begin_s, from->begin_s);
    to->end_s = fmax(to->end_s, from->end_s);
    to->writes += from->writes;
    to->io_s += from->io_s;
    to->dirty_bytes = fmax(to->dirty_bytes, from->dirty_bytes);
}

static void remove_at(struct wio_cache_phases *phases, uint32_t at)
{
    phases->count--;
    for (uint32_t i = at; i < phases->count; i++) {
        phases->items[i] = phases->items[i + 1];
    }
}

/* Into the one before it, the first into the one behind; neighbours of one state become one. */
static void take_in(struct wio_cache_phases *phases, uint32_t at)
{
    uint32_t to = at > 0 ? at - 1 : 0;
    enum wio_model_state state = phases->items[at > 0 ? to : 1].state;

    join(&phases->items[to], &phases->items[to + 1]);
    phases->items[to].state = state;
    remove_at(phases, to + 1);
    if (to + 1 < phases->count && phases->items[to + 1].state == state) {
        join(&phases->items[to], &phases->items[to + 1]);
        remove_at(phases, to + 1);
    }
}

static uint32_t shortest(const struct wio_cache_phases *phases)
{
    uint32_t least = 0;

    for (uint32_t i = 1; i < phases->count; i++) {
        const struct wio_cache_phase *phase = &phases->items[i];
        const struct wio_cache_phase *best = &phases->items[least];
        least = phase->end_s - phase->begin_s < best->end_s - best->begin_s ? i : least;
    }
    return least;
}

void wio_cache_phases_add(struct wio_cache_phases *phases, const struct wio_model_result *result)
{
    const struct wio_cache_phase one = {.state = result->state,
                                        .begin_s = result->time_s - result->cost_s,
                                        .end_s = result->time_s,
                                        .writes = 1,
                                        .io_s = result->cost_s,
                                        .dirty_bytes = result->dirty_bytes};

    if (result->state == WIO_MODEL_STATE_NONE) {
        return;
    }
    if (phases->count > 0 && phases->items[phases->count - 1].state == one.state) {
        join(&phases->items[phases->count - 1], &one);
        return;
    }
    if (phases->count == WIO_CACHE_PHASES) {
        take_in(phases, shortest(phases));
        wio_cache_phases_add(phases, result);
        return;
    }
    phases->items[phases->count++] = one;
}

void wio_cache_phases_smooth(struct wio_cache_phases *phases, double least_s)
{
    while (phases->count > 1) {
        uint32_t at = shortest(phases);
        if (phases->items[at].end_s - phases->items[at].begin_s >= least_s) {
            return;
        }
        take_in(phases, at);
    }
}
