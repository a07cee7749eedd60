/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Process images and their threads: parents, children, what exec goes on in, and the edges out of a
 * creation and into the end of an image. Pid, parent and time tell which image a call made.
 */
#include "causal/files/files.h"
#include "causal/threads/sync.h"

/* Images by parent, the earliest first. */
static void tie_images(struct wio_feed *feed)
{
    const struct wio_feed_params *params = &feed->params;
    for (uint32_t i = 0; i < params->process_count; i++) {
        feed->images[i] = (struct wio_feed_image){.successor = WIO_FEED_NONE,
                                                  .main_stream = WIO_FEED_NONE,
                                                  .first_stream = WIO_FEED_NONE,
                                                  .first_child = WIO_FEED_NONE,
                                                  .next_child = WIO_FEED_NONE,
                                                  .ranges = wio_feed_empty};
    }
    for (uint32_t i = params->process_count; i > 0; i--) {
        uint32_t parent = params->processes[i - 1].parent;
        if (parent >= params->process_count || parent == i - 1) {
            continue;
        }
        if (params->processes[parent].pid == params->processes[i - 1].pid &&
            params->processes[parent].host == params->processes[i - 1].host) {
            feed->images[parent].successor = i - 1;
        } else {
            feed->images[i - 1].next_child = feed->images[parent].first_child;
            feed->images[parent].first_child = i - 1;
        }
    }
}

/* The threads of each image. */
static void tie_streams(struct wio_feed *feed)
{
    for (uint32_t s = 0; s < feed->params.stream_count; s++) {
        const struct wio_feed_stream *stream = &feed->params.streams[s];
        struct wio_feed_image *image = &feed->images[stream->process];
        image->events_left += stream->events;
        feed->next_stream[s] = image->first_stream;
        image->first_stream = s;
        if (stream->tid == feed->params.processes[stream->process].pid && stream->events > 0) {
            image->main_stream = s;
        }
    }
}

static uint64_t first_ns_of(const void *context, uint32_t stream)
{
    const struct wio_feed_params *params = context;
    return params->streams[stream].first_ns;
}

/* Threads of one token behind each other, the earliest first. */
static enum wio_status tie_tokens(struct wio_feed *feed, uint32_t *order, uint32_t *scratch)
{
    uint32_t count = feed->params.stream_count;
    for (uint32_t s = 0; s < count; s++) {
        order[s] = s;
        feed->same_token[s] = WIO_FEED_NONE;
    }
    wio_stable_sort(order, scratch, count, first_ns_of, &feed->params);
    for (uint32_t i = count; i > 0; i--) {
        const struct wio_feed_stream *stream = &feed->params.streams[order[i - 1]];
        if (stream->token != 0) {
            feed->same_token[order[i - 1]] =
                wio_pair_map_get(&feed->thread_of, stream->process, stream->token);
            WIO_TRY(
                wio_pair_map_put(&feed->thread_of, stream->process, stream->token, order[i - 1]));
        }
    }
    return WIO_OK;
}

static enum wio_status tie(struct wio_feed *feed)
{
    const struct wio_alloc *alloc = &feed->alloc;
    uint32_t *order = wio_alloc_array(alloc, feed->params.stream_count, sizeof(*order));
    uint32_t *scratch = wio_alloc_array(alloc, feed->params.stream_count, sizeof(*scratch));
    tie_images(feed);
    tie_streams(feed);
    enum wio_status status =
        order == NULL || scratch == NULL ? WIO_ERR_NOMEM : tie_tokens(feed, order, scratch);
    alloc->put(alloc->context, order);
    alloc->put(alloc->context, scratch);
    return status;
}

enum wio_status wio_feed_processes_init(struct wio_feed *feed)
{
    feed->images = wio_alloc_array(&feed->alloc, feed->params.process_count, sizeof(*feed->images));
    feed->next_stream =
        wio_alloc_array(&feed->alloc, feed->params.stream_count, sizeof(*feed->next_stream));
    feed->same_token =
        wio_alloc_array(&feed->alloc, feed->params.stream_count, sizeof(*feed->same_token));
    bool is_complete =
        feed->images != NULL && feed->next_stream != NULL && feed->same_token != NULL;
    return is_complete ? tie(feed) : WIO_ERR_NOMEM;
}

void wio_feed_processes_fini(struct wio_feed *feed)
{
    for (uint32_t i = 0; feed->images != NULL && i < feed->params.process_count; i++) {
        feed->alloc.put(feed->alloc.context, feed->images[i].fds);
    }
    feed->alloc.put(feed->alloc.context, feed->images);
    feed->alloc.put(feed->alloc.context, feed->next_stream);
    feed->alloc.put(feed->alloc.context, feed->same_token);
}

enum wio_status wio_feed_bear(struct wio_feed *feed, const struct wio_event *event, uint32_t stream,
                              enum wio_evidence evidence)
{
    const struct wio_feed_stream *child = &feed->params.streams[stream];
    struct wio_point by = wio_feed_point(feed, event);
    if (child->thread == by.thread) {
        return WIO_OK;
    }
    wio_match_born(feed->match, child->thread, child->first_seq, by);
    return wio_feed_edge_from_before(feed, (struct wio_edge){.from_thread = by.thread,
                                                             .from_op = by.op,
                                                             .to_thread = child->thread,
                                                             .to_op = child->first_seq,
                                                             .class = WIO_EDGE_HARD,
                                                             .evidence = evidence});
}

/* Images that are born leave the list: a shell that starts many programs would else pass all of
 * them each time. */
static uint32_t drop_born(struct wio_feed *feed, uint32_t *link)
{
    while (*link != WIO_FEED_NONE && feed->images[*link].is_born) {
        *link = feed->images[*link].next_child;
    }
    return *link;
}

uint32_t wio_feed_first_unborn(struct wio_feed *feed, uint32_t image)
{
    return drop_born(feed, &feed->images[image].first_child);
}

uint32_t wio_feed_next_unborn(struct wio_feed *feed, uint32_t child)
{
    return drop_born(feed, &feed->images[child].next_child);
}

uint32_t wio_feed_find_child(struct wio_feed *feed, uint32_t image, int64_t pid)
{
    uint32_t child = wio_feed_first_unborn(feed, image);
    while (child != WIO_FEED_NONE && feed->params.processes[child].pid != pid) {
        child = wio_feed_next_unborn(feed, child);
    }
    return child;
}

enum wio_status wio_feed_remember_image(struct wio_feed *feed, uint32_t image)
{
    const struct wio_feed_process *process = &feed->params.processes[image];
    return wio_pair_map_put(&feed->image_of, process->host, (uint32_t)process->pid, image);
}

enum wio_status wio_feed_make_image(struct wio_feed *feed, const struct wio_event *event,
                                    uint32_t child, bool is_program)
{
    if (child == WIO_FEED_NONE) {
        return WIO_OK;
    }
    feed->images[child].is_born = true;
    WIO_TRY(wio_feed_inherit(feed, wio_feed_stream(feed, event)->process, child, is_program));
    WIO_TRY(wio_feed_remember_image(feed, child));
    uint32_t stream = feed->images[child].main_stream;
    return stream == WIO_FEED_NONE ? WIO_OK
                                   : wio_feed_bear(feed, event, stream, WIO_EVIDENCE_PROCESS);
}

enum wio_status wio_feed_after_stream(struct wio_feed *feed, const struct wio_event *to,
                                      uint32_t stream, enum wio_evidence evidence)
{
    const struct wio_feed_stream *child = &feed->params.streams[stream];
    struct wio_point point = wio_feed_point(feed, to);
    if (child->events == 0) {
        return WIO_OK;
    }
    return wio_feed_edge(feed, (struct wio_edge){.from_thread = child->thread,
                                                 .from_op = child->first_seq + child->events - 1,
                                                 .to_thread = point.thread,
                                                 .to_op = point.op,
                                                 .class = WIO_EDGE_HARD,
                                                 .evidence = evidence});
}

enum wio_status wio_feed_after_process(struct wio_feed *feed, const struct wio_event *to,
                                       int64_t pid, enum wio_evidence evidence)
{
    uint32_t image = wio_pair_map_get(&feed->image_of, wio_feed_host(feed, to), (uint32_t)pid);
    if (image == WIO_FEED_NONE || feed->images[image].events_left > 0) {
        return WIO_OK; /* not recorded, or it lives: it was stopped, or its pid came again */
    }
    for (uint32_t s = feed->images[image].first_stream; s != WIO_FEED_NONE;
         s = feed->next_stream[s]) {
        WIO_TRY(wio_feed_after_stream(feed, to, s, evidence));
    }
    return WIO_OK;
}
