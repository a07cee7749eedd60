/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes and threads: a child begins after the call that made it began, a wait ends after the
 * child's last event, a join after the thread's. Which image a call made is told by pid, parent and
 * time.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "causal/feed_files.h"
#include "causal/feed_sync.h"

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
    wio_causal_sort(order, scratch, count, first_ns_of, &feed->params);
    for (uint32_t i = count; i > 0; i--) {
        const struct wio_feed_stream *stream = &feed->params.streams[order[i - 1]];
        if (stream->token != 0) {
            feed->same_token[order[i - 1]] =
                wio_live_get(&feed->thread_of, stream->process, stream->token);
            WIO_TRY(wio_live_put(&feed->thread_of, stream->process, stream->token, order[i - 1]));
        }
    }
    return WIO_OK;
}

static enum wio_status tie(struct wio_feed *feed)
{
    const struct wio_alloc *alloc = &feed->alloc;
    uint32_t *order = wio_causal_array(alloc, feed->params.stream_count, sizeof(*order));
    uint32_t *scratch = wio_causal_array(alloc, feed->params.stream_count, sizeof(*scratch));
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
    feed->images =
        wio_causal_array(&feed->alloc, feed->params.process_count, sizeof(*feed->images));
    feed->next_stream =
        wio_causal_array(&feed->alloc, feed->params.stream_count, sizeof(*feed->next_stream));
    feed->same_token =
        wio_causal_array(&feed->alloc, feed->params.stream_count, sizeof(*feed->same_token));
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

/* The thread of `stream` was made by this event. */
static enum wio_status bear(struct wio_feed *feed, const struct wio_event *event, uint32_t stream,
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

/* Those that are born leave the list, or a shell that starts many programs would pass by all of
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

static enum wio_status remember_image(struct wio_feed *feed, uint32_t image)
{
    const struct wio_feed_process *process = &feed->params.processes[image];
    return wio_live_put(&feed->image_of, process->host, (uint32_t)process->pid, image);
}

enum wio_status wio_feed_make_image(struct wio_feed *feed, const struct wio_event *event,
                                    uint32_t child, bool is_program)
{
    if (child == WIO_FEED_NONE) {
        return WIO_OK;
    }
    feed->images[child].is_born = true;
    WIO_TRY(wio_feed_inherit(feed, wio_feed_stream(feed, event)->process, child, is_program));
    WIO_TRY(remember_image(feed, child));
    uint32_t stream = feed->images[child].main_stream;
    return stream == WIO_FEED_NONE ? WIO_OK : bear(feed, event, stream, WIO_EVIDENCE_PROCESS);
}

static enum wio_status make_process(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t image = wio_feed_stream(feed, event)->process;
    bool is_program = event->op == WIO_OP_posix_spawn || event->op == WIO_OP_posix_spawnp;
    if (event->op == WIO_OP_system) {
        return wio_feed_helper_begin(feed, event);
    }
    return event->result <= 0
               ? WIO_OK
               : wio_feed_make_image(feed, event, wio_feed_find_child(feed, image, event->result),
                                     is_program);
}

/* libc gives the token of a thread that was joined to the next one: of those to come it is the
 * first. */
static enum wio_status make_thread(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t image = wio_feed_stream(feed, event)->process;
    uint64_t token = (uint64_t)event->arg[0];
    uint32_t stream = wio_live_get(&feed->thread_of, image, token);
    if (stream == WIO_FEED_NONE) {
        return WIO_OK;
    }
    wio_live_remove(&feed->thread_of, image, token);
    if (feed->same_token[stream] != WIO_FEED_NONE) {
        WIO_TRY(wio_live_put(&feed->thread_of, image, token, feed->same_token[stream]));
    }
    WIO_TRY(wio_live_put(&feed->made_of, image, token, stream));
    return bear(feed, event, stream, WIO_EVIDENCE_THREAD);
}

/* A call that succeeded does not return: the next image goes on. */
static enum wio_status replace_image(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t image = wio_feed_stream(feed, event)->process;
    uint32_t next = feed->images[image].successor;
    if (event->error != 0 || next == WIO_FEED_NONE || feed->images[next].is_born ||
        feed->images[image].events_left != 1) {
        return WIO_OK; /* it failed, or another one follows */
    }
    feed->images[next].is_born = true;
    WIO_TRY(wio_feed_inherit(feed, image, next, true));
    WIO_TRY(wio_feed_pass_ranges(feed, event, next));
    WIO_TRY(remember_image(feed, next));
    uint32_t stream = feed->images[next].main_stream;
    return stream == WIO_FEED_NONE ? WIO_OK : bear(feed, event, stream, WIO_EVIDENCE_PROCESS);
}

enum wio_status wio_feed_process_begin(struct wio_feed *feed, const struct wio_event *event)
{
    switch (wio_feed_class(event)) {
    case WIO_CLASS_PROCESS:
        return make_process(feed, event);
    case WIO_CLASS_EXEC:
        return replace_image(feed, event);
    default:
        break;
    }
    bool creates = event->op == WIO_OP_pthread_create || event->op == WIO_OP_thrd_create;
    return creates && event->error == 0 ? make_thread(feed, event) : WIO_OK;
}

static enum wio_status after_stream(struct wio_feed *feed, const struct wio_event *to,
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
    uint32_t image = wio_live_get(&feed->image_of, wio_feed_host(feed, to), (uint32_t)pid);
    if (image == WIO_FEED_NONE || feed->images[image].events_left > 0) {
        return WIO_OK; /* not recorded, or it lives: it was stopped, or its pid came again */
    }
    for (uint32_t s = feed->images[image].first_stream; s != WIO_FEED_NONE;
         s = feed->next_stream[s]) {
        WIO_TRY(after_stream(feed, to, s, evidence));
    }
    return WIO_OK;
}

/* "anon_inode:[pidfd:12]": R-CHAN-9 */
static int64_t process_in_name(const struct wio_feed *feed, uint32_t string)
{
    const char *text = feed->params.text(feed->params.context, string);
    const char *colon = strrchr(text, ':');
    int64_t pid = 0;
    for (const char *at = colon + 1; *at >= '0' && *at <= '9' && pid < INT32_MAX; at++) {
        pid = pid * 10 + (*at - '0');
    }
    return pid;
}

enum wio_status wio_feed_polled(struct wio_feed *feed, const struct wio_event *event)
{
    if (event->result <= 0 || wio_feed_path_kind(feed, event->path) != WIO_FEED_PATH_PROCESS) {
        return WIO_OK;
    }
    return wio_feed_after_process(feed, event, process_in_name(feed, event->path),
                                  WIO_EVIDENCE_PROCESS);
}

static enum wio_status join_thread(struct wio_feed *feed, const struct wio_event *event)
{
    bool joins = event->op == WIO_OP_pthread_join || event->op == WIO_OP_thrd_join;
    if (!joins || event->error != 0 || event->result != 0) {
        return WIO_OK;
    }
    uint32_t stream = wio_live_get(&feed->made_of, wio_feed_stream(feed, event)->process,
                                   (uint64_t)event->arg[0]);
    return stream == WIO_FEED_NONE ? WIO_OK
                                   : after_stream(feed, event, stream, WIO_EVIDENCE_THREAD);
}

/* The signal that ended the child; 0 where none did. */
static int ended_by(const struct wio_event *event)
{
    const int status = (int)event->arg[0];
    if (event->op != WIO_OP_waitid) {
        return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }
    return event->arg[3] == CLD_KILLED || event->arg[3] == CLD_DUMPED ? status : 0;
}

enum wio_status wio_feed_process_end(struct wio_feed *feed, const struct wio_event *event)
{
    if (wio_feed_class(event) == WIO_CLASS_THREAD) {
        return join_thread(feed, event);
    }
    if (wio_feed_class(event) != WIO_CLASS_WAIT) {
        return wio_feed_helper_end(feed, event);
    }
    if (event->error != 0 || event->result <= 0) {
        return WIO_OK;
    }
    int signal = ended_by(event);
    WIO_TRY(signal > 0 ? wio_feed_after_kill(feed, event, event->result, signal) : WIO_OK);
    return wio_feed_after_process(feed, event, event->result, WIO_EVIDENCE_PROCESS);
}

enum wio_status wio_feed_count_event(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t image = wio_feed_stream(feed, event)->process;
    struct wio_feed_image *it = &feed->images[image];
    if (!it->is_born) { /* the first process, or one whose making was not recorded */
        it->is_born = true;
        WIO_TRY(remember_image(feed, image));
    }
    if (--it->events_left > 0) {
        return WIO_OK;
    }
    return wio_feed_close_all(feed, image, event);
}
