/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds each event to the rules of its class: its begin at once, its end (kept in a heap) once
 * every event that began before that end has been fed.
 */
#include "causal/infer/infer.h"

#include "causal/files/files.h"
#include "causal/infer/name.h"
#include "causal/threads/sync.h"

/* What each mechanism keeps, in its own file: begun in this order. */
static const struct {
    enum wio_status (*init)(struct wio_infer *infer); /* NULL: zeros are enough */
    void (*fini)(struct wio_infer *infer);            /* of what init has begun, if it failed */
} mechanisms[] = {
    {wio_infer_lists_init, wio_infer_lists_fini},
    {wio_infer_objects_init, wio_infer_objects_fini},
    {NULL, wio_infer_pending_fini},
    {wio_infer_names_init, wio_infer_names_fini},
    {wio_infer_files_init, wio_infer_files_fini},
    {wio_infer_fifos_init, wio_infer_fifos_fini},
    {wio_infer_closings_init, wio_infer_closings_fini},
    {wio_infer_connects_init, wio_infer_connects_fini},
    {wio_infer_messages_init, wio_infer_messages_fini},
    {wio_infer_ranges_init, wio_infer_ranges_fini},
    {NULL, wio_infer_waits_fini},
    {wio_infer_processes_init, wio_infer_processes_fini},
    {wio_infer_signals_init, wio_infer_signals_fini},
    {wio_infer_mpi_init, wio_infer_mpi_fini},
};

void wio_infer_destroy(struct wio_infer *infer)
{
    if (infer == NULL) {
        return;
    }
    const struct wio_alloc alloc = infer->alloc;
    while (infer->begun > 0) {
        mechanisms[--infer->begun].fini(infer);
    }
    wio_match_destroy(infer->match);
    alloc.put(alloc.context, infer->callers);
    alloc.put(alloc.context, infer);
}

static enum wio_status init(struct wio_infer *infer)
{
    infer->callers = wio_alloc_array(&infer->alloc, infer->edges->threads, sizeof(*infer->callers));
    if (infer->callers == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(wio_match_create(infer->edges, &infer->match));
    while (infer->begun < WIO_ARRAY_SIZE(mechanisms)) {
        enum wio_status (*begin)(struct wio_infer *) = mechanisms[infer->begun++].init;
        WIO_TRY(begin != NULL ? begin(infer) : WIO_OK);
    }
    return WIO_OK;
}

enum wio_status wio_infer_create(const struct wio_infer_params *params, struct wio_edges *edges,
                                 struct wio_infer **infer_out)
{
    const struct wio_alloc *alloc = &edges->alloc;
    struct wio_infer *infer = alloc->get(alloc->context, sizeof(*infer));
    if (infer == NULL) {
        return WIO_ERR_NOMEM;
    }
    infer->params = *params;
    infer->edges = edges;
    infer->alloc = *alloc;
    enum wio_status status = init(infer);
    if (status != WIO_OK) {
        wio_infer_destroy(infer);
        return status;
    }
    *infer_out = infer;
    return WIO_OK;
}

static enum wio_status tell_message(void *context, const struct wio_match_meeting *meeting)
{
    struct wio_infer *infer = context;
    const struct wio_clock_message message = {.sent_ns = meeting->sent_ns,
                                              .received_ns = meeting->received_ns,
                                              .from =
                                                  wio_infer_host_of(infer, meeting->from_thread),
                                              .to = wio_infer_host_of(infer, meeting->to_thread)};
    return message.from == message.to ? WIO_OK : infer->watch.tell(infer->watch.context, &message);
}

void wio_infer_watch(struct wio_infer *infer, wio_infer_watch_fn *watch, void *context)
{
    infer->watch.tell = watch;
    infer->watch.context = context;
    wio_match_watch(infer->match, tell_message, infer);
}

uint64_t wio_infer_contradictions(const struct wio_infer *infer, struct wio_error *first_out)
{
    *first_out = infer->contradictions.first;
    return infer->contradictions.count;
}

static enum wio_status read_first(struct wio_infer *infer, const struct wio_event *event)
{
    return wio_infer_read(infer, event, event->fd, event->path);
}

static enum wio_status read_second(struct wio_infer *infer, const struct wio_event *event)
{
    return wio_infer_read(infer, event, event->fd2, event->path2);
}

static enum wio_status write_first(struct wio_infer *infer, const struct wio_event *event)
{
    return wio_infer_write(infer, event, event->fd, event->path);
}

/* accept may wait for long: its descriptor is there at its end. */
static enum wio_status begin_channel(struct wio_infer *infer, const struct wio_event *event)
{
    WIO_TRY(wio_infer_channel_begin(infer, event));
    return event->op == WIO_OP_accept ? WIO_OK : wio_infer_descriptors(infer, event);
}

static enum wio_status end_channel(struct wio_infer *infer, const struct wio_event *event)
{
    WIO_TRY(wio_infer_connect_end(infer, event));
    return event->op == WIO_OP_accept ? wio_infer_descriptors(infer, event) : WIO_OK;
}

static enum wio_status begin_open(struct wio_infer *infer, const struct wio_event *event)
{
    return event->op == WIO_OP_popen ? wio_infer_helper_begin(infer, event)
                                     : wio_infer_fifo_begin(infer, event);
}

static enum wio_status end_open(struct wio_infer *infer, const struct wio_event *event)
{
    WIO_TRY(wio_infer_descriptors(infer, event));
    WIO_TRY(wio_infer_fifo_end(infer, event));
    return wio_infer_look_end(infer, event);
}

static enum wio_status begin_control(struct wio_infer *infer, const struct wio_event *event)
{
    WIO_TRY(wio_infer_descriptors(infer, event));
    return wio_infer_lock_begin(infer, event);
}

/* The rules that run when an event of a class begins, and when it ends. */
static const struct {
    enum wio_status (*begin)(struct wio_infer *infer, const struct wio_event *event);
    enum wio_status (*end)(struct wio_infer *infer, const struct wio_event *event);
} rules[WIO_CLASS_COUNT] = {
    [WIO_CLASS_READ] = {NULL, read_first},
    [WIO_CLASS_ASYNC_READ] = {NULL, read_first},
    [WIO_CLASS_WRITE] = {write_first, NULL},
    [WIO_CLASS_ASYNC_WRITE] = {write_first, NULL},
    [WIO_CLASS_COPY] = {write_first, read_second},
    [WIO_CLASS_CHANNEL] = {begin_channel, end_channel},
    [WIO_CLASS_OPEN] = {begin_open, end_open},
    [WIO_CLASS_MKNOD] = {wio_infer_fifo_made, wio_infer_look_end},
    [WIO_CLASS_MKDIR] = {NULL, wio_infer_look_end},
    [WIO_CLASS_SYMLINK] = {NULL, wio_infer_look_end},
    [WIO_CLASS_LINK] = {NULL, wio_infer_look_end},
    [WIO_CLASS_CLOSE] = {wio_infer_descriptors, wio_infer_helper_end},
    [WIO_CLASS_DUP] = {wio_infer_descriptors, NULL},
    [WIO_CLASS_FCNTL] = {begin_control, wio_infer_lock_end},
    [WIO_CLASS_LOCK] = {wio_infer_lock_begin, wio_infer_lock_end},
    [WIO_CLASS_STAT] = {NULL, wio_infer_look_end},
    [WIO_CLASS_ACCESS] = {NULL, wio_infer_look_end},
    [WIO_CLASS_READLINK] = {NULL, wio_infer_look_end},
    [WIO_CLASS_STATFS] = {NULL, wio_infer_look_end},
    [WIO_CLASS_PROCESS] = {wio_infer_process_begin, wio_infer_process_end},
    [WIO_CLASS_EXEC] = {wio_infer_process_begin, NULL},
    [WIO_CLASS_WAIT] = {NULL, wio_infer_process_end},
    [WIO_CLASS_POLL] = {NULL, wio_infer_polled},
    [WIO_CLASS_THREAD] = {wio_infer_process_begin, wio_infer_process_end},
    [WIO_CLASS_MUTEX] = {NULL, wio_infer_thread_end},
    [WIO_CLASS_UNLOCK] = {wio_infer_thread_begin, NULL},
    [WIO_CLASS_COND_WAIT] = {wio_infer_thread_begin, wio_infer_thread_end},
    [WIO_CLASS_COND_SIGNAL] = {wio_infer_thread_begin, NULL},
    [WIO_CLASS_BARRIER] = {wio_infer_thread_begin, NULL},
    [WIO_CLASS_SEM_POST] = {wio_infer_post_begin, wio_infer_post_end},
    [WIO_CLASS_SEM_INIT] = {wio_infer_semaphore_begin, NULL},
    [WIO_CLASS_SYNC_INIT] = {wio_infer_sync_begin, NULL},
    [WIO_CLASS_SEM_WAIT] = {wio_infer_take_begin, wio_infer_take_end},
    [WIO_CLASS_FUTEX_WAKE] = {wio_infer_thread_begin, NULL},
    [WIO_CLASS_FUTEX_WAIT] = {wio_infer_thread_begin, wio_infer_thread_end},
    [WIO_CLASS_MPI_LOCK] = {NULL, wio_infer_thread_end},
    [WIO_CLASS_MPI_UNLOCK] = {wio_infer_thread_begin, NULL},
    [WIO_CLASS_KILL] = {wio_infer_kill, NULL},
    [WIO_CLASS_SIGWAIT] = {NULL, wio_infer_sigwait},
    [WIO_CLASS_MPI_COMM] = {wio_infer_mpi, NULL},
    [WIO_CLASS_MPI_SEND] = {wio_infer_mpi, NULL},
    [WIO_CLASS_MPI_RECV] = {wio_infer_mpi, NULL},
    [WIO_CLASS_MPI_DONE] = {wio_infer_mpi, NULL},
    [WIO_CLASS_MPI_ALL] = {wio_infer_mpi, NULL},
    [WIO_CLASS_MPI_LOOSE] = {wio_infer_mpi, NULL},
    [WIO_CLASS_MPI_FROM_ROOT] = {wio_infer_mpi, NULL},
    [WIO_CLASS_MPI_TO_ROOT] = {wio_infer_mpi, NULL},
    [WIO_CLASS_MPI_SCAN] = {wio_infer_mpi, NULL},
};

/* All that ended before `now_ns`. What ends just then comes after what begins: a release that an
 * acquire waited for began before the acquire ended, in however short a time. */
static enum wio_status end_until(struct wio_infer *infer, uint64_t now_ns)
{
    struct wio_event event;
    while (wio_infer_ended(infer, now_ns, &event)) {
        WIO_TRY(rules[wio_infer_class(&event)].end(infer, &event));
    }
    return WIO_OK;
}

enum wio_status wio_infer_event(struct wio_infer *infer, const struct wio_event *event)
{
    WIO_PRE(event->stream < infer->params.stream_count);
    WIO_TRY(end_until(infer, event->t_ns));
    if ((event->flags & WIO_EVENT_CAUSED) == 0) {
        infer->callers[wio_infer_stream(infer, event)->thread] = event->seq;
    }
    WIO_TRY(wio_infer_look_begin(infer, event));
    if (event->error == 0) {
        WIO_TRY(wio_infer_rename(infer, event));
    }
    unsigned class = wio_infer_class(event);
    if (rules[class].begin != NULL) {
        WIO_TRY(rules[class].begin(infer, event));
    }
    if (rules[class].end != NULL) {
        WIO_TRY(wio_infer_end_later(infer, event));
    }
    return wio_infer_count_event(infer, event);
}

/* Where several threads take from one object a take has no fixed giver: first come, first served.
 */
static void settle_classes(struct wio_infer *infer)
{
    for (size_t i = 0; i < infer->edges->edge_count; i++) {
        struct wio_edge *edge = &infer->edges->edges[i];
        if (edge->object == 0 || edge->object >= infer->objects.count ||
            edge->class != WIO_EDGE_HARD) {
            continue;
        }
        const struct wio_infer_state *state = &infer->objects.items[edge->object];
        bool is_queue = state->object.kind == WIO_INFER_PIPE ||
                        state->object.kind == WIO_INFER_SEMAPHORE ||
                        state->object.kind == WIO_INFER_EVENTFD;
        if (is_queue && state->is_shared) {
            edge->class = WIO_EDGE_QUEUE;
        }
    }
}

enum wio_status wio_infer_finish(struct wio_infer *infer)
{
    WIO_TRY(end_until(infer, UINT64_MAX));
    WIO_TRY(wio_infer_mpi_finish(infer));
    settle_classes(infer);
    return WIO_OK;
}

size_t wio_infer_wait_count(const struct wio_infer *infer)
{
    return infer->waits.count;
}

const struct wio_infer_wait *wio_infer_wait(const struct wio_infer *infer, size_t i)
{
    return &infer->waits.items[i];
}

struct wio_match_left wio_infer_left(const struct wio_infer *infer)
{
    return wio_match_left(infer->match);
}
