/* SPDX-License-Identifier: Apache-2.0 */
/* Events that have begun and not ended: a heap by the moment of their end. */
#include "causal/infer/infer_internal.h"

void wio_infer_pending_fini(struct wio_infer *infer)
{
    infer->alloc.put(infer->alloc.context, infer->pending.heap);
    infer->alloc.put(infer->alloc.context, infer->pending.events);
    infer->alloc.put(infer->alloc.context, infer->pending.free);
}

static bool comes_first(const struct wio_infer_late *a, const struct wio_infer_late *b)
{
    return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->order < b->order;
}

static void sift_up(struct wio_infer_late *heap, size_t at)
{
    struct wio_infer_late item = heap[at];
    while (at > 0 && comes_first(&item, &heap[(at - 1) / 2])) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = item;
}

static void sift_down(struct wio_infer_late *heap, size_t count)
{
    struct wio_infer_late item = heap[0];
    size_t at = 0;
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && comes_first(&heap[child + 1], &heap[child])) {
            child++;
        }
        if (!comes_first(&heap[child], &item)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = item;
}

enum wio_status wio_infer_end_later(struct wio_infer *infer, const struct wio_event *event)
{
    WIO_TRY(wio_alloc_room(&infer->alloc, (void **)&infer->pending.heap, &infer->pending.room,
                           infer->pending.count + 1, sizeof(*infer->pending.heap)));
    WIO_TRY(wio_alloc_room(&infer->alloc, (void **)&infer->pending.free, &infer->pending.free_room,
                           infer->pending.count + 1, sizeof(*infer->pending.free)));
    uint32_t place;
    if (infer->pending.free_count > 0) {
        place = infer->pending.free[--infer->pending.free_count];
    } else {
        WIO_TRY(wio_alloc_room(&infer->alloc, (void **)&infer->pending.events,
                               &infer->pending.event_room, (size_t)infer->pending.event_count + 1,
                               sizeof(*infer->pending.events)));
        place = infer->pending.event_count++;
    }
    infer->pending.events[place] = *event;
    infer->pending.heap[infer->pending.count] =
        (struct wio_infer_late){wio_infer_end_ns(event), infer->pending.order++, place};
    sift_up(infer->pending.heap, infer->pending.count++);
    return WIO_OK;
}

bool wio_infer_ended(struct wio_infer *infer, uint64_t before_ns, struct wio_event *event_out)
{
    if (infer->pending.count == 0 || infer->pending.heap[0].end_ns >= before_ns) {
        return false;
    }
    uint32_t place = infer->pending.heap[0].place;
    *event_out = infer->pending.events[place];
    infer->pending.heap[0] = infer->pending.heap[--infer->pending.count];
    sift_down(infer->pending.heap, infer->pending.count);
    infer->pending.free[infer->pending.free_count++] = place;
    return true;
}
