/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Process images and their threads: parents, children, what exec goes on in, and the edges out of a
 * creation and into the end of an image. Pid, parent and time tell which image a call made.
 */
#include "causal/files/files.h"
#include "causal/threads/sync.h"

/* Images by parent, the earliest first. */
static void tie_images(struct wio_infer *infer)
{
    const struct wio_infer_params *params = &infer->params;
    for (uint32_t i = 0; i < params->process_count; i++) {
        infer->processes.images[i] = (struct wio_infer_image){.successor = WIO_INFER_NONE,
                                                              .main_stream = WIO_INFER_NONE,
                                                              .first_stream = WIO_INFER_NONE,
                                                              .first_child = WIO_INFER_NONE,
                                                              .next_child = WIO_INFER_NONE,
                                                              .ranges = wio_infer_empty};
    }
    for (uint32_t i = params->process_count; i > 0; i--) {
        uint32_t parent = params->processes[i - 1].parent;
        if (parent >= params->process_count || parent == i - 1) {
            continue;
        }
        if (params->processes[parent].pid == params->processes[i - 1].pid &&
            params->processes[parent].host == params->processes[i - 1].host) {
            infer->processes.images[parent].successor = i - 1;
        } else {
            infer->processes.images[i - 1].next_child = infer->processes.images[parent].first_child;
            infer->processes.images[parent].first_child = i - 1;
        }
    }
}

/* The threads of each image. */
static void tie_streams(struct wio_infer *infer)
{
    for (uint32_t s = 0; s < infer->params.stream_count; s++) {
        const struct wio_infer_stream *stream = &infer->params.streams[s];
        struct wio_infer_image *image = &infer->processes.images[stream->process];
        image->events_left += stream->events;
        infer->processes.next_stream[s] = image->first_stream;
        image->first_stream = s;
        if (stream->tid == infer->params.processes[stream->process].pid && stream->events > 0) {
            image->main_stream = s;
        }
    }
}

static uint64_t first_ns_of(const void *context, uint32_t stream)
{
    const struct wio_infer_params *params = context;
    return params->streams[stream].first_ns;
}

/* Threads of one token behind each other, the earliest first. */
static enum wio_status tie_tokens(struct wio_infer *infer, uint32_t *order, uint32_t *scratch)
{
    uint32_t count = infer->params.stream_count;
    for (uint32_t s = 0; s < count; s++) {
        order[s] = s;
        infer->processes.same_token[s] = WIO_INFER_NONE;
    }
    wio_stable_sort(order, scratch, count, first_ns_of, &infer->params);
    for (uint32_t i = count; i > 0; i--) {
        const struct wio_infer_stream *stream = &infer->params.streams[order[i - 1]];
        if (stream->token != 0) {
            infer->processes.same_token[order[i - 1]] =
                wio_pair_map_get(&infer->processes.thread_of, stream->process, stream->token);
            WIO_TRY(wio_pair_map_put(&infer->processes.thread_of, stream->process, stream->token,
                                     order[i - 1]));
        }
    }
    return WIO_OK;
}

static enum wio_status tie(struct wio_infer *infer)
{
    const struct wio_alloc *alloc = &infer->alloc;
    uint32_t *order = wio_alloc_array(alloc, infer->params.stream_count, sizeof(*order));
    uint32_t *scratch = wio_alloc_array(alloc, infer->params.stream_count, sizeof(*scratch));
    tie_images(infer);
    tie_streams(infer);
    enum wio_status status =
        order == NULL || scratch == NULL ? WIO_ERR_NOMEM : tie_tokens(infer, order, scratch);
    alloc->put(alloc->context, order);
    alloc->put(alloc->context, scratch);
    return status;
}

enum wio_status wio_infer_processes_init(struct wio_infer *infer)
{
    wio_pair_map_init(&infer->processes.thread_of, &infer->alloc);
    wio_pair_map_init(&infer->processes.made_of, &infer->alloc);
    wio_pair_map_init(&infer->processes.image_of, &infer->alloc);
    wio_pair_map_init(&infer->processes.helper_of, &infer->alloc);
    infer->processes.images = wio_alloc_array(&infer->alloc, infer->params.process_count,
                                              sizeof(*infer->processes.images));
    infer->processes.next_stream = wio_alloc_array(&infer->alloc, infer->params.stream_count,
                                                   sizeof(*infer->processes.next_stream));
    infer->processes.same_token = wio_alloc_array(&infer->alloc, infer->params.stream_count,
                                                  sizeof(*infer->processes.same_token));
    bool is_complete = infer->processes.images != NULL && infer->processes.next_stream != NULL &&
                       infer->processes.same_token != NULL;
    return is_complete ? tie(infer) : WIO_ERR_NOMEM;
}

void wio_infer_processes_fini(struct wio_infer *infer)
{
    wio_pair_map_fini(&infer->processes.thread_of);
    wio_pair_map_fini(&infer->processes.made_of);
    wio_pair_map_fini(&infer->processes.image_of);
    wio_pair_map_fini(&infer->processes.helper_of);
    for (uint32_t i = 0; infer->processes.images != NULL && i < infer->params.process_count; i++) {
        infer->alloc.put(infer->alloc.context, infer->processes.images[i].fds);
    }
    infer->alloc.put(infer->alloc.context, infer->processes.images);
    infer->alloc.put(infer->alloc.context, infer->processes.next_stream);
    infer->alloc.put(infer->alloc.context, infer->processes.same_token);
}

enum wio_status wio_infer_bear(struct wio_infer *infer, const struct wio_event *event,
                               uint32_t stream, enum wio_evidence evidence)
{
    const struct wio_infer_stream *child = &infer->params.streams[stream];
    struct wio_point by = wio_infer_point(infer, event);
    if (child->thread == by.thread) {
        return WIO_OK;
    }
    wio_match_born(infer->match, child->thread, child->first_seq, by);
    return wio_infer_edge_from_before(infer, (struct wio_edge){.from_thread = by.thread,
                                                               .from_op = by.op,
                                                               .to_thread = child->thread,
                                                               .to_op = child->first_seq,
                                                               .class = WIO_EDGE_HARD,
                                                               .evidence = evidence});
}

/* Images that are born leave the list: a shell that starts many programs would else pass all of
 * them each time. */
static uint32_t drop_born(struct wio_infer *infer, uint32_t *link)
{
    while (*link != WIO_INFER_NONE && infer->processes.images[*link].is_born) {
        *link = infer->processes.images[*link].next_child;
    }
    return *link;
}

uint32_t wio_infer_first_unborn(struct wio_infer *infer, uint32_t image)
{
    return drop_born(infer, &infer->processes.images[image].first_child);
}

uint32_t wio_infer_next_unborn(struct wio_infer *infer, uint32_t child)
{
    return drop_born(infer, &infer->processes.images[child].next_child);
}

uint32_t wio_infer_find_child(struct wio_infer *infer, uint32_t image, int64_t pid)
{
    uint32_t child = wio_infer_first_unborn(infer, image);
    while (child != WIO_INFER_NONE && infer->params.processes[child].pid != pid) {
        child = wio_infer_next_unborn(infer, child);
    }
    return child;
}

enum wio_status wio_infer_remember_image(struct wio_infer *infer, uint32_t image)
{
    const struct wio_infer_process *process = &infer->params.processes[image];
    return wio_pair_map_put(&infer->processes.image_of, process->host, (uint32_t)process->pid,
                            image);
}

enum wio_status wio_infer_make_image(struct wio_infer *infer, const struct wio_event *event,
                                     uint32_t child, bool is_program)
{
    if (child == WIO_INFER_NONE) {
        return WIO_OK;
    }
    infer->processes.images[child].is_born = true;
    WIO_TRY(wio_infer_inherit(infer, wio_infer_stream(infer, event)->process, child, is_program));
    WIO_TRY(wio_infer_remember_image(infer, child));
    uint32_t stream = infer->processes.images[child].main_stream;
    return stream == WIO_INFER_NONE ? WIO_OK
                                    : wio_infer_bear(infer, event, stream, WIO_EVIDENCE_PROCESS);
}

enum wio_status wio_infer_after_stream(struct wio_infer *infer, const struct wio_event *to,
                                       uint32_t stream, enum wio_evidence evidence)
{
    const struct wio_infer_stream *child = &infer->params.streams[stream];
    struct wio_point point = wio_infer_point(infer, to);
    if (child->events == 0) {
        return WIO_OK;
    }
    return wio_infer_edge(infer, (struct wio_edge){.from_thread = child->thread,
                                                   .from_op = child->first_seq + child->events - 1,
                                                   .to_thread = point.thread,
                                                   .to_op = point.op,
                                                   .class = WIO_EDGE_HARD,
                                                   .evidence = evidence});
}

enum wio_status wio_infer_after_process(struct wio_infer *infer, const struct wio_event *to,
                                        int64_t pid, enum wio_evidence evidence)
{
    uint32_t image =
        wio_pair_map_get(&infer->processes.image_of, wio_infer_host(infer, to), (uint32_t)pid);
    if (image == WIO_INFER_NONE || infer->processes.images[image].events_left > 0) {
        return WIO_OK; /* not recorded, or it lives: it was stopped, or its pid came again */
    }
    for (uint32_t s = infer->processes.images[image].first_stream; s != WIO_INFER_NONE;
         s = infer->processes.next_stream[s]) {
        WIO_TRY(wio_infer_after_stream(infer, to, s, evidence));
    }
    return WIO_OK;
}
