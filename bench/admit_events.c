/* SPDX-License-Identifier: Apache-2.0 */
#include "admit_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 1024

void sim_room(void **array, size_t *room, size_t need, size_t size)
{
    if (need <= *room) {
        return;
    }
    size_t more = *room > 0 ? *room : ROOM_FIRST;
    while (more < need) {
        more *= 2;
    }
    char *grown = reallocarray(*array, more, size);
    if (grown == NULL) {
        fprintf(stderr, "admit: no memory for %zu x %zu bytes\n", more, size);
        exit(4);
    }
    memset(grown + *room * size, 0, (more - *room) * size);
    *array = grown;
    *room = more;
}

static bool is_before(const struct sim_event *a, const struct sim_event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

void sim_events_add(struct sim_events *events, uint64_t at_ns, uint32_t what, uint32_t which)
{
    void *heap = events->heap;
    sim_room(&heap, &events->room, events->count + 1, sizeof(*events->heap));
    events->heap = heap;
    struct sim_event event = {at_ns, events->order++, what, which};
    size_t at = events->count++;
    while (at > 0 && is_before(&event, &events->heap[(at - 1) / 2])) {
        events->heap[at] = events->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    events->heap[at] = event;
}

bool sim_events_take(struct sim_events *events, struct sim_event *event_out)
{
    if (events->count == 0) {
        return false;
    }
    *event_out = events->heap[0];
    struct sim_event moved = events->heap[--events->count];
    size_t at = 0;
    for (size_t child = 1; child < events->count; child = 2 * at + 1) {
        if (child + 1 < events->count &&
            is_before(&events->heap[child + 1], &events->heap[child])) {
            child++;
        }
        if (!is_before(&events->heap[child], &moved)) {
            break;
        }
        events->heap[at] = events->heap[child];
        at = child;
    }
    events->heap[at] = moved;
    return true;
}
