/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closes of write ends of pipes and sockets, each of which may be the last: the latest one of each
 * thread is kept.
 */
#include "causal/files/files.h"

/* Is the event the last of its image, and that has ended with it? */
static bool is_exit(const struct wio_feed *feed, const struct wio_event *event)
{
    const struct wio_feed_image *image = &feed->images[wio_feed_stream(feed, event)->process];
    return image->events_left == 0 && wio_feed_class(event) != WIO_CLASS_EXEC;
}

/* A pipe for the output of a whole build is closed by every process of it: only so many closes are
 * scanned, the others are found by their thread. */
#define SCANNED_MOST 16u

static uint32_t find_closing(const struct wio_feed *feed, uint32_t object, uint32_t thread)
{
    uint32_t i = feed->objects[object].list.first;
    for (uint32_t n = 0; i != WIO_FEED_NONE && n < SCANNED_MOST; n++, i = feed->nodes[i].next) {
        if (feed->nodes[i].thread == thread) {
            return i;
        }
    }
    return i == WIO_FEED_NONE ? i : wio_pair_map_get(&feed->closing_of, object, thread);
}

/* A reader that finds EOF waits for the latest close of each thread. A closing call may release the
 * reader before its own end; at an exit all calls have ended. */
enum wio_status wio_feed_note_closing(struct wio_feed *feed, uint32_t object,
                                      const struct wio_event *event)
{
    struct wio_feed_node node = wio_feed_node_of(feed, event);
    node.op = is_exit(feed, event) ? event->seq + 1 : node.op;
    uint32_t known = find_closing(feed, object, node.thread);
    if (known != WIO_FEED_NONE) {
        feed->nodes[known].op = node.op;
        feed->nodes[known].a = 0; /* no reader has found it */
        return WIO_OK;
    }
    struct wio_feed_list *list = &feed->objects[object].list;
    WIO_TRY(wio_feed_append(feed, list, &node));
    return list->count <= SCANNED_MOST
               ? WIO_OK
               : wio_pair_map_put(&feed->closing_of, object, node.thread, list->last);
}

void wio_feed_forget_closings(struct wio_feed *feed, uint32_t object)
{
    struct wio_feed_list *list = &feed->objects[object].list;
    while (list->count > 0) {
        wio_pair_map_remove(&feed->closing_of, object, feed->nodes[list->first].thread);
        wio_feed_drop_first(feed, list);
    }
}
