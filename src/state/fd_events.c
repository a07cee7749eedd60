/* SPDX-License-Identifier: Apache-2.0 */
/* What events do to descriptors: opening, duplicating, closing, fcntl. */
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/socket.h>

#include "ops/lookup.h"
#include "state/state_internal.h"

/* What F_SETFL can change: fcntl(2). */
#define CHANGEABLE_FLAGS (O_APPEND | O_ASYNC | O_DIRECT | O_NOATIME | O_NONBLOCK)

/* The file that the path means; for what has no name a new one. */
static enum wio_status file_by_path(struct wio_state *state, const struct wio_event *event,
                                    uint32_t path, bool is_new, uint32_t *file_out)
{
    uint32_t node;
    const uint32_t host = state->params.processes[state_process_of(state, event)].host;
    WIO_TRY(state_find_name(state, host, path, wio_event_follows_links(event), &node));
    if (is_new || node == WIO_NO_INDEX) {
        return state_new_file(state, path, is_new ? WIO_STATE_MADE : WIO_STATE_UNKNOWN, file_out);
    }
    return state_file_at(state, node, path, file_out);
}

static enum wio_status open_path(struct wio_state *state, const struct wio_event *event, int64_t fd,
                                 uint32_t path, bool is_new)
{
    struct state_open open = {.path = path, .flags = wio_open_flags(event)};
    WIO_TRY(file_by_path(state, event, path, is_new, &open.file));
    return state_open_fd(state, state_process_of(state, event), fd, &open,
                         (open.flags & O_CLOEXEC) != 0);
}

/* Was the descriptor given by the stdio call that caused this one? */
static bool is_open_already(const struct wio_state *state, const struct wio_event *event)
{
    bool is_cloexec;
    const uint32_t open =
        state_open_of(state, state_process_of(state, event), event->result, &is_cloexec);
    return (event->flags & WIO_EVENT_CAUSED) != 0 && open != WIO_NO_INDEX &&
           state->opens.items[open].path == event->path;
}

static enum wio_status do_open(struct wio_state *state, const struct wio_event *event)
{
    const bool has_no_name = event->op == WIO_OP_memfd_create || event->op == WIO_OP_tmpfile ||
                             event->op == WIO_OP_popen ||
                             (wio_open_flags(event) & O_TMPFILE) == O_TMPFILE;
    if (event->op == WIO_OP_fdopen || event->op == WIO_OP_fdopendir ||
        is_open_already(state, event)) {
        return WIO_OK; /* the same descriptor */
    }
    return open_path(state, event, event->result, event->path, has_no_name);
}

static void close_range_of(struct wio_state *state, uint32_t process, uint64_t first, uint64_t last)
{
    const size_t room = state->images[process].fd_room;
    for (uint64_t fd = first; fd <= last && fd < room; fd++) {
        state_close_fd(state, process, (int64_t)fd);
    }
}

static void mark_range(struct wio_state *state, uint32_t process, uint64_t first, uint64_t last)
{
    const size_t room = state->images[process].fd_room;
    for (uint64_t fd = first; fd <= last && fd < room; fd++) {
        state_mark_cloexec(state, process, (int64_t)fd, true);
    }
}

static void do_close(struct wio_state *state, const struct wio_event *event)
{
    const uint32_t process = state_process_of(state, event);
    const uint64_t first = (uint64_t)event->arg[0];
    switch (event->op) {
    case WIO_OP_close_range:
        if ((event->arg[2] & CLOSE_RANGE_CLOEXEC) != 0) {
            mark_range(state, process, first, (uint64_t)event->arg[1]);
        } else {
            close_range_of(state, process, first, (uint64_t)event->arg[1]);
        }
        break;
    case WIO_OP_closefrom:
        close_range_of(state, process, first, UINT64_MAX);
        break;
    default:
        state_close_fd(state, process, event->fd);
    }
}

/* Without a known open: what the path of the event means. */
static enum wio_status adopt(struct wio_state *state, const struct wio_event *event, int32_t fd,
                             uint32_t path)
{
    bool is_cloexec;
    struct state_open adopted = {.path = path};
    const uint32_t process = state_process_of(state, event);
    const uint32_t open = state_open_of(state, process, fd, &is_cloexec);
    if (fd < 0 || path == WIO_NO_STRING ||
        (open != WIO_NO_INDEX && state->opens.items[open].path == path)) {
        return WIO_OK;
    }
    WIO_TRY(file_by_path(state, event, path, false, &adopted.file));
    struct state_file *file = &state->files.items[adopted.file];
    file->origin = file->origin == WIO_STATE_UNKNOWN ? WIO_STATE_INITIAL : file->origin;
    return state_open_fd(state, process, fd, &adopted, false);
}

static enum wio_status duplicate(struct wio_state *state, const struct wio_event *event,
                                 bool is_cloexec)
{
    bool was_cloexec;
    const uint32_t process = state_process_of(state, event);
    if (event->result < 0 || event->result == event->fd) {
        return WIO_OK;
    }
    const uint32_t open = state_open_of(state, process, event->fd, &was_cloexec);
    if (open == WIO_NO_INDEX) {
        state_close_fd(state, process, event->result);
        return WIO_OK;
    }
    return state_set_fd(state, process, event->result, open, is_cloexec);
}

static enum wio_status control(struct wio_state *state, const struct wio_event *event)
{
    bool is_cloexec;
    const uint32_t process = state_process_of(state, event);
    const uint32_t open = state_open_of(state, process, event->fd, &is_cloexec);
    if (event->op != WIO_OP_fcntl || event->result < 0) {
        return WIO_OK;
    }
    switch (event->arg[0]) {
    case F_DUPFD:
        return duplicate(state, event, false);
    case F_DUPFD_CLOEXEC:
        return duplicate(state, event, true);
    case F_SETFD:
        state_mark_cloexec(state, process, event->fd, (event->arg[1] & FD_CLOEXEC) != 0);
        return WIO_OK;
    case F_SETFL:
        if (open != WIO_NO_INDEX) {
            int32_t *flags = &state->opens.items[open].flags;
            *flags = (*flags & ~CHANGEABLE_FLAGS) | ((int)event->arg[1] & CHANGEABLE_FLAGS);
        }
        return WIO_OK;
    default:
        return WIO_OK;
    }
}

static enum wio_status new_channel(struct wio_state *state, const struct wio_event *event,
                                   int64_t fd, uint32_t path, bool is_cloexec)
{
    struct state_open open = {.path = path, .flags = O_RDWR};
    WIO_TRY(file_by_path(state, event, path, true, &open.file));
    return state_open_fd(state, state_process_of(state, event), fd, &open, is_cloexec);
}

static enum wio_status make_channel(struct wio_state *state, const struct wio_event *event)
{
    const bool is_cloexec_1 = (event->arg[1] & O_CLOEXEC) != 0;
    const bool is_cloexec_2 = (event->arg[2] & O_CLOEXEC) != 0;
    switch (event->op) {
    case WIO_OP_pipe:
    case WIO_OP_socketpair:
        WIO_TRY(new_channel(state, event, event->arg[0], event->path, is_cloexec_2));
        return new_channel(state, event, event->arg[1],
                           event->op == WIO_OP_pipe ? event->path : event->path2, is_cloexec_2);
    case WIO_OP_socket:
    case WIO_OP_eventfd:
    case WIO_OP_timerfd_create:
        return new_channel(state, event, event->result, event->path, is_cloexec_1);
    case WIO_OP_signalfd:
        return event->result == event->fd
                   ? WIO_OK
                   : new_channel(state, event, event->result, event->path, is_cloexec_1);
    case WIO_OP_pidfd_open:
        return new_channel(state, event, event->result, event->path, true);
    case WIO_OP_accept:
        return new_channel(state, event, event->fd2, event->path, (event->arg[0] & O_CLOEXEC) != 0);
    default:
        return WIO_OK;
    }
}

enum wio_status state_fd_event(struct wio_state *state, const struct wio_event *event)
{
    if (event->error != 0) {
        return WIO_OK;
    }
    switch (state_class(event)) {
    case WIO_CLASS_OPEN:
        return event->result < 0 ? WIO_OK : do_open(state, event);
    case WIO_CLASS_CLOSE:
        do_close(state, event);
        return WIO_OK;
    case WIO_CLASS_CHANNEL:
        return make_channel(state, event);
    case WIO_CLASS_DUP:
        WIO_TRY(adopt(state, event, event->fd, event->path));
        return duplicate(state, event, (event->arg[1] & O_CLOEXEC) != 0);
    case WIO_CLASS_FCNTL:
        WIO_TRY(adopt(state, event, event->fd, event->path));
        return control(state, event);
    case WIO_CLASS_COPY:
        WIO_TRY(adopt(state, event, event->fd2, event->path2));
        return adopt(state, event, event->fd, event->path);
    default:
        return adopt(state, event, event->fd, event->path);
    }
}
