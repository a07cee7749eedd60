/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/whatif/whatif_events.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"

static bool is_before(const struct wio_whatif_event *a, const struct wio_whatif_event *b)
{
    return a->ns != b->ns ? a->ns < b->ns : a->order < b->order;
}

enum wio_status wio_whatif_schedule(struct wio_whatif_events *events, struct wio_whatif_event event)
{
    void *array = events->heap;
    uint32_t at = events->count;
    WIO_TRY(wio_grow(&array, sizeof(*events->heap), &events->capacity, at + 1));
    events->heap = array;
    events->count++;
    event.order = events->order++;
    while (at > 0 && is_before(&event, &events->heap[(at - 1) / 2])) {
        events->heap[at] = events->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    events->heap[at] = event;
    return WIO_OK;
}

struct wio_whatif_event wio_whatif_take_first(struct wio_whatif_events *events)
{
    struct wio_whatif_event first = events->heap[0];
    struct wio_whatif_event last = events->heap[--events->count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < events->count &&
            is_before(&events->heap[child + 1], &events->heap[child])) {
            child++;
        }
        if (child >= events->count || !is_before(&events->heap[child], &last)) {
            break;
        }
        events->heap[at] = events->heap[child];
        at = child;
    }
    events->heap[at] = last;
    return first;
}

void wio_whatif_events_fini(struct wio_whatif_events *events)
{
    free(events->heap);
}
