/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a FIFO: an open for reading waits for one for writing, and the other way round, unless
 * its flags say otherwise. Both begin, and the first waits for the second; so the end of each call
 * waits for the begin of one that opened the other side.
 *
 * Openings are in the list `openings` of the pipe, by their begin: `a` is the side they open, `b` 1
 * + the open file or 0 while the call is under way, begin_ns when the file was closed. Closed ones
 * stay while a call is under way: they may have released it.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "causal/files/files.h"
#include "causal/infer/name.h"

enum { READS = 1, WRITES = 2 };

static uint64_t side_of(const struct wio_event *event)
{
    switch (event->arg[0] & O_ACCMODE) {
    case O_RDONLY:
        return READS;
    case O_WRONLY:
        return WRITES;
    default:
        return READS | WRITES;
    }
}

/* The FIFO that the program is about to open by this event; 0 where it is none. */
static enum wio_status find_opened(struct wio_feed *feed, const struct wio_event *event,
                                   uint32_t *object_out)
{
    bool has_flags = event->op != WIO_OP_fdopen && event->op != WIO_OP_fdopendir &&
                     event->op != WIO_OP_popen && event->op != WIO_OP_opendir;
    *object_out = 0;
    if (!has_flags || (event->arg[0] & O_PATH) != 0 || (event->flags & WIO_EVENT_CAUSED) != 0 ||
        wio_feed_path_kind(feed, event->path) != WIO_FEED_PATH_FIFO) {
        return WIO_OK;
    }
    return wio_feed_channel(feed, event, event->path, object_out);
}

enum wio_status wio_feed_fifo_made(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t object;
    bool is_fifo = event->op == WIO_OP_mkfifo || S_ISFIFO((mode_t)event->arg[0]);
    if (event->error != 0 || !is_fifo || event->path >= feed->params.string_count) {
        return WIO_OK;
    }
    uint64_t file;
    feed->paths[wio_feed_real(feed, event->path, false)] = WIO_FEED_PATH_FIFO;
    WIO_TRY(wio_feed_named(feed, event, event->path, &file));
    return wio_feed_new_object(feed,
                               (struct wio_feed_object){.kind = WIO_FEED_PIPE,
                                                        .id = file,
                                                        .place = wio_feed_host(feed, event)},
                               &object);
}

enum wio_status wio_feed_fifo_begin(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t object;
    struct wio_feed_node node = wio_feed_node_of(feed, event);
    WIO_TRY(find_opened(feed, event, &object));
    if (object == 0) {
        return WIO_OK;
    }
    node.a = side_of(event);
    node.b = 0;
    node.begin_ns = UINT64_MAX;
    feed->objects[object].opening++;
    WIO_TRY(wio_pair_map_put(&feed->opening_of, event->stream, event->seq, object));
    return wio_feed_append(feed, &feed->objects[object].openings, &node);
}

static void drop_where(struct wio_feed *feed, struct wio_feed_list *list, uint32_t thread,
                       uint64_t op)
{
    uint32_t before = WIO_FEED_NONE;
    for (uint32_t i = list->first; i != WIO_FEED_NONE; before = i, i = feed->nodes[i].next) {
        if (feed->nodes[i].thread == thread && feed->nodes[i].op == op) {
            wio_feed_drop_behind(feed, list, before);
            return;
        }
    }
}

static struct wio_feed_node *find(struct wio_feed *feed, const struct wio_feed_list *list,
                                  uint32_t thread, uint64_t op)
{
    uint32_t i = list->first;
    while (i != WIO_FEED_NONE && (feed->nodes[i].thread != thread || feed->nodes[i].op != op)) {
        i = feed->nodes[i].next;
    }
    return i == WIO_FEED_NONE ? NULL : &feed->nodes[i];
}

/* The call has its file; its opening lasts until that is closed. */
static enum wio_status note_file(struct wio_feed *feed, const struct wio_event *event,
                                 const struct wio_feed_list *list)
{
    uint32_t file;
    struct wio_point point = wio_feed_point(feed, event);
    struct wio_feed_node *own = find(feed, list, point.thread, point.op);
    if (event->result < 0 || event->result > INT32_MAX) {
        return WIO_OK;
    }
    WIO_TRY(wio_feed_file(feed, event, (int32_t)event->result, &file));
    if (own != NULL && file != WIO_FEED_NONE) {
        own->b = (uint64_t)file + 1;
        feed->files[file].is_opening = true;
    }
    return WIO_OK;
}

/* The first opening of the other side that was there at some time during the call. */
static enum wio_status after_partner(struct wio_feed *feed, const struct wio_event *event,
                                     const struct wio_feed_list *list)
{
    uint64_t wanted = side_of(event) == READS ? WRITES : READS;
    struct wio_point point = wio_feed_point(feed, event);
    for (uint32_t i = list->first; i != WIO_FEED_NONE; i = feed->nodes[i].next) {
        const struct wio_feed_node *node = &feed->nodes[i];
        if ((node->a & wanted) == 0 || node->begin_ns < event->t_ns) {
            continue;
        }
        return wio_feed_edge_from_before(feed, (struct wio_edge){.from_thread = node->thread,
                                                                 .from_op = node->op,
                                                                 .to_thread = point.thread,
                                                                 .to_op = point.op,
                                                                 .class = WIO_EDGE_HARD,
                                                                 .evidence = WIO_EVIDENCE_PIPE});
    }
    return WIO_OK;
}

static void forget_closed(struct wio_feed *feed, struct wio_feed_list *list)
{
    uint32_t before = WIO_FEED_NONE;
    uint32_t i = list->first;
    while (i != WIO_FEED_NONE) {
        uint32_t next = feed->nodes[i].next;
        if (feed->nodes[i].begin_ns != UINT64_MAX) {
            wio_feed_drop_behind(feed, list, before);
        } else {
            before = i;
        }
        i = next;
    }
}

uint32_t wio_feed_fifo_opened(const struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t object = wio_pair_map_get(&feed->opening_of, event->stream, event->seq);
    return object == WIO_FEED_NONE ? 0 : object;
}

enum wio_status wio_feed_fifo_end(struct wio_feed *feed, const struct wio_event *event)
{
    struct wio_point point = wio_feed_point(feed, event);
    uint32_t object = wio_feed_fifo_opened(feed, event);
    if (object == 0) {
        return WIO_OK;
    }
    wio_pair_map_remove(&feed->opening_of, event->stream, event->seq);
    struct wio_feed_list *list = &feed->objects[object].openings;
    feed->objects[object].opening--;
    if (event->error != 0) {
        drop_where(feed, list, point.thread, point.op);
    } else {
        WIO_TRY(note_file(feed, event, list));
        list = &feed->objects[object].openings; /* note_file may make objects */
        bool waits = (event->arg[0] & O_NONBLOCK) == 0 && side_of(event) != (READS | WRITES);
        WIO_TRY(waits ? after_partner(feed, event, list) : WIO_OK);
    }
    if (feed->objects[object].opening == 0) {
        forget_closed(feed, list);
    }
    return WIO_OK;
}

void wio_feed_fifo_close(struct wio_feed *feed, uint32_t file, const struct wio_event *event)
{
    struct wio_feed_state *state = &feed->objects[feed->files[file].object];
    for (uint32_t i = state->openings.first; i != WIO_FEED_NONE; i = feed->nodes[i].next) {
        if (feed->nodes[i].b == (uint64_t)file + 1 && feed->nodes[i].begin_ns == UINT64_MAX) {
            feed->nodes[i].begin_ns = event->t_ns;
        }
    }
    if (state->opening == 0) {
        forget_closed(feed, &state->openings);
    }
}
