/* SPDX-License-Identifier: Apache-2.0 */
/* Moments at which threads have to be looked at again, the earliest first: a heap. */
#include "base/cleanup.h"
#include "base/grow.h"
#include "explain/critical_path/timeline.h"

enum wio_status wio_wait_look_at(struct wio_timeline *timeline, uint32_t stream, uint64_t ns)
{
    void *array = timeline->endings;
    uint32_t at = timeline->ending_count;

    WIO_TRY(wio_make_room(&array, sizeof(*timeline->endings), &timeline->ending_capacity, at + 1));
    timeline->endings = array;
    timeline->ending_count++;
    while (at > 0 && timeline->endings[(at - 1) / 2].ns > ns) {
        timeline->endings[at] = timeline->endings[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    timeline->endings[at] = (struct wio_ending){ns, stream};
    return WIO_OK;
}

static void sift_down(struct wio_ending *heap, uint32_t count)
{
    struct wio_ending item = heap[0];
    uint32_t at = 0;

    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count) {
            break;
        }
        child += child + 1 < count && heap[child + 1].ns < heap[child].ns;
        if (heap[child].ns >= item.ns) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = item;
}

uint32_t wio_wait_next_end(struct wio_timeline *timeline, uint64_t ns, uint64_t *end_ns_out)
{
    uint32_t stream;

    if (timeline->ending_count == 0 || timeline->endings[0].ns >= ns) {
        return WIO_NOTHING;
    }
    stream = timeline->endings[0].stream;
    *end_ns_out = timeline->endings[0].ns;
    timeline->endings[0] = timeline->endings[--timeline->ending_count];
    if (timeline->ending_count > 0) {
        sift_down(timeline->endings, timeline->ending_count);
    }
    return stream;
}
