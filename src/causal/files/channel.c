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
    infer->objects.items[one].peer = other;
    infer->objects.items[other].peer = one;
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
    infer->objects.items[object].given = (uint64_t)event->arg[0]; /* what it begins with */
    infer->objects.items[object].is_semaphore = (event->arg[1] & EFD_SEMAPHORE) != 0;
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
    struct wio_infer_state *state = &infer->objects.items[object];
    if (object == 0 || state->is_shut) {
        return WIO_OK;
    }
    wio_infer_forget_closings(infer, object); /* of duplicates */
    state->is_shut = true;
    return wio_infer_append(infer, &state->list, &node);
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

static uint64_t capacity_of(const struct wio_infer_state *state)
{
    return state->count != 0 ? state->count : PIPE_BYTES;
}

/* A write beyond the pipe's capacity waits until `given - room` bytes have been read. */
static enum wio_status note_full(struct wio_infer *infer, const struct wio_event *event,
                                 uint32_t object)
{
    struct wio_infer_state *state = &infer->objects.items[object];
    uint64_t room = capacity_of(state);
    if (state->given < room || state->given - room <= state->taken) {
        return WIO_OK;
    }
    struct wio_infer_node node = wio_infer_node_of(infer, event);
    node.op = event->seq;
    node.a = state->given - room;
    return wio_infer_append(infer, &state->more, &node);
}

static enum wio_status write_pipe(struct wio_infer *infer, const struct wio_event *event,
                                  uint32_t object)
{
    uint32_t file;
    WIO_TRY(wio_infer_file(infer, event, event->fd, &file));
    if (file != WIO_INFER_NONE && infer->files.items[file].object == object) {
        infer->files.items[file].can_write = true;
    }
    infer->objects.items[object].given += (uint64_t)event->result;
    return note_full(infer, event, object);
}

/* splice and its like pass on what they read: a reader waits for the call itself, unless the call
 * waits for that reader too. */
static bool passes_on(struct wio_infer *infer, const struct wio_event *event)
{
    return wio_infer_class(event) == WIO_CLASS_COPY &&
           wio_infer_path_kind(infer, event->path2) != WIO_INFER_PATH_OTHER;
}

static bool is_too_full(const struct wio_infer_state *state, const struct wio_event *event)
{
    return state->given + (uint64_t)event->result > capacity_of(state) + state->taken;
}

/* Linux ignores the address where the socket is a stream. */
static bool sends_message(const struct wio_infer *infer, const struct wio_event *event,
                          const struct wio_infer_state *state)
{
    return state->has_messages ||
           (!state->is_connected && wio_infer_is_datagram(infer, event->path2));
}

enum wio_status wio_infer_write(struct wio_infer *infer, const struct wio_event *event, int32_t fd,
                                uint32_t path)
{
    uint32_t object;
    if (event->result < 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_infer_channel_behind(infer, event, fd, path, &object));
    if (object != 0 && sends_message(infer, event, &infer->objects.items[object])) {
        return wio_infer_message_write(infer, event, object);
    }
    if (object == 0 || event->result == 0) {
        return WIO_OK;
    }
    struct wio_infer_state *state = &infer->objects.items[object];
    struct wio_infer_node node = wio_infer_node_of(infer, event);
    if (state->object.kind == WIO_INFER_EVENTFD) {
        return wio_infer_append(infer, &state->list, &node);
    }
    bool is_pipe = state->object.kind == WIO_INFER_PIPE;
    struct wio_point from = wio_infer_release_point(infer, event);
    if (passes_on(infer, event) && !(is_pipe && is_too_full(state, event))) {
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
                                const struct wio_infer_state *state, enum wio_evidence evidence)
{
    uint64_t reader = (uint64_t)wio_infer_point(infer, event).thread + 1;
    for (uint32_t i = state->list.first; i != WIO_INFER_NONE; i = infer->lists.nodes[i].next) {
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
                                       struct wio_infer_state *state)
{
    struct wio_point point = wio_infer_release_point(infer, event);
    state->taken += (uint64_t)event->result;
    while (state->more.count > 0 && infer->lists.nodes[state->more.first].a <= state->taken) {
        const struct wio_infer_node writer = infer->lists.nodes[state->more.first];
        wio_infer_drop_first(infer, &state->more);
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
    struct wio_infer_state *state = &infer->objects.items[object];
    wio_infer_note_taker(state, wio_infer_point(infer, event).thread);
    if (state->given > 0 && state->is_semaphore) {
        state->given--;
        return WIO_OK;
    }
    if (state->given > 0) {
        state->given = 0;
    } else if (state->list.count > 0) {
        struct wio_edge edge =
            edge_to(infer, &infer->lists.nodes[state->list.first], event, WIO_EVIDENCE_PIPE);
        edge.object = object;
        WIO_TRY(wio_infer_edge_from_before(infer, edge));
    }
    while (state->list.count > 0) {
        wio_infer_drop_first(infer, &state->list);
        if (state->is_semaphore) {
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
    if (object != 0 && event->error == EAGAIN && !only_looks(event) &&
        infer->objects.items[object].has_messages) {
        return wio_infer_message_none(infer, event, object);
    }
    if (object == 0 || event->result < 0) {
        return WIO_OK;
    }
    enum wio_infer_kind kind = infer->objects.items[object].object.kind;
    if (kind == WIO_INFER_EVENTFD) {
        return read_eventfd(infer, event, object);
    }
    const struct wio_infer_state *state = &infer->objects.items[object];
    if (state->has_messages &&
        (event->result > 0 || state->more.count > 0 || state->forgotten > 0)) {
        return wio_infer_message_read(infer, event, object, only_looks(event));
    }
    bool is_pipe = kind == WIO_INFER_PIPE;
    enum wio_evidence evidence = is_pipe ? WIO_EVIDENCE_PIPE : WIO_EVIDENCE_SOCKET;
    uint32_t from = is_pipe ? object : infer->objects.items[object].peer;
    if (from == 0) {
        return WIO_OK;
    }
    if (event->result == 0) {
        return event->size == 0 ? WIO_OK
                                : read_end(infer, event, &infer->objects.items[from], evidence);
    }
    struct wio_point point = wio_infer_point(infer, event);
    if (only_looks(event)) {
        return wio_match_peek(infer->match, from, evidence, point, (uint64_t)event->result);
    }
    wio_infer_note_taker(&infer->objects.items[from], point.thread);
    WIO_TRY(wio_match_read(infer->match, from, evidence, point, (uint64_t)event->result,
                           wio_infer_end_ns(event)));
    return is_pipe ? release_writers(infer, event, &infer->objects.items[from]) : WIO_OK;
}
