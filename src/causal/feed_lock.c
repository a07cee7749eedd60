/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File locks. flock(2) locks whole files and lasts until the last descriptor of the open file is
 * closed; locks of fcntl(2) and lockf(3) are ranges of a process: an acquire follows all releases
 * of ranges that overlap its own.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "causal/feed_internal.h"

static enum wio_status object_of(struct wio_feed *feed, const struct wio_event *event,
                                 enum wio_feed_kind kind, uint32_t *object_out)
{
    /* A path is the same file on all hosts, or on a file system that they do not share: then
     * nobody there waits for it. */
    return wio_feed_find_object(feed, (struct wio_feed_object){.kind = kind, .id = event->path},
                                object_out);
}

enum wio_status wio_feed_unlock(struct wio_feed *feed, struct wio_feed_file *file,
                                const struct wio_event *event)
{
    uint32_t object = file->flock;
    file->flock = 0;
    return wio_match_release(feed->match, object, WIO_EVIDENCE_LOCK, wio_feed_point(feed, event),
                             file->is_shared_lock);
}

static enum wio_status flock_begin(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t file;
    WIO_TRY(wio_feed_file(feed, event, event->fd, &file));
    if (file == WIO_FEED_NONE || feed->files[file].flock == 0 || event->error != 0) {
        return WIO_OK;
    }
    return wio_feed_unlock(feed, &feed->files[file], event); /* LOCK_UN, or another lock instead */
}

static enum wio_status flock_end(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t object;
    uint32_t file;
    bool is_shared = (event->arg[0] & LOCK_SH) != 0;
    if (event->error != 0 || (event->arg[0] & LOCK_UN) != 0) {
        return WIO_OK;
    }
    WIO_TRY(object_of(feed, event, WIO_FEED_FLOCK, &object));
    WIO_TRY(wio_feed_file(feed, event, event->fd, &file));
    if (file != WIO_FEED_NONE) {
        feed->files[file].flock = object;
        feed->files[file].is_shared_lock = is_shared;
    }
    return wio_match_acquire(feed->match, object, WIO_EVIDENCE_LOCK, wio_feed_point(feed, event),
                             is_shared);
}

/* What a call of fcntl or lockf wants. */
struct request {
    bool is_lock;
    bool releases;
    bool is_shared;
    uint64_t from;
    uint64_t to; /* behind the last byte; UINT64_MAX: to the end */
};

static struct request range_of(const struct wio_event *event, struct request request)
{
    /* From where the descriptor stands, or from the end, if the position is not known: then all. */
    request.from =
        event->offset == WIO_NO_OFFSET || event->offset < 0 ? 0 : (uint64_t)event->offset;
    bool is_open = event->size == WIO_NO_SIZE || event->size == 0 || event->size > INT64_MAX;
    request.to = is_open ? UINT64_MAX : request.from + event->size;
    return request;
}

static struct request request_of(const struct wio_event *event)
{
    struct request request = {0};
    if (event->op == WIO_OP_lockf) {
        request.is_lock = event->arg[0] != F_TEST;
        request.releases = event->arg[0] == F_ULOCK;
        return range_of(event, request);
    }
    switch (event->arg[0]) {
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
        request.is_lock = true;
        request.releases = event->arg[2] == F_UNLCK;
        request.is_shared = event->arg[2] == F_RDLCK;
        if (event->arg[3] != SEEK_SET) {
            request.to = UINT64_MAX;
            return request;
        }
        return range_of(event, request);
    default:
        return request;
    }
}

static bool overlaps(const struct wio_feed_node *node, const struct request *request)
{
    return node->a < request->to && request->from < node->b;
}

/* The image is to give back ranges of this file when it closes it. */
static enum wio_status note_ranges(struct wio_feed *feed, const struct wio_event *event)
{
    struct wio_feed_list *ranges = &feed->images[wio_feed_stream(feed, event)->process].ranges;
    for (uint32_t i = ranges->first; i != WIO_FEED_NONE; i = feed->nodes[i].next) {
        if (feed->nodes[i].a == event->path) {
            return WIO_OK;
        }
    }
    struct wio_feed_node node = {.a = event->path};
    return wio_feed_append(feed, ranges, &node);
}

/* The lists: `list` holds ranges that are locked, `more` those that were released. */
static enum wio_status acquire(struct wio_feed *feed, const struct wio_event *event,
                               uint32_t object, const struct request *request)
{
    struct wio_feed_state *state = &feed->objects[object];
    struct wio_feed_node node = wio_feed_node_of(feed, event);
    node.a = request->from;
    node.b = request->to;
    node.is_shared = request->is_shared;
    for (uint32_t i = state->more.first; i != WIO_FEED_NONE; i = feed->nodes[i].next) {
        const struct wio_feed_node *release = &feed->nodes[i];
        if (overlaps(release, request) && !(release->is_shared && request->is_shared)) {
            WIO_TRY(wio_feed_edge(feed, (struct wio_edge){.from_thread = release->thread,
                                                          .from_op = release->op,
                                                          .to_thread = node.thread,
                                                          .to_op = node.op,
                                                          .object = object,
                                                          .class = WIO_EDGE_MUTEX,
                                                          .evidence = WIO_EVIDENCE_LOCK}));
        }
    }
    WIO_TRY(wio_feed_append(feed, &state->list, &node));
    return note_ranges(feed, event);
}

/* What an exclusive release covers need not be followed any more: whoever follows it follows that.
 */
static void forget_covered(struct wio_feed *feed, struct wio_feed_list *releases,
                           const struct wio_feed_node *by)
{
    uint32_t before = WIO_FEED_NONE;
    uint32_t i = releases->first;
    while (i != WIO_FEED_NONE) {
        uint32_t next = feed->nodes[i].next;
        if (by->a <= feed->nodes[i].a && feed->nodes[i].b <= by->b) {
            wio_feed_drop_behind(feed, releases, before);
        } else {
            before = i;
        }
        i = next;
    }
}

/* The image gives back what it holds of a range, now. */
static enum wio_status release(struct wio_feed *feed, const struct wio_event *event,
                               uint32_t object, const struct request *request)
{
    struct wio_feed_state *state = &feed->objects[object];
    uint32_t image = wio_feed_stream(feed, event)->process;
    uint32_t before = WIO_FEED_NONE;
    uint32_t i = state->list.first;
    while (i != WIO_FEED_NONE) {
        struct wio_feed_node node = feed->nodes[i];
        if (node.image != image || !overlaps(&node, request)) {
            before = i;
            i = node.next;
            continue;
        }
        uint32_t next = node.next;
        wio_feed_drop_behind(feed, &state->list, before);
        node.op = event->seq;
        node.thread = wio_feed_point(feed, event).thread;
        if (!node.is_shared) {
            forget_covered(feed, &state->more, &node);
        }
        WIO_TRY(wio_feed_append(feed, &state->more, &node));
        i = next;
    }
    return WIO_OK;
}

enum wio_status wio_feed_lock_begin(struct wio_feed *feed, const struct wio_event *event)
{
    if (event->op == WIO_OP_flock) {
        return flock_begin(feed, event);
    }
    const struct request request = request_of(event);
    if (!request.is_lock || event->error != 0) {
        return WIO_OK;
    }
    uint32_t object;
    WIO_TRY(object_of(feed, event, WIO_FEED_RECORD_LOCK, &object));
    return release(feed, event, object, &request);
}

enum wio_status wio_feed_lock_end(struct wio_feed *feed, const struct wio_event *event)
{
    if (event->op == WIO_OP_flock) {
        return flock_end(feed, event);
    }
    if (event->op == WIO_OP_fcntl && event->arg[0] == F_SETPIPE_SZ && event->result > 0) {
        uint32_t pipe;
        WIO_TRY(wio_feed_channel(feed, event, event->path, &pipe));
        if (pipe != 0) {
            feed->objects[pipe].count = (uint64_t)event->result;
        }
        return WIO_OK;
    }
    const struct request request = request_of(event);
    if (!request.is_lock || request.releases || event->error != 0) {
        return WIO_OK;
    }
    uint32_t object;
    WIO_TRY(object_of(feed, event, WIO_FEED_RECORD_LOCK, &object));
    return acquire(feed, event, object, &request);
}

static enum wio_status unlock_file(struct wio_feed *feed, const struct wio_event *event,
                                   uint64_t path)
{
    const struct request all = {.from = 0, .to = UINT64_MAX};
    uint32_t object = wio_live_get(&feed->object_of, (uint64_t)WIO_FEED_RECORD_LOCK << 32, path);
    return object == WIO_FEED_NONE ? WIO_OK : release(feed, event, object, &all);
}

enum wio_status wio_feed_unlock_ranges(struct wio_feed *feed, const struct wio_event *event,
                                       uint32_t path)
{
    struct wio_feed_list *ranges = &feed->images[wio_feed_stream(feed, event)->process].ranges;
    uint32_t before = WIO_FEED_NONE;
    uint32_t i = ranges->first;
    while (i != WIO_FEED_NONE) {
        const struct wio_feed_node node = feed->nodes[i];
        if (path != WIO_NO_STRING && node.a != path) {
            before = i;
        } else {
            WIO_TRY(unlock_file(feed, event, node.a));
            wio_feed_drop_behind(feed, ranges, before);
        }
        i = node.next;
    }
    return WIO_OK;
}
