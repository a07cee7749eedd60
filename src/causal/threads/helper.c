/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that libc starts inside a call of its own and waits for in the same or another one:
 * system(), popen() and pclose().
 */
#include "causal/threads/sync.h"

/* system() does not report its child: the child that began meanwhile, if it is the only one. */
static uint32_t only_child_within(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t found = WIO_FEED_NONE;
    uint32_t child = wio_feed_first_unborn(feed, wio_feed_stream(feed, event)->process);
    for (; child != WIO_FEED_NONE; child = wio_feed_next_unborn(feed, child)) {
        uint64_t start_ns = feed->params.processes[child].start_ns;
        if (start_ns > wio_feed_end_ns(event)) {
            break; /* they are in the order of their begin */
        }
        if (start_ns < event->t_ns) {
            continue;
        }
        if (found != WIO_FEED_NONE) {
            return WIO_FEED_NONE;
        }
        found = child;
    }
    return found;
}

static enum wio_status remember(struct wio_feed *feed, uint64_t who, uint64_t what, uint32_t child)
{
    return child == WIO_FEED_NONE ? WIO_OK
                                  : wio_pair_map_put(&feed->helper_of, who, what,
                                                     (uint32_t)feed->params.processes[child].pid);
}

/* Streams and images are numbers of their own. */
static uint64_t stream_key(const struct wio_event *event)
{
    return (uint64_t)event->stream << 1;
}

static uint64_t image_key(const struct wio_feed *feed, const struct wio_event *event)
{
    return (uint64_t)wio_feed_stream(feed, event)->process << 1 | 1;
}

enum wio_status wio_feed_helper_begin(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t child = WIO_FEED_NONE;
    if (event->error != 0) {
        return WIO_OK;
    }
    if (event->op == WIO_OP_system) {
        child = only_child_within(feed, event);
        WIO_TRY(remember(feed, stream_key(event), event->seq, child));
        return wio_feed_make_image(feed, event, child, true);
    }
    /* fclose() may have closed the stream that had this number: its program is not waited for. */
    wio_pair_map_remove(&feed->helper_of, image_key(feed, event), (uint64_t)event->result);
    if (event->arg[2] > 0) {
        child = wio_feed_find_child(feed, wio_feed_stream(feed, event)->process, event->arg[2]);
        WIO_TRY(remember(feed, image_key(feed, event), (uint64_t)event->result, child));
    }
    return wio_feed_make_image(feed, event, child, true);
}

enum wio_status wio_feed_helper_end(struct wio_feed *feed, const struct wio_event *event)
{
    bool is_system = event->op == WIO_OP_system;
    if (!is_system && event->op != WIO_OP_pclose) {
        return WIO_OK;
    }
    uint64_t who = is_system ? stream_key(event) : image_key(feed, event);
    uint64_t what = is_system ? event->seq : (uint64_t)(int64_t)event->fd;
    uint32_t pid = wio_pair_map_get(&feed->helper_of, who, what);
    if (pid == WIO_FEED_NONE) {
        return WIO_OK;
    }
    wio_pair_map_remove(&feed->helper_of, who, what);
    return wio_feed_after_process(feed, event, pid, WIO_EVIDENCE_PROCESS);
}
