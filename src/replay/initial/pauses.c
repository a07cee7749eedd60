/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/initial/pauses.h"

#include <stdlib.h>

#include "base/cleanup.h"

static uint64_t length(const struct rp_pause *pause)
{
    return pause->end_ns - pause->start_ns;
}

static void keep(struct rp_pauses *pauses, struct rp_pause pause)
{
    if (pauses->count < WIO_ARRAY_SIZE(pauses->items)) {
        pauses->items[pauses->count++] = pause;
        return;
    }
    struct rp_pause *shortest = &pauses->items[0];
    for (uint32_t i = 1; i < pauses->count; i++) {
        if (length(&pauses->items[i]) < length(shortest)) {
            shortest = &pauses->items[i];
        }
    }
    if (length(&pause) > length(shortest)) {
        *shortest = pause;
    }
}

void rp_pauses_add(struct rp_pauses *pauses, const struct wio_event *event)
{
    uint64_t end = event->t_ns;
    if (event->result != WIO_RESULT_PENDING && event->dur_ns <= UINT64_MAX - end) {
        end += event->dur_ns;
    }
    if (pauses->last_ns == 0) {
        pauses->first_ns = event->t_ns;
    } else if (event->t_ns > pauses->last_ns && event->t_ns - pauses->last_ns >= RP_PAUSE_MIN_NS) {
        keep(pauses, (struct rp_pause){pauses->last_ns, event->t_ns});
    }
    if (end > pauses->last_ns) {
        pauses->last_ns = end;
    }
}

static int by_time(const void *a, const void *b)
{
    const struct rp_pause *x = a;
    const struct rp_pause *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

void rp_pauses_finish(struct rp_pauses *pauses)
{
    uint64_t least = (pauses->last_ns - pauses->first_ns) / 50;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < pauses->count; i++) {
        if (length(&pauses->items[i]) >= least) {
            pauses->items[kept++] = pauses->items[i];
        }
    }
    pauses->count = kept;
    qsort(pauses->items, kept, sizeof(pauses->items[0]), by_time);
}
