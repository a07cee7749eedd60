/* SPDX-License-Identifier: Apache-2.0 */
/* The turns of each thread (task_pool.h), in one pass over the trace. */
#include "schedule/task_pool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "ops/calls.h"

/* What an event is to a turn. */
enum part { PART_NONE, PART_LOCK, PART_UNLOCK, PART_WORK };

struct turn_scan {
    struct wio_turns *turns;
    const struct wio_waits *waits;
    size_t act; /* of the stream: the next one */
    struct wio_turn_span span;
    struct wio_turn turn;
    uint64_t turn_seq; /* its first event */
    bool is_open;      /* a turn has begun .. */
    bool is_left;      /* .. and given the lock back */
};

static enum part part_of_lock(const struct wio_event *event)
{
    if (event->op == WIO_OP_flock) {
        return event->arg[0] == LOCK_EX   ? PART_LOCK
               : event->arg[0] == LOCK_UN ? PART_UNLOCK
                                          : PART_NONE;
    }
    return event->arg[0] == F_LOCK ? PART_LOCK : event->arg[0] == F_ULOCK ? PART_UNLOCK : PART_NONE;
}

static enum part part_of_control(const struct wio_event *event)
{
    bool waits = event->arg[0] == F_SETLKW || event->arg[0] == F_OFD_SETLKW;
    bool asks = event->arg[0] == F_SETLK || event->arg[0] == F_OFD_SETLK;
    if (waits && event->arg[2] == F_WRLCK) {
        return PART_LOCK;
    }
    return (waits || asks) && event->arg[2] == F_UNLCK ? PART_UNLOCK : PART_NONE;
}

static enum part part_of(const struct wio_event *event)
{
    if (event->error != 0 || event->fd < 0 || event->path == WIO_NO_STRING ||
        (event->flags & (WIO_EVENT_ASYNC | WIO_EVENT_CAUSED)) != 0) {
        return PART_NONE;
    }
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_LOCK:
        return part_of_lock(event);
    case WIO_CLASS_FCNTL:
        return part_of_control(event);
    default:
        break;
    }
    switch ((int)event->op) {
    case WIO_OP_pread:
    case WIO_OP_preadv:
    case WIO_OP_pwrite:
    case WIO_OP_pwritev:
        return event->offset != WIO_NO_OFFSET ? PART_WORK : PART_NONE;
    case WIO_OP_fsync:
    case WIO_OP_fdatasync:
        return PART_WORK;
    default:
        return PART_NONE;
    }
}

/* Does the event wait, or a thread for it, for anything but the lock? */
static bool is_tied(struct turn_scan *scan, const struct wio_event *event)
{
    const struct wio_waits *waits = scan->waits;
    bool is_any = false;
    for (; scan->act < waits->first[event->stream + 1]; scan->act++) {
        const struct wio_act *act = &waits->acts[scan->act];
        if (act->seq > event->seq) {
            break;
        }
        is_any |= act->kind != WIO_ACT_LOCKED;
    }
    return is_any;
}

/* ---- spans ---- */

static void note_file(struct wio_turn_span *span, const struct wio_event *event)
{
    enum wio_class cls = wio_op_class(event->op);
    uint32_t i = 0;
    while (i < span->files && span->paths[i] != event->path) {
        i++;
    }
    if (i == WIO_TURN_FILES) {
        span->is_mixed = true;
        return;
    }
    if (i == span->files) {
        span->paths[i] = event->path;
        span->fds[i] = event->fd;
        span->files++;
    }
    span->is_mixed |= span->fds[i] != event->fd;
    span->uses[i] |= cls == WIO_CLASS_READ ? 1 : cls == WIO_CLASS_WRITE ? 2 : 0;
}

static enum wio_status add_event(struct turn_scan *scan, const struct wio_event *event)
{
    struct wio_turns *turns = scan->turns;
    void *events = turns->events;
    WIO_TRY(wio_grow(&events, sizeof(*turns->events), &turns->event_room, turns->event_count + 1));
    turns->events = events;
    turns->events[turns->event_count++] = *event;
    scan->turn.count++;
    note_file(&scan->span, event);
    return WIO_OK;
}

static bool is_whole(const struct turn_scan *scan)
{
    return scan->is_open && scan->is_left && scan->turn.op != WIO_OP_unknown;
}

static enum wio_status add_turn(struct turn_scan *scan, uint64_t end_ns)
{
    struct wio_turns *turns = scan->turns;
    void *items = turns->turns;
    WIO_TRY(wio_grow(&items, sizeof(*turns->turns), &turns->turn_room, turns->turn_count + 1));
    turns->turns = items;
    scan->turn.end_ns = end_ns;
    turns->turns[turns->turn_count++] = scan->turn;
    scan->span.count++;
    scan->span.end_ns = end_ns;
    return WIO_OK;
}

static enum wio_status add_span(struct turn_scan *scan)
{
    struct wio_turns *turns = scan->turns;
    void *items = turns->spans;
    WIO_TRY(wio_grow(&items, sizeof(*turns->spans), &turns->span_room, turns->span_count + 1));
    turns->spans = items;
    turns->spans[turns->span_count++] = scan->span;
    return WIO_OK;
}

/* The event `seq` at t_ns is no part of any turn, or begins another span. */
static enum wio_status end_span(struct turn_scan *scan, uint64_t seq, uint64_t t_ns)
{
    struct wio_turns *turns = scan->turns;
    bool ends_whole = is_whole(scan);
    if (!scan->is_open) {
        return WIO_OK;
    }
    if (ends_whole) {
        WIO_TRY(add_turn(scan, t_ns));
    } else {
        turns->event_count = scan->turn.first;
    }
    scan->span.end_seq = ends_whole ? seq : scan->turn_seq;
    scan->is_open = false;
    if (scan->span.is_mixed) {
        turns->turn_count = scan->span.first;
        return WIO_OK;
    }
    return scan->span.count > 0 ? add_span(scan) : WIO_OK;
}

static enum wio_status begin_turn(struct turn_scan *scan, const struct wio_event *event)
{
    bool goes_on = is_whole(scan) && event->path == scan->span.lock;
    if (goes_on) {
        WIO_TRY(add_turn(scan, event->t_ns));
    } else {
        WIO_TRY(end_span(scan, event->seq, event->t_ns));
        scan->span = (struct wio_turn_span){.stream = event->stream,
                                            .pool = UINT32_MAX,
                                            .first_seq = event->seq,
                                            .begin_ns = event->t_ns,
                                            .first = scan->turns->turn_count,
                                            .lock = event->path};
    }
    scan->turn = (struct wio_turn){.taken_ns = event->t_ns + event->dur_ns,
                                   .first = scan->turns->event_count};
    scan->turn_seq = event->seq;
    scan->is_open = true;
    scan->is_left = false;
    return add_event(scan, event);
}

static enum wio_status see(struct turn_scan *scan, const struct wio_event *event)
{
    bool ties = is_tied(scan, event);
    enum part part = ties ? PART_NONE : part_of(event);
    if (part == PART_LOCK) {
        return begin_turn(scan, event);
    }
    bool is_odd = part == PART_UNLOCK && (scan->is_left || event->path != scan->span.lock);
    if (part == PART_NONE || is_odd) {
        return end_span(scan, event->seq, event->t_ns);
    }
    if (!scan->is_open) {
        return WIO_OK;
    }
    if (part == PART_UNLOCK) {
        scan->is_left = true;
    } else if (scan->is_left && scan->turn.op == WIO_OP_unknown && event->offset != WIO_NO_OFFSET) {
        scan->turn.op = event->op;
        scan->turn.path = event->path;
        scan->turn.offset = event->offset;
    }
    return add_event(scan, event);
}

/* ---- all streams ---- */

static void cursor_cleanup(struct wio_cursor **cursor)
{
    wio_cursor_destroy(*cursor);
}

static enum wio_status no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                         "no memory for the plan of the replay");
}

static enum wio_status end_stream(struct turn_scan *scan, uint32_t stream)
{
    const struct wio_stream_info *info = wio_trace_stream(scan->waits->trace, stream);
    return end_span(scan, UINT64_MAX, info->last_ns);
}

static enum wio_status read_all(struct turn_scan *scan, struct wio_error *err)
{
    const struct wio_filter filter = {.struct_size = sizeof(filter), .order = WIO_ORDER_STREAM};
    struct wio_cursor *cursor WIO_CLEANUP(cursor_cleanup) = NULL;
    const struct wio_event *event;
    enum wio_status status;
    uint32_t stream = 0;
    WIO_TRY(wio_cursor_create(scan->waits->trace, &filter, &cursor, err));
    while ((status = wio_cursor_next(cursor, &event, err)) == WIO_OK &&
           event->stream < scan->waits->stream_count &&
           scan->turns->event_count < WIO_TURN_EVENTS_MAX) {
        if (event->stream != stream && end_stream(scan, stream) != WIO_OK) {
            return no_memory(err);
        }
        scan->act = event->stream != stream ? scan->waits->first[event->stream] : scan->act;
        stream = event->stream;
        if (see(scan, event) != WIO_OK) {
            return no_memory(err);
        }
    }
    if (status != WIO_OK && status != WIO_END) {
        return status;
    }
    return scan->is_open && end_stream(scan, stream) != WIO_OK ? no_memory(err) : WIO_OK;
}

static bool has_file_locks(const struct wio_waits *waits)
{
    for (uint32_t i = 0; i < waits->edge_count; i++) {
        enum wio_class cls = wio_op_class(waits->edges[i].to_op);
        if (waits->edges[i].how == WIO_BY_LOCK &&
            (cls == WIO_CLASS_LOCK || cls == WIO_CLASS_FCNTL)) {
            return true;
        }
    }
    return false;
}

enum wio_status wio_turns_read(const struct wio_waits *waits, struct wio_turns *turns,
                               struct wio_error *err)
{
    struct turn_scan scan = {.turns = turns, .waits = waits};
    if (!has_file_locks(waits)) {
        return WIO_OK;
    }
    WIO_TRY(read_all(&scan, err));
    if (turns->event_count >= WIO_TURN_EVENTS_MAX) {
        wio_turns_fini(turns);
        return WIO_OK;
    }
    return wio_turns_settle(turns) == WIO_OK ? WIO_OK : no_memory(err);
}

void wio_turns_fini(struct wio_turns *turns)
{
    free(turns->events);
    free(turns->turns);
    free(turns->spans);
    free(turns->pools);
    free(turns->order);
    *turns = (struct wio_turns){0};
}

static bool ends_before(const struct wio_turn_span *span, uint32_t stream, uint64_t seq)
{
    return span->stream != stream ? span->stream < stream : span->end_seq <= seq;
}

const struct wio_turn_span *wio_turns_span(const struct wio_turns *turns, uint32_t stream,
                                           uint64_t seq)
{
    size_t first = WIO_FIRST(i, 0, turns->span_count, !ends_before(&turns->spans[i], stream, seq));
    bool is_found = first < turns->span_count && turns->spans[first].stream == stream;
    return is_found ? &turns->spans[first] : NULL;
}

int32_t wio_turns_fd(const struct wio_turn_span *span, uint32_t path)
{
    for (uint32_t i = 0; i < span->files; i++) {
        if (span->paths[i] == path) {
            return span->fds[i];
        }
    }
    return -1;
}
