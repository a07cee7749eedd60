/* SPDX-License-Identifier: Apache-2.0 */
/* Events that have begun and not ended: a heap by the moment of their end. */
#include "causal/infer/infer_internal.h"

static bool comes_first(const struct wio_feed_late *a, const struct wio_feed_late *b)
{
    return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->order < b->order;
}

static void sift_up(struct wio_feed_late *heap, size_t at)
{
    struct wio_feed_late item = heap[at];
    while (at > 0 && comes_first(&item, &heap[(at - 1) / 2])) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = item;
}

static void sift_down(struct wio_feed_late *heap, size_t count)
{
    struct wio_feed_late item = heap[0];
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

enum wio_status wio_feed_end_later(struct wio_feed *feed, const struct wio_event *event)
{
    WIO_TRY(wio_alloc_room(&feed->alloc, (void **)&feed->late, &feed->late_room,
                           feed->late_count + 1, sizeof(*feed->late)));
    WIO_TRY(wio_alloc_room(&feed->alloc, (void **)&feed->late_free, &feed->late_free_room,
                           feed->late_count + 1, sizeof(*feed->late_free)));
    uint32_t place;
    if (feed->late_free_count > 0) {
        place = feed->late_free[--feed->late_free_count];
    } else {
        WIO_TRY(wio_alloc_room(&feed->alloc, (void **)&feed->late_events, &feed->late_event_room,
                               (size_t)feed->late_event_count + 1, sizeof(*feed->late_events)));
        place = feed->late_event_count++;
    }
    feed->late_events[place] = *event;
    feed->late[feed->late_count] =
        (struct wio_feed_late){wio_feed_end_ns(event), feed->late_order++, place};
    sift_up(feed->late, feed->late_count++);
    return WIO_OK;
}

bool wio_feed_ended(struct wio_feed *feed, uint64_t before_ns, struct wio_event *event_out)
{
    if (feed->late_count == 0 || feed->late[0].end_ns >= before_ns) {
        return false;
    }
    uint32_t place = feed->late[0].place;
    *event_out = feed->late_events[place];
    feed->late[0] = feed->late[--feed->late_count];
    sift_down(feed->late, feed->late_count);
    feed->late_free[feed->late_free_count++] = place;
    return true;
}
