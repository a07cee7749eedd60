/* SPDX-License-Identifier: Apache-2.0 */
/* Pipes, FIFOs, sockets and eventfds: a read waits for the writes of what it reads. */
#include <errno.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "causal/files/files.h"
#include "causal/infer/name.h"
#include "causal/threads/sync.h"

/* Of Linux, where F_SETPIPE_SZ did not say otherwise. */
#define PIPE_BYTES 65536u

static enum wio_status make(struct wio_infer *infer, const struct wio_event *event, uint32_t path,
                            enum wio_infer_kind kind, uint32_t *object_out)
{
    *object_out = 0;
    if (wio_infer_path_kind(infer, path) == WIO_INFER_PATH_OTHER) {
        return WIO_OK;
    }
    return wio_infer_new_object(
        infer,
        (struct wio_infer_object){.kind = kind, .id = path, .place = wio_infer_host(infer, event)},
        object_out);
}

static enum wio_status make_pair(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t one;
    uint32_t other;
    WIO_TRY(make(infer, event, event->path, WIO_INFER_SOCKET, &one));
    WIO_TRY(make(infer, event, event->path2, WIO_INFER_SOCKET, &other));
    if (one != 0 && other != 0) {
        wio_infer_socket(infer, one)->peer = other;
        wio_infer_socket(infer, other)->peer = one;
    }
    wio_infer_message_make(infer, one, event->arg[2]);
    wio_infer_message_make(infer, other, event->arg[2]);
    return WIO_OK;
}

static enum wio_status make_socket(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    WIO_TRY(make(infer, event, event->path, WIO_INFER_SOCKET, &object));
    wio_infer_message_make(infer, object, event->arg[1]);
    return WIO_OK;
}

static enum wio_status make_eventfd(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    WIO_TRY(make(infer, event, event->path, WIO_INFER_EVENTFD, &object));
    if (object != 0) {
        struct wio_infer_eventfd *eventfd = wio_infer_eventfd(infer, object);
        eventfd->initial = (uint64_t)event->arg[0];
        eventfd->is_semaphore = (event->arg[1] & EFD_SEMAPHORE) != 0;
    }
    return WIO_OK;
}

/* R-CHAN-5: the other end reads EOF from now on, even while duplicates of this end are open. */
static enum wio_status shut_down(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    struct wio_infer_node node = wio_infer_node_of(infer, event);
    if (event->arg[0] == SHUT_RD) {
        return WIO_OK;
    }
    WIO_TRY(wio_infer_channel(infer, event, event->path, &object));
    if (!wio_infer_is(infer, object, WIO_INFER_SOCKET) ||
        wio_infer_socket(infer, object)->is_shut) {
        return WIO_OK;
    }
    struct wio_infer_socket *socket = wio_infer_socket(infer, object);
    wio_infer_forget_closings(infer, object); /* of duplicates */
    socket->is_shut = true;
    return wio_infer_append(infer, &socket->closings, &node);
}

enum wio_status wio_infer_channel_begin(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    if (event->error != 0) {
        return WIO_OK;
    }
    switch (event->op) {
    case WIO_OP_pipe:
        return make(infer, event, event->path, WIO_INFER_PIPE, &object);
    case WIO_OP_socket:
        return make_socket(infer, event);
    case WIO_OP_bind:
        return wio_infer_message_bind(infer, event);
    case WIO_OP_socketpair:
        return make_pair(infer, event);
    case WIO_OP_eventfd:
        return make_eventfd(infer, event);
    case WIO_OP_shutdown:
        return shut_down(infer, event);
    case WIO_OP_timerfd_settime:
        return wio_infer_timer_set(infer, event);
    default:
        return WIO_OK;
    }
}

static uint64_t capacity_of(const struct wio_infer_pipe *pipe)
{
    return pipe->capacity != 0 ? pipe->capacity : PIPE_BYTES;
}

/* A write beyond the pipe's capacity waits until `given - room` bytes have been read. */
static enum wio_status note_full(struct wio_infer *infer, const struct wio_event *event,
                                 uint32_t object)
{
    struct wio_infer_pipe *pipe = wio_infer_pipe(infer, object);
    uint64_t room = capacity_of(pipe);
    if (pipe->given < room || pipe->given - room <= pipe->taken) {
        return WIO_OK;
    }
    struct wio_infer_node node = wio_infer_node_of(infer, event);
    node.op = event->seq;
    node.a = pipe->given - room;
    return wio_infer_append(infer, &pipe->full, &node);
}

static enum wio_status write_pipe(struct wio_infer *infer, const struct wio_event *event,
                                  uint32_t object)
{
    uint32_t file;
    WIO_TRY(wio_infer_file(infer, event, event->fd, &file));
    if (file != WIO_INFER_NONE && infer->files.items[file].object == object) {
        infer->files.items[file].can_write = true;
    }
    wio_infer_pipe(infer, object)->given += (uint64_t)event->result;
    return note_full(infer, event, object);
}

/* splice and its like pass on what they read: a reader waits for the call itself, unless the call
 * waits for that reader too. */
static bool passes_on(struct wio_infer *infer, const struct wio_event *event)
{
    return wio_infer_class(event) == WIO_CLASS_COPY &&
           wio_infer_path_kind(infer, event->path2) != WIO_INFER_PATH_OTHER;
}

static bool is_too_full(const struct wio_infer_pipe *pipe, const struct wio_event *event)
{
    return pipe->given + (uint64_t)event->result > capacity_of(pipe) + pipe->taken;
}

/* Linux ignores the address where the socket is a stream. */
static bool sends_message(const struct wio_infer *infer, const struct wio_event *event,
                          uint32_t object)
{
    if (!wio_infer_is(infer, object, WIO_INFER_SOCKET)) {
        return false;
    }
    const struct wio_infer_socket *socket = wio_infer_socket(infer, object);
    return socket->has_messages ||
           (!socket->is_connected && wio_infer_is_datagram(infer, event->path2));
}

enum wio_status wio_infer_write(struct wio_infer *infer, const struct wio_event *event, int32_t fd,
                                uint32_t path)
{
    uint32_t object;
    if (event->result < 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_infer_channel_behind(infer, event, fd, path, &object));
    if (sends_message(infer, event, object)) {
        return wio_infer_message_write(infer, event, object);
    }
    if (object == 0 || event->result == 0) {
        return WIO_OK;
    }
    if (wio_infer_is(infer, object, WIO_INFER_EVENTFD)) {
        struct wio_infer_node node = wio_infer_node_of(infer, event);
        return wio_infer_append(infer, &wio_infer_eventfd(infer, object)->writes, &node);
    }
    bool is_pipe = wio_infer_is(infer, object, WIO_INFER_PIPE);
    struct wio_point from = wio_infer_release_point(infer, event);
    if (passes_on(infer, event) &&
        !(is_pipe && is_too_full(wio_infer_pipe(infer, object), event))) {
        from.op = event->seq + 1;
    }
    WIO_TRY(wio_match_write(infer->match, object, is_pipe ? WIO_EVIDENCE_PIPE : WIO_EVIDENCE_SOCKET,
                            from, (uint64_t)event->result, event->t_ns));
    return is_pipe ? write_pipe(infer, event, object) : WIO_OK;
}

static struct wio_edge edge_to(const struct wio_infer *infer, const struct wio_infer_node *from,
                               const struct wio_event *to, enum wio_evidence evidence)
{
    struct wio_point point = wio_infer_point(infer, to);
    return (struct wio_edge){.from_thread = from->thread,
                             .from_op = from->op,
                             .to_thread = point.thread,
                             .to_op = point.op,
                             .class = WIO_EDGE_HARD,
                             .evidence = evidence};
}

/* EOF: all writers have closed. A reader that was at EOF before depends only on later closes (`a`
 * of a close is 1 + the last thread that found it): it may read again and again. */
static enum wio_status read_end(struct wio_infer *infer, const struct wio_event *event,
                                const struct wio_infer_list *closings, enum wio_evidence evidence)
{
    uint64_t reader = (uint64_t)wio_infer_point(infer, event).thread + 1;
    for (uint32_t i = closings->first; i != WIO_INFER_NONE; i = infer->lists.nodes[i].next) {
        struct wio_infer_node *closing = &infer->lists.nodes[i];
        if (closing->a != reader) {
            closing->a = reader;
            WIO_TRY(wio_infer_edge_from_before(infer, edge_to(infer, closing, event, evidence)));
        }
    }
    return WIO_OK;
}

/* Writers that waited for this much to be read. */
static enum wio_status release_writers(struct wio_infer *infer, const struct wio_event *event,
                                       struct wio_infer_pipe *pipe)
{
    struct wio_point point = wio_infer_release_point(infer, event);
    pipe->taken += (uint64_t)event->result;
    while (pipe->full.count > 0 && infer->lists.nodes[pipe->full.first].a <= pipe->taken) {
        const struct wio_infer_node writer = infer->lists.nodes[pipe->full.first];
        wio_infer_drop_first(infer, &pipe->full);
        WIO_TRY(
            wio_infer_edge_from_before(infer, (struct wio_edge){.from_thread = point.thread,
                                                                .from_op = point.op,
                                                                .to_thread = writer.thread,
                                                                .to_op = writer.op,
                                                                .class = WIO_EDGE_HARD,
                                                                .evidence = WIO_EVIDENCE_PIPE}));
    }
    return WIO_OK;
}

/* The first write since the counter was 0 releases the reader. With EFD_SEMAPHORE a read takes the
 * units of the initial value first. */
static enum wio_status read_eventfd(struct wio_infer *infer, const struct wio_event *event,
                                    uint32_t object)
{
    struct wio_infer_eventfd *eventfd = wio_infer_eventfd(infer, object);
    wio_infer_note_taker(&infer->objects.items[object], wio_infer_point(infer, event).thread);
    if (eventfd->initial > 0 && eventfd->is_semaphore) {
        eventfd->initial--;
        return WIO_OK;
    }
    if (eventfd->initial > 0) {
        eventfd->initial = 0;
    } else if (eventfd->writes.count > 0) {
        struct wio_edge edge =
            edge_to(infer, &infer->lists.nodes[eventfd->writes.first], event, WIO_EVIDENCE_PIPE);
        edge.object = object;
        WIO_TRY(wio_infer_edge_from_before(infer, edge));
    }
    while (eventfd->writes.count > 0) {
        wio_infer_drop_first(infer, &eventfd->writes);
        if (eventfd->is_semaphore) {
            break;
        }
    }
    return WIO_OK;
}

static bool only_looks(const struct wio_event *event)
{
    bool receives = event->op == WIO_OP_recv || event->op == WIO_OP_recvfrom ||
                    event->op == WIO_OP_recvmsg || event->op == WIO_OP_recvmmsg;
    return event->op == WIO_OP_tee ||
           (receives && (event->arg[0] & (MSG_PEEK | MSG_ERRQUEUE)) != 0);
}

/* Bytes that were written into object `from`. */
static enum wio_status read_bytes(struct wio_infer *infer, const struct wio_event *event,
                                  uint32_t from, enum wio_evidence evidence)
{
    struct wio_point point = wio_infer_point(infer, event);
    if (only_looks(event)) {
        return wio_match_peek(infer->match, from, evidence, point, (uint64_t)event->result);
    }
    wio_infer_note_taker(&infer->objects.items[from], point.thread);
    return wio_match_read(infer->match, from, evidence, point, (uint64_t)event->result,
                          wio_infer_end_ns(event));
}

static enum wio_status read_pipe(struct wio_infer *infer, const struct wio_event *event,
                                 uint32_t object)
{
    struct wio_infer_pipe *pipe = wio_infer_pipe(infer, object);
    if (event->result == 0) {
        return event->size == 0 ? WIO_OK
                                : read_end(infer, event, &pipe->closings, WIO_EVIDENCE_PIPE);
    }
    WIO_TRY(read_bytes(infer, event, object, WIO_EVIDENCE_PIPE));
    return only_looks(event) ? WIO_OK : release_writers(infer, event, pipe);
}

static enum wio_status read_socket(struct wio_infer *infer, const struct wio_event *event,
                                   uint32_t object)
{
    const struct wio_infer_socket *socket = wio_infer_socket(infer, object);
    if (event->error == EAGAIN && !only_looks(event) && socket->has_messages) {
        return wio_infer_message_none(infer, event, object);
    }
    if (event->result < 0) {
        return WIO_OK;
    }
    if (socket->has_messages &&
        (event->result > 0 || socket->messages.count > 0 || socket->forgotten > 0)) {
        return wio_infer_message_read(infer, event, object, only_looks(event));
    }
    if (socket->peer == 0) {
        return WIO_OK;
    }
    if (event->result == 0) {
        return event->size == 0
                   ? WIO_OK
                   : read_end(infer, event, &wio_infer_socket(infer, socket->peer)->closings,
                              WIO_EVIDENCE_SOCKET);
    }
    return read_bytes(infer, event, socket->peer, WIO_EVIDENCE_SOCKET);
}

enum wio_status wio_infer_read(struct wio_infer *infer, const struct wio_event *event, int32_t fd,
                               uint32_t path)
{
    uint32_t object;
    switch ((unsigned)wio_infer_path_kind(infer, path)) {
    case WIO_INFER_PATH_SIGNALFD:
        return wio_infer_signals_read(infer, event);
    case WIO_INFER_PATH_TIMERFD:
        return wio_infer_timer_read(infer, event);
    default:
        break;
    }
    WIO_TRY(wio_infer_channel_behind(infer, event, fd, path, &object));
    if (wio_infer_is(infer, object, WIO_INFER_SOCKET)) {
        return read_socket(infer, event, object);
    }
    if (object == 0 || event->result < 0) {
        return WIO_OK;
    }
    return wio_infer_is(infer, object, WIO_INFER_EVENTFD) ? read_eventfd(infer, event, object)
                                                          : read_pipe(infer, event, object);
}
