/* SPDX-License-Identifier: Apache-2.0 */
/* Signals: who waits for one goes on after it was sent. */
#include <signal.h>

#include "causal/feed_files.h"
#include "causal/feed_sync.h"

/* Of signals that nobody was seen to take so many are kept per process and number. */
#define KEPT_MAX 64u
/* Number of the list of all signals to a process. */
#define ANY 0u
/* Of Linux; and what is read for each of them (struct signalfd_siginfo). */
#define SIGNALS_MAX 64
#define SIGNAL_BYTES 128

static enum wio_status list_of(struct wio_feed *feed, uint32_t host, int64_t pid, uint64_t signal,
                               uint32_t *list_out)
{
    uint64_t process = (uint64_t)host << 32 | (uint32_t)pid;
    *list_out = wio_live_get(&feed->signals_of, process, signal);
    if (*list_out != WIO_FEED_NONE) {
        return WIO_OK;
    }
    WIO_TRY(wio_feed_new_list(feed, list_out));
    return wio_live_put(&feed->signals_of, process, signal, *list_out);
}

enum wio_status wio_feed_kill(struct wio_feed *feed, const struct wio_event *event)
{
    struct wio_feed_node node = wio_feed_node_of(feed, event);
    if (event->error != 0 || event->arg[0] <= 0 || event->arg[1] <= 0) {
        return WIO_OK; /* signal 0 only asks; a process group is not told apart */
    }
    const uint64_t signals[] = {(uint64_t)event->arg[1], ANY};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(signals); i++) {
        uint32_t list;
        WIO_TRY(list_of(feed, wio_feed_host(feed, event), event->arg[0], signals[i], &list));
        WIO_TRY(wio_feed_append(feed, &feed->lists[list], &node));
        if (feed->lists[list].count > KEPT_MAX) {
            wio_feed_drop_first(feed, &feed->lists[list]);
        }
    }
    return WIO_OK;
}

static enum wio_status after(struct wio_feed *feed, const struct wio_event *event,
                             const struct wio_feed_node *from)
{
    struct wio_point point = wio_feed_point(feed, event);
    return wio_feed_edge_from_before(feed, (struct wio_edge){.from_thread = from->thread,
                                                             .from_op = from->op,
                                                             .to_thread = point.thread,
                                                             .to_op = point.op,
                                                             .class = WIO_EDGE_HARD,
                                                             .evidence = WIO_EVIDENCE_SIGNAL});
}

/* Signals below the real-time ones are not counted: those that came together are one. */
static enum wio_status take(struct wio_feed *feed, const struct wio_event *event,
                            struct wio_feed_list *list, bool is_counted)
{
    const struct wio_feed_node first = feed->nodes[list->first];
    do {
        wio_feed_drop_first(feed, list);
    } while (!is_counted && list->count > 0);
    return after(feed, event, &first);
}

/* pause() and its like do not say what came: the last signal that was sent while they waited. */
static enum wio_status take_any(struct wio_feed *feed, const struct wio_event *event,
                                const struct wio_feed_list *list)
{
    uint32_t found = WIO_FEED_NONE;
    for (uint32_t i = list->first; i != WIO_FEED_NONE; i = feed->nodes[i].next) {
        found = feed->nodes[i].begin_ns >= event->t_ns ? i : found;
    }
    return found == WIO_FEED_NONE ? WIO_OK : after(feed, event, &feed->nodes[found]);
}

enum wio_status wio_feed_sigwait(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t list;
    uint64_t signal = event->arg[1] > 0 ? (uint64_t)event->arg[1] : ANY;
    bool waits_for_any =
        event->op == WIO_OP_pause || event->op == WIO_OP_sigsuspend || event->op == WIO_OP_sigpause;
    if (event->error != 0 && !waits_for_any) {
        return WIO_OK;
    }
    int32_t pid = feed->params.processes[wio_feed_stream(feed, event)->process].pid;
    WIO_TRY(list_of(feed, wio_feed_host(feed, event), pid, signal, &list));
    if (signal == ANY) {
        return take_any(feed, event, &feed->lists[list]);
    }
    if (feed->lists[list].count > 0) {
        return take(feed, event, &feed->lists[list], (int64_t)signal >= SIGRTMIN);
    }
    if (signal == SIGCHLD && event->arg[0] > 0) {
        return wio_feed_after_process(feed, event, event->arg[0], WIO_EVIDENCE_SIGNAL);
    }
    return WIO_OK;
}

enum wio_status wio_feed_after_kill(struct wio_feed *feed, const struct wio_event *event,
                                    int64_t pid, int signal)
{
    uint32_t list;
    WIO_TRY(list_of(feed, wio_feed_host(feed, event), pid, (uint64_t)signal, &list));
    return feed->lists[list].count > 0 ? take(feed, event, &feed->lists[list], false) : WIO_OK;
}

/* The kernel gives the one with the lowest number first. */
static enum wio_status take_lowest(struct wio_feed *feed, const struct wio_event *event,
                                   uint64_t signals)
{
    int32_t pid = feed->params.processes[wio_feed_stream(feed, event)->process].pid;
    uint64_t process = (uint64_t)wio_feed_host(feed, event) << 32 | (uint32_t)pid;
    for (uint64_t signal = 1; signal <= SIGNALS_MAX; signal++) {
        uint32_t list = (signals >> (signal - 1) & 1) != 0
                            ? wio_live_get(&feed->signals_of, process, signal)
                            : WIO_FEED_NONE;
        if (list != WIO_FEED_NONE && feed->lists[list].count > 0) {
            return take(feed, event, &feed->lists[list], (int64_t)signal >= SIGRTMIN);
        }
    }
    return WIO_OK; /* SIGCHLD, a timer's, or of somebody who was not recorded */
}

/* R-CHAN-6 */
enum wio_status wio_feed_signals_read(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t file;
    WIO_TRY(wio_feed_file(feed, event, event->fd, &file));
    int64_t count = file == WIO_FEED_NONE ? 0 : event->result / SIGNAL_BYTES;
    for (int64_t i = 0; i < count && i < SIGNALS_MAX; i++) {
        WIO_TRY(take_lowest(feed, event, feed->files[file].signals));
    }
    return WIO_OK;
}
