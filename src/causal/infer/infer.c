/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds each event to the rules of its class: its begin at once, its end (kept in a heap) once
 * every event that began before that end has been fed.
 */
#include "causal/infer/infer.h"

#include "causal/files/files.h"
#include "causal/infer/name.h"
#include "causal/threads/sync.h"

/* All maps, so that none is forgotten. */
static struct wio_pair_map *map_of(struct wio_feed *feed, unsigned i)
{
    struct wio_pair_map *maps[] = {
        &feed->object_of, &feed->thread_of,  &feed->made_of,  &feed->image_of,   &feed->lists_of,
        &feed->rank_of,   &feed->request_of, &feed->queue_of, &feed->signals_of, &feed->helper_of,
        &feed->bound_of,  &feed->opening_of, &feed->name_of,  &feed->closing_of};
    return i < WIO_ARRAY_SIZE(maps) ? maps[i] : NULL;
}

static void init_maps(struct wio_feed *feed)
{
    for (unsigned i = 0; map_of(feed, i) != NULL; i++) {
        wio_pair_map_init(map_of(feed, i), &feed->alloc);
    }
}

static void free_maps(struct wio_feed *feed)
{
    for (unsigned i = 0; map_of(feed, i) != NULL; i++) {
        wio_pair_map_fini(map_of(feed, i));
    }
}

void wio_feed_destroy(struct wio_feed *feed)
{
    if (feed == NULL) {
        return;
    }
    struct wio_alloc alloc = feed->alloc;
    wio_match_destroy(feed->match);
    wio_feed_processes_fini(feed);
    free_maps(feed);
    for (uint32_t i = 0; i < feed->object_count; i++) {
        wio_ranges_destroy(feed->objects[i].released);
    }
    void *arrays[] = {feed->callers,    feed->latest, feed->latest_threads, feed->paths,
                      feed->objects,    feed->nodes,  feed->late,           feed->late_events,
                      feed->late_free,  feed->files,  feed->waits,          feed->ranks,
                      feed->requests,   feed->queues, feed->lists,          feed->names,
                      feed->own_strings};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(arrays); i++) {
        alloc.put(alloc.context, arrays[i]);
    }
    alloc.put(alloc.context, feed);
}

static enum wio_status init(struct wio_feed *feed)
{
    init_maps(feed);
    feed->node_free = WIO_FEED_NONE;
    feed->file_free = WIO_FEED_NONE;
    feed->request_free = WIO_FEED_NONE;
    feed->paths = wio_alloc_array(&feed->alloc, feed->params.string_count, sizeof(*feed->paths));
    feed->callers = wio_alloc_array(&feed->alloc, feed->edges->threads, sizeof(*feed->callers));
    feed->latest = wio_alloc_array(&feed->alloc, feed->edges->threads, sizeof(*feed->latest));
    feed->latest_threads =
        wio_alloc_array(&feed->alloc, feed->edges->threads, sizeof(*feed->latest_threads));
    if (feed->paths == NULL || feed->callers == NULL || feed->latest == NULL ||
        feed->latest_threads == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(wio_alloc_room(&feed->alloc, (void **)&feed->names, &feed->name_room,
                           feed->params.string_count, sizeof(*feed->names)));
    feed->name_count = feed->params.string_count;
    WIO_TRY(wio_alloc_room(&feed->alloc, (void **)&feed->objects, &feed->object_room, 1,
                           sizeof(*feed->objects)));
    feed->objects[feed->object_count++] = (struct wio_feed_state){
        .list = wio_feed_empty, .more = wio_feed_empty, .openings = wio_feed_empty};
    WIO_TRY(wio_match_create(feed->edges, &feed->match));
    return wio_feed_processes_init(feed);
}

enum wio_status wio_feed_create(const struct wio_feed_params *params, struct wio_edges *edges,
                                struct wio_feed **feed_out)
{
    const struct wio_alloc *alloc = &edges->alloc;
    struct wio_feed *feed = alloc->get(alloc->context, sizeof(*feed));
    if (feed == NULL) {
        return WIO_ERR_NOMEM;
    }
    feed->params = *params;
    feed->edges = edges;
    feed->alloc = *alloc;
    enum wio_status status = init(feed);
    if (status != WIO_OK) {
        wio_feed_destroy(feed);
        return status;
    }
    *feed_out = feed;
    return WIO_OK;
}

static enum wio_status tell_message(void *context, const struct wio_match_meeting *meeting)
{
    struct wio_feed *feed = context;
    const struct wio_clock_message message = {.sent_ns = meeting->sent_ns,
                                              .received_ns = meeting->received_ns,
                                              .from = wio_feed_host_of(feed, meeting->from_thread),
                                              .to = wio_feed_host_of(feed, meeting->to_thread)};
    return message.from == message.to ? WIO_OK : feed->watch(feed->watch_context, &message);
}

void wio_feed_watch(struct wio_feed *feed, wio_feed_watch_fn *watch, void *context)
{
    feed->watch = watch;
    feed->watch_context = context;
    wio_match_watch(feed->match, tell_message, feed);
}

uint64_t wio_feed_contradictions(const struct wio_feed *feed, struct wio_error *first_out)
{
    *first_out = feed->contradiction;
    return feed->contradictions;
}

static enum wio_status read_first(struct wio_feed *feed, const struct wio_event *event)
{
    return wio_feed_read(feed, event, event->fd, event->path);
}

static enum wio_status read_second(struct wio_feed *feed, const struct wio_event *event)
{
    return wio_feed_read(feed, event, event->fd2, event->path2);
}

static enum wio_status write_first(struct wio_feed *feed, const struct wio_event *event)
{
    return wio_feed_write(feed, event, event->fd, event->path);
}

/* accept may wait for long: its descriptor is there at its end. */
static enum wio_status begin_channel(struct wio_feed *feed, const struct wio_event *event)
{
    WIO_TRY(wio_feed_channel_begin(feed, event));
    return event->op == WIO_OP_accept ? WIO_OK : wio_feed_descriptors(feed, event);
}

static enum wio_status end_channel(struct wio_feed *feed, const struct wio_event *event)
{
    WIO_TRY(wio_feed_connect_end(feed, event));
    return event->op == WIO_OP_accept ? wio_feed_descriptors(feed, event) : WIO_OK;
}

static enum wio_status begin_open(struct wio_feed *feed, const struct wio_event *event)
{
    return event->op == WIO_OP_popen ? wio_feed_helper_begin(feed, event)
                                     : wio_feed_fifo_begin(feed, event);
}

static enum wio_status end_open(struct wio_feed *feed, const struct wio_event *event)
{
    WIO_TRY(wio_feed_descriptors(feed, event));
    WIO_TRY(wio_feed_fifo_end(feed, event));
    return wio_feed_look_end(feed, event);
}

static enum wio_status begin_control(struct wio_feed *feed, const struct wio_event *event)
{
    WIO_TRY(wio_feed_descriptors(feed, event));
    return wio_feed_lock_begin(feed, event);
}

/* The rules that run when an event of a class begins, and when it ends. */
static const struct {
    enum wio_status (*begin)(struct wio_feed *feed, const struct wio_event *event);
    enum wio_status (*end)(struct wio_feed *feed, const struct wio_event *event);
} rules[WIO_CLASS_COUNT] = {
    [WIO_CLASS_READ] = {NULL, read_first},
    [WIO_CLASS_ASYNC_READ] = {NULL, read_first},
    [WIO_CLASS_WRITE] = {write_first, NULL},
    [WIO_CLASS_ASYNC_WRITE] = {write_first, NULL},
    [WIO_CLASS_COPY] = {write_first, read_second},
    [WIO_CLASS_CHANNEL] = {begin_channel, end_channel},
    [WIO_CLASS_OPEN] = {begin_open, end_open},
    [WIO_CLASS_MKNOD] = {wio_feed_fifo_made, wio_feed_look_end},
    [WIO_CLASS_MKDIR] = {NULL, wio_feed_look_end},
    [WIO_CLASS_SYMLINK] = {NULL, wio_feed_look_end},
    [WIO_CLASS_LINK] = {NULL, wio_feed_look_end},
    [WIO_CLASS_CLOSE] = {wio_feed_descriptors, wio_feed_helper_end},
    [WIO_CLASS_DUP] = {wio_feed_descriptors, NULL},
    [WIO_CLASS_FCNTL] = {begin_control, wio_feed_lock_end},
    [WIO_CLASS_LOCK] = {wio_feed_lock_begin, wio_feed_lock_end},
    [WIO_CLASS_STAT] = {NULL, wio_feed_look_end},
    [WIO_CLASS_ACCESS] = {NULL, wio_feed_look_end},
    [WIO_CLASS_READLINK] = {NULL, wio_feed_look_end},
    [WIO_CLASS_STATFS] = {NULL, wio_feed_look_end},
    [WIO_CLASS_PROCESS] = {wio_feed_process_begin, wio_feed_process_end},
    [WIO_CLASS_EXEC] = {wio_feed_process_begin, NULL},
    [WIO_CLASS_WAIT] = {NULL, wio_feed_process_end},
    [WIO_CLASS_POLL] = {NULL, wio_feed_polled},
    [WIO_CLASS_THREAD] = {wio_feed_process_begin, wio_feed_process_end},
    [WIO_CLASS_MUTEX] = {NULL, wio_feed_thread_end},
    [WIO_CLASS_UNLOCK] = {wio_feed_thread_begin, NULL},
    [WIO_CLASS_COND_WAIT] = {wio_feed_thread_begin, wio_feed_thread_end},
    [WIO_CLASS_COND_SIGNAL] = {wio_feed_thread_begin, NULL},
    [WIO_CLASS_BARRIER] = {wio_feed_thread_begin, NULL},
    [WIO_CLASS_SEM_POST] = {wio_feed_post_begin, wio_feed_post_end},
    [WIO_CLASS_SEM_INIT] = {wio_feed_semaphore_begin, NULL},
    [WIO_CLASS_SYNC_INIT] = {wio_feed_sync_begin, NULL},
    [WIO_CLASS_SEM_WAIT] = {wio_feed_take_begin, wio_feed_take_end},
    [WIO_CLASS_FUTEX_WAKE] = {wio_feed_thread_begin, NULL},
    [WIO_CLASS_FUTEX_WAIT] = {wio_feed_thread_begin, wio_feed_thread_end},
    [WIO_CLASS_MPI_LOCK] = {NULL, wio_feed_thread_end},
    [WIO_CLASS_MPI_UNLOCK] = {wio_feed_thread_begin, NULL},
    [WIO_CLASS_KILL] = {wio_feed_kill, NULL},
    [WIO_CLASS_SIGWAIT] = {NULL, wio_feed_sigwait},
    [WIO_CLASS_MPI_COMM] = {wio_feed_mpi, NULL},
    [WIO_CLASS_MPI_SEND] = {wio_feed_mpi, NULL},
    [WIO_CLASS_MPI_RECV] = {wio_feed_mpi, NULL},
    [WIO_CLASS_MPI_DONE] = {wio_feed_mpi, NULL},
    [WIO_CLASS_MPI_ALL] = {wio_feed_mpi, NULL},
    [WIO_CLASS_MPI_LOOSE] = {wio_feed_mpi, NULL},
    [WIO_CLASS_MPI_FROM_ROOT] = {wio_feed_mpi, NULL},
    [WIO_CLASS_MPI_TO_ROOT] = {wio_feed_mpi, NULL},
    [WIO_CLASS_MPI_SCAN] = {wio_feed_mpi, NULL},
};

/* All that ended before `now_ns`. What ends just then comes after what begins: a release that an
 * acquire waited for began before the acquire ended, in however short a time. */
static enum wio_status end_until(struct wio_feed *feed, uint64_t now_ns)
{
    struct wio_event event;
    while (wio_feed_ended(feed, now_ns, &event)) {
        WIO_TRY(rules[wio_feed_class(&event)].end(feed, &event));
    }
    return WIO_OK;
}

enum wio_status wio_feed_event(struct wio_feed *feed, const struct wio_event *event)
{
    WIO_PRE(event->stream < feed->params.stream_count);
    WIO_TRY(end_until(feed, event->t_ns));
    if ((event->flags & WIO_EVENT_CAUSED) == 0) {
        feed->callers[wio_feed_stream(feed, event)->thread] = event->seq;
    }
    WIO_TRY(wio_feed_look_begin(feed, event));
    if (event->error == 0) {
        WIO_TRY(wio_feed_rename(feed, event));
    }
    unsigned class = wio_feed_class(event);
    if (rules[class].begin != NULL) {
        WIO_TRY(rules[class].begin(feed, event));
    }
    if (rules[class].end != NULL) {
        WIO_TRY(wio_feed_end_later(feed, event));
    }
    return wio_feed_count_event(feed, event);
}

/* Where several threads take from one object a take has no fixed giver: first come, first served.
 */
static void settle_classes(struct wio_feed *feed)
{
    for (size_t i = 0; i < feed->edges->edge_count; i++) {
        struct wio_edge *edge = &feed->edges->edges[i];
        if (edge->object == 0 || edge->object >= feed->object_count ||
            edge->class != WIO_EDGE_HARD) {
            continue;
        }
        const struct wio_feed_state *state = &feed->objects[edge->object];
        bool is_queue = state->object.kind == WIO_FEED_PIPE ||
                        state->object.kind == WIO_FEED_SEMAPHORE ||
                        state->object.kind == WIO_FEED_EVENTFD;
        if (is_queue && state->is_shared) {
            edge->class = WIO_EDGE_QUEUE;
        }
    }
}

enum wio_status wio_feed_finish(struct wio_feed *feed)
{
    WIO_TRY(end_until(feed, UINT64_MAX));
    WIO_TRY(wio_feed_mpi_finish(feed));
    settle_classes(feed);
    return WIO_OK;
}

size_t wio_feed_wait_count(const struct wio_feed *feed)
{
    return feed->wait_count;
}

const struct wio_feed_wait *wio_feed_wait(const struct wio_feed *feed, size_t i)
{
    return &feed->waits[i];
}

struct wio_match_left wio_feed_left(const struct wio_feed *feed)
{
    return wio_match_left(feed->match);
}
