/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MPI: messages, collectives, requests. FORMAT.md#mpi.
 *
 * A receive that is not blocking says where its message came from when it has ended, but messages
 * are matched with receives in the order in which these were posted. So receives of one
 * communicator wait in a queue until those before them are done that might have taken their
 * message; and sends behind an MPI_Issend, whose end must be known.
 */
#include "causal/threads/sync.h"

/* Root, in members of the root's group of an intercommunicator that have no part (R-MPI-5). */
#define NO_PART (-2)

enum request_kind { REQUEST_RECEIVE, REQUEST_SEND, REQUEST_COLLECTIVE };

enum wio_status wio_infer_mpi_init(struct wio_infer *infer)
{
    wio_pair_map_init(&infer->mpi.rank_of, &infer->alloc);
    wio_pair_map_init(&infer->mpi.request_of, &infer->alloc);
    wio_pair_map_init(&infer->mpi.queue_of, &infer->alloc);
    infer->mpi.request_free = WIO_INFER_NONE;
    return WIO_OK;
}

void wio_infer_mpi_fini(struct wio_infer *infer)
{
    wio_pair_map_fini(&infer->mpi.rank_of);
    wio_pair_map_fini(&infer->mpi.request_of);
    wio_pair_map_fini(&infer->mpi.queue_of);
    infer->alloc.put(infer->alloc.context, infer->mpi.ranks);
    infer->alloc.put(infer->alloc.context, infer->mpi.requests);
    infer->alloc.put(infer->alloc.context, infer->mpi.queues);
}

static enum wio_status communicator_of(struct wio_infer *infer, const struct wio_event *event,
                                       uint32_t *object_out)
{
    return wio_infer_find_object(
        infer,
        (struct wio_infer_object){.kind = WIO_INFER_COMMUNICATOR, .id = (uint64_t)event->arg[0]},
        object_out);
}

static enum wio_status note_rank(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    WIO_TRY(communicator_of(infer, event, &object));
    WIO_TRY(wio_alloc_room(&infer->alloc, (void **)&infer->mpi.ranks, &infer->mpi.rank_room,
                           (size_t)infer->mpi.rank_count + 1, sizeof(*infer->mpi.ranks)));
    infer->mpi.ranks[infer->mpi.rank_count] = (struct wio_infer_rank){
        (uint32_t)event->arg[1], (uint32_t)event->arg[2], event->arg[3] == 1};
    return wio_pair_map_put(&infer->mpi.rank_of, wio_infer_stream(infer, event)->process, object,
                            infer->mpi.rank_count++);
}

/* NULL where this image's rank in the communicator is not known. */
static const struct wio_infer_rank *rank_of(const struct wio_infer *infer,
                                            const struct wio_event *event, uint32_t object)
{
    uint32_t i =
        wio_pair_map_get(&infer->mpi.rank_of, wio_infer_stream(infer, event)->process, object);
    return i == WIO_INFER_NONE ? NULL : &infer->mpi.ranks[i];
}

static enum wio_status new_request(struct wio_infer *infer, enum request_kind kind,
                                   uint32_t *number_out)
{
    uint32_t number = infer->mpi.request_free;
    if (number != WIO_INFER_NONE) {
        infer->mpi.request_free = infer->mpi.requests[number].next;
    } else {
        WIO_TRY(wio_alloc_room(&infer->alloc, (void **)&infer->mpi.requests,
                               &infer->mpi.request_room, (size_t)infer->mpi.request_count + 1,
                               sizeof(*infer->mpi.requests)));
        number = infer->mpi.request_count++;
    }
    infer->mpi.requests[number] =
        (struct wio_infer_request){.what = kind, .queue = WIO_INFER_NONE, .next = WIO_INFER_NONE};
    *number_out = number;
    return WIO_OK;
}

static void free_request(struct wio_infer *infer, uint32_t number)
{
    infer->mpi.requests[number].next = infer->mpi.request_free;
    infer->mpi.request_free = number;
}

static enum wio_status queue_of(struct wio_infer *infer, const struct wio_event *event,
                                uint32_t object, enum request_kind kind, uint32_t *queue_out)
{
    uint64_t side = (uint64_t)wio_infer_stream(infer, event)->process << 1 | kind;
    *queue_out = wio_pair_map_get(&infer->mpi.queue_of, side, object);
    if (*queue_out != WIO_INFER_NONE) {
        return WIO_OK;
    }
    WIO_TRY(wio_alloc_room(&infer->alloc, (void **)&infer->mpi.queues, &infer->mpi.queue_room,
                           (size_t)infer->mpi.queue_count + 1, sizeof(*infer->mpi.queues)));
    infer->mpi.queues[infer->mpi.queue_count] = wio_infer_empty;
    *queue_out = infer->mpi.queue_count;
    return wio_pair_map_put(&infer->mpi.queue_of, side, object, infer->mpi.queue_count++);
}

static enum wio_status match(struct wio_infer *infer, enum request_kind kind,
                             const struct wio_message *message)
{
    return kind == REQUEST_SEND ? wio_match_send(infer->match, message)
                                : wio_match_receive(infer->match, message);
}

/* Requests under way that a message may pass, since none of them can have it instead; behind more
 * of them it waits. */
#define AHEAD_MOST 16u

struct ahead {
    const struct wio_message *messages[AHEAD_MOST];
    unsigned count;
};

/* Posted for this message, too, as far as is known of it? Any source, any tag: R-MPI-2. */
static bool may_be(const struct wio_message *posted, const struct wio_message *message)
{
    return posted->destination == message->destination &&
           (posted->source == message->source || posted->source > INT32_MAX) &&
           (posted->tag == message->tag || posted->tag == -1);
}

static bool is_blocked(const struct ahead *ahead, const struct wio_message *message)
{
    for (unsigned i = 0; i < ahead->count; i++) {
        if (may_be(ahead->messages[i], message)) {
            return true;
        }
    }
    return false;
}

/* Out of the queue: the one behind `before`, or the first. */
static void dequeue(struct wio_infer *infer, struct wio_infer_list *list, uint32_t before)
{
    uint32_t *link = before == WIO_INFER_NONE ? &list->first : &infer->mpi.requests[before].next;
    uint32_t number = *link;
    *link = infer->mpi.requests[number].next;
    list->last = list->last == number ? before : list->last;
    list->count--;
    free_request(infer, number);
}

/* Matches the requests that are done, in the order of the queue, except where one ahead could have
 * the message. A receive that stays open, for a message of another kind, does not hold up those
 * behind it. */
static enum wio_status flush(struct wio_infer *infer, uint32_t queue)
{
    struct wio_infer_list *list = &infer->mpi.queues[queue];
    struct ahead ahead = {.count = 0};
    uint32_t before = WIO_INFER_NONE;
    uint32_t next;
    for (uint32_t i = list->first; list->count > 0 && i != WIO_INFER_NONE; i = next) {
        const struct wio_infer_request *request = &infer->mpi.requests[i];
        next = request->next;
        if (request->is_done && !is_blocked(&ahead, &request->message)) {
            const struct wio_infer_request done = *request;
            dequeue(infer, list, before);
            WIO_TRY(match(infer, (enum request_kind)done.what, &done.message));
            continue;
        }
        if (ahead.count == AHEAD_MOST) {
            return WIO_OK;
        }
        ahead.messages[ahead.count++] = &request->message;
        before = i;
    }
    return WIO_OK;
}

/* Nothing more will come: what is not done has no message. */
static enum wio_status end_queue(struct wio_infer *infer, uint32_t queue)
{
    struct wio_infer_list *list = &infer->mpi.queues[queue];
    while (list->count > 0) {
        const struct wio_infer_request request = infer->mpi.requests[list->first];
        dequeue(infer, list, WIO_INFER_NONE);
        if (request.is_done) {
            WIO_TRY(match(infer, (enum request_kind)request.what, &request.message));
        }
    }
    return WIO_OK;
}

static void enqueue(struct wio_infer *infer, uint32_t queue, uint32_t number)
{
    struct wio_infer_list *list = &infer->mpi.queues[queue];
    infer->mpi.requests[number].queue = queue;
    if (list->count++ == 0) {
        list->first = number;
    } else {
        infer->mpi.requests[list->last].next = number;
    }
    list->last = number;
}

/* A message that is done when its call is, or a request that mpi_done will end. */
static enum wio_status add_message(struct wio_infer *infer, const struct wio_event *event,
                                   enum request_kind kind, const struct wio_message *message,
                                   bool is_done)
{
    uint32_t queue;
    uint32_t number;
    WIO_TRY(queue_of(infer, event, message->communicator, kind, &queue));
    if (is_done && infer->mpi.queues[queue].count == 0) {
        return match(infer, kind, message);
    }
    WIO_TRY(new_request(infer, kind, &number));
    infer->mpi.requests[number].message = *message;
    infer->mpi.requests[number].is_done = is_done;
    enqueue(infer, queue, number);
    return is_done
               ? flush(infer, queue)
               : wio_pair_map_put(&infer->mpi.request_of, wio_infer_stream(infer, event)->process,
                                  (uint64_t)event->arg[3], number);
}

static enum wio_status send(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    struct wio_point point = wio_infer_point(infer, event);
    WIO_TRY(communicator_of(infer, event, &object));
    const struct wio_infer_rank *rank = rank_of(infer, event, object);
    if (rank == NULL || event->error != 0 || event->arg[1] < 0) {
        return WIO_OK;
    }
    bool ends_late = event->op == WIO_OP_MPI_Issend || event->op == WIO_OP_mpi_ssend;
    const struct wio_message message = {
        .communicator = object,
        .source = rank->rank,
        .destination = (uint32_t)event->arg[1],
        .tag = (int32_t)event->arg[2],
        .is_synchronous = event->op == WIO_OP_MPI_Ssend || ends_late,
        .thread = point.thread,
        .begin_op = wio_infer_release_point(infer, event).op,
        .end_op = point.op,
        .begin_ns = event->t_ns,
        .end_ns = wio_infer_end_ns(event),
        .bytes = event->op == WIO_OP_MPI_Send ? event->size : 0,
    };
    bool is_done = !ends_late || event->arg[3] == 0;
    return add_message(infer, event, REQUEST_SEND, &message, is_done);
}

static enum wio_status receive(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    struct wio_point point = wio_infer_point(infer, event);
    WIO_TRY(communicator_of(infer, event, &object));
    const struct wio_infer_rank *rank = rank_of(infer, event, object);
    bool is_done = event->arg[3] == 0;
    if (rank == NULL || (is_done && event->arg[1] < 0) || (!is_done && event->error != 0)) {
        return WIO_OK; /* R-MPI-9: one that failed but knows its source has taken a message */
    }
    const struct wio_message message = {
        .communicator = object,
        .source = (uint32_t)event->arg[1],
        .destination = rank->rank,
        .tag = (int32_t)event->arg[2],
        .thread = point.thread,
        .begin_op = wio_infer_release_point(infer, event).op,
        .end_op = point.op,
        .begin_ns = event->t_ns,
        .end_ns = wio_infer_end_ns(event),
    };
    return add_message(infer, event, REQUEST_RECEIVE, &message, is_done);
}

/* Another thread waited for it: the edge goes there. */
static void end_elsewhere(struct wio_infer_request *request, struct wio_point at)
{
    if (request->what == REQUEST_RECEIVE) {
        request->message.thread = at.thread;
        request->message.begin_op = at.op;
    } else {
        request->message.is_synchronous = false;
        request->message.end_op = request->message.begin_op;
    }
}

static enum wio_status done(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t image = wio_infer_stream(infer, event)->process;
    uint64_t key = (uint64_t)event->arg[3];
    uint32_t number = wio_pair_map_get(&infer->mpi.request_of, image, key);
    if (number == WIO_INFER_NONE) {
        return WIO_OK;
    }
    wio_pair_map_remove(&infer->mpi.request_of, image, key);
    struct wio_infer_request *request = &infer->mpi.requests[number];
    if (request->what == REQUEST_COLLECTIVE) {
        struct wio_collective_call call = request->call;
        free_request(infer, number);
        call.leave_op =
            call.thread == wio_infer_point(infer, event).thread ? event->seq : call.enter_op;
        call.leave_ns = wio_infer_end_ns(event);
        return wio_infer_collective(infer, &call);
    }
    if (request->what == REQUEST_RECEIVE) {
        if (event->arg[1] >= 0) { /* else it is as it was posted (collectives of neighbours) */
            request->message.source = (uint32_t)event->arg[1];
            request->message.tag = (int32_t)event->arg[2];
        }
        request->message.end_ns = wio_infer_end_ns(event);
    }
    bool has_source =
        event->arg[1] >= 0 || (event->error == 0 && request->message.source <= INT32_MAX);
    request->is_done = request->what == REQUEST_SEND || has_source;
    request->message.end_op = event->seq;
    if (request->message.thread != wio_infer_point(infer, event).thread) {
        end_elsewhere(request, wio_infer_point(infer, event));
    }
    return request->is_done ? flush(infer, request->queue) : WIO_OK;
}

/* In an intercommunicator each group waits for the other one, not for itself. */
static enum wio_collective_kind kind_of(const struct wio_event *event,
                                        const struct wio_infer_rank *rank)
{
    bool is_barrier = event->op == WIO_OP_MPI_Barrier || event->op == WIO_OP_MPI_Ibarrier;
    if (event->size == 0 && !is_barrier && event->arg[2] != NO_PART) {
        return WIO_COLLECTIVE_LOOSE; /* R-MPI-5: without data no member need wait */
    }
    switch (wio_infer_class(event)) {
    case WIO_CLASS_MPI_ALL:
        return rank->is_inter ? WIO_COLLECTIVE_LOOSE : WIO_COLLECTIVE_ALL;
    case WIO_CLASS_MPI_SCAN:
        return WIO_COLLECTIVE_SCAN;
    case WIO_CLASS_MPI_FROM_ROOT:
    case WIO_CLASS_MPI_TO_ROOT:
        return WIO_COLLECTIVE_ROLES; /* a member without a part (root -2) neither gives nor takes */
    default:
        return WIO_COLLECTIVE_LOOSE;
    }
}

static enum wio_status collective(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    uint32_t number;
    struct wio_point point = wio_infer_point(infer, event);
    WIO_TRY(communicator_of(infer, event, &object));
    const struct wio_infer_rank *rank = rank_of(infer, event, object);
    if (rank == NULL || event->error != 0 || rank->size <= 1) {
        return WIO_OK;
    }
    bool is_root = event->arg[2] == rank->rank;
    bool from_root = wio_infer_class(event) == WIO_CLASS_MPI_FROM_ROOT;
    const struct wio_collective_call call = {
        .communicator = object,
        .evidence = WIO_EVIDENCE_MPI,
        .sequence = (uint64_t)event->arg[1],
        .size = rank->size,
        .rank = rank->rank,
        .kind = kind_of(event, rank),
        .thread = point.thread,
        .enter_op = wio_infer_release_point(infer, event).op,
        .leave_op = point.op,
        .enter_ns = event->t_ns,
        .leave_ns = wio_infer_end_ns(event),
        .gives = event->arg[2] >= 0 && from_root == is_root,
        .takes = event->arg[2] >= 0 && from_root != is_root,
    };
    if (event->arg[3] == 0) {
        return wio_infer_collective(infer, &call);
    }
    WIO_TRY(new_request(infer, REQUEST_COLLECTIVE, &number));
    infer->mpi.requests[number].call = call;
    return wio_pair_map_put(&infer->mpi.request_of, wio_infer_stream(infer, event)->process,
                            (uint64_t)event->arg[3], number);
}

enum wio_status wio_infer_mpi(struct wio_infer *infer, const struct wio_event *event)
{
    switch (wio_infer_class(event)) {
    case WIO_CLASS_MPI_COMM:
        return note_rank(infer, event);
    case WIO_CLASS_MPI_SEND:
        return send(infer, event);
    case WIO_CLASS_MPI_RECV:
        return receive(infer, event);
    case WIO_CLASS_MPI_DONE:
        return done(infer, event);
    default:
        return collective(infer, event);
    }
}

enum wio_status wio_infer_mpi_finish(struct wio_infer *infer)
{
    for (uint32_t i = 0; i < infer->mpi.queue_count; i++) {
        WIO_TRY(end_queue(infer, i));
    }
    return wio_match_messages_end(infer->match);
}
