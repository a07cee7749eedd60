/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/initial/classify.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "ops/calls.h"
#include "replay/initial/kind.h"
#include "replay/initial/meta_request.h"
#include "replay/initial/process_tree.h"
#include "schedule/sync.h"

/* Operations whose path does not say what they are on. */
static bool is_without_path(const struct wio_event *event)
{
    switch (event->op) {
    case WIO_OP_sync:
    case WIO_OP_memfd_create:
    case WIO_OP_tmpfile:
    case WIO_OP_munmap: /* by address: known if its mmap was */
    case WIO_OP_msync:
        return true;
    default:
        return false;
    }
}

static bool is_control(const struct wio_event *event)
{
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_PROCESS:
    case WIO_CLASS_THREAD:
    case WIO_CLASS_WAIT:
    case WIO_CLASS_EXEC:
    case WIO_CLASS_EXIT:
    case WIO_CLASS_CWD:
    case WIO_CLASS_ASYNC_CALL:
        return true;
    default:
        return wio_is_sync(wio_op_class(event->op)) || event->op == WIO_OP_close_range ||
               event->op == WIO_OP_closefrom || event->op == WIO_OP_umask;
    }
}

static bool has_two_files(const struct wio_event *event)
{
    enum wio_class cls = wio_op_class(event->op);
    return cls == WIO_CLASS_COPY || cls == WIO_CLASS_RENAME || cls == WIO_CLASS_LINK ||
           (event->op == WIO_OP_ioctl && event->fd2 >= 0);
}

static uint8_t kind_of_channel(const struct wio_event *event)
{
    switch (event->op) {
    case WIO_OP_pipe:
        return RP_KIND_OF_SKIP(PIPE);
    case WIO_OP_eventfd:
    case WIO_OP_signalfd:
    case WIO_OP_timerfd_create:
    case WIO_OP_timerfd_settime:
    case WIO_OP_pidfd_open:
        return RP_KIND_OF_SKIP(ANONYMOUS);
    default:
        return RP_KIND_OF_SKIP(SOCKET);
    }
}

bool rp_is_recorded_error(const struct wio_event *event)
{
    switch (event->error) {
    case 0:
    case ENOENT:
    case EEXIST:
    case ENOTDIR:
    case EISDIR:
    case ENOTEMPTY:
    case ELOOP:
    case ENAMETOOLONG:
    case EBADF:
    case ESPIPE:
    case ENODATA: /* an attribute that is not there */
    case ERANGE:  /* .. or is longer than the room for it */
        return false;
    case ENXIO: /* of SEEK_DATA: nothing there. Else a device, or a FIFO that nothing reads */
        return wio_op_class(event->op) != WIO_CLASS_SEEK;
    default:
        return true;
    }
}

/* A path that the program gave empty, or a descriptor that was not open. */
static bool is_nothing(const struct wio_event *event)
{
    bool is_without =
        event->path == WIO_NO_STRING || (has_two_files(event) && event->path2 == WIO_NO_STRING);
    return is_without && (event->error == EBADF || (event->error == ENOENT && event->fd < 0));
}

enum rp_half rp_half_of(const struct rp_observer *observer, const struct wio_event *event)
{
    if (event->op != WIO_OP_sendfile && event->op != WIO_OP_splice) {
        return RP_WHOLE;
    }
    uint8_t to = rp_observer_kind(observer, event->path, event->t_ns);
    uint8_t from = rp_observer_kind(observer, event->path2, event->t_ns);
    bool is_to_file = to <= RP_KIND_NAMELESS;
    bool is_from_file = from <= RP_KIND_NAMELESS;
    bool is_unknown = to == RP_KIND_OF_SKIP(UNKNOWN) || from == RP_KIND_OF_SKIP(UNKNOWN);
    if (event->error != 0 || is_unknown || is_to_file == is_from_file) {
        return RP_WHOLE;
    }
    return is_from_file ? RP_HALF_READ : RP_HALF_WRITTEN;
}

/* Devices, FIFOs and sockets are not made, and no directory of the target lists them. */
static uint8_t kind_of_entry(const struct rp_observer *observer, const struct wio_event *event)
{
    char path[PATH_MAX + NAME_MAX + 2];
    const char *dir = wio_trace_string(observer->trace, event->path, NULL);
    const char *name = wio_trace_string(observer->trace, event->path2, NULL);
    uint8_t kind = rp_kind_of_type(rp_type_of_entry((unsigned)event->arg[0]));
    bool is_itself = name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
    if (kind != RP_KIND_FILE || is_itself ||
        snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path)) {
        return kind;
    }
    kind = rp_kind_of_path(path);
    return kind >= RP_KIND_SKIP ? kind : RP_KIND_FILE;
}

static uint8_t kind_of(const struct rp_observer *observer, const struct wio_event *event)
{
    enum wio_class cls = wio_op_class(event->op);
    if (is_without_path(event)) {
        return RP_KIND_FILE;
    }
    if (cls == WIO_CLASS_CHANNEL) {
        return kind_of_channel(event);
    }
    if (event->op == WIO_OP_mremap || event->op == WIO_OP_madvise) {
        return RP_KIND_OF_SKIP(MEMORY);
    }
    uint8_t kind = rp_observer_kind(observer, event->path, event->t_ns);
    if (rp_half_of(observer, event) != RP_WHOLE) {
        return RP_KIND_FILE;
    }
    if (has_two_files(event) && kind <= RP_KIND_NAMELESS) {
        uint8_t other = rp_observer_kind(observer, event->path2, event->t_ns);
        return other <= RP_KIND_NAMELESS ? kind : other;
    }
    if (event->op == WIO_OP_readdir && event->result == 1 && kind == RP_KIND_FILE) {
        return kind_of_entry(observer, event);
    }
    return kind;
}

enum rp_fate rp_classify(const struct rp_observer *observer, const struct wio_event *event,
                         uint8_t *kind_out)
{
    struct wio_event call;
    if (rp_request_call(event, &call)) {
        event = &call;
    }
    enum wio_class cls = wio_op_class(event->op);
    *kind_out = RP_KIND_FILE;
    if (is_control(event)) {
        return RP_FATE_CONTROL;
    }
    if (rp_is_internal(event)) {
        *kind_out = RP_KIND_OF_SKIP(MPI);
        return RP_FATE_SKIP;
    }
    if (event->op == WIO_OP_popen || event->op == WIO_OP_pclose) {
        *kind_out = RP_KIND_OF_SKIP(PIPE);
        return RP_FATE_SKIP;
    }
    *kind_out = cls == WIO_CLASS_UNKNOWN ? RP_KIND_OF_SKIP(UNKNOWN) : kind_of(observer, event);
    if (*kind_out == RP_KIND_OF_SKIP(UNKNOWN) && is_nothing(event)) {
        *kind_out = RP_KIND_FILE;
    }
    if (*kind_out >= RP_KIND_SKIP) {
        return RP_FATE_SKIP;
    }
    if (*kind_out >= RP_KIND_NULL) {
        return RP_FATE_MEMORY;
    }
    if (rp_is_recorded_error(event) || ((event->error == ENOTDIR || event->error == ENOENT) &&
                                        rp_observer_is_odd(observer, event))) {
        *kind_out = RP_KIND_OF_SKIP(RECORDED_ERROR);
        return RP_FATE_SKIP;
    }
    bool is_request =
        cls == WIO_CLASS_ASYNC_READ || cls == WIO_CLASS_ASYNC_WRITE || cls == WIO_CLASS_ASYNC_SYNC;
    return is_request ? RP_FATE_REQUEST : RP_FATE_PERFORM;
}

bool rp_is_internal(const struct wio_event *event)
{
    return (event->flags & WIO_EVENT_MPI) != 0 && !is_control(event);
}

bool rp_is_covered(const struct wio_event *event, uint8_t caused)
{
    if ((event->flags & WIO_EVENT_CAUSED) != 0) {
        return false;
    }
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_STDIO_READ:
    case WIO_CLASS_STDIO_WRITE:
    case WIO_CLASS_STDIO_SEEK:
    case WIO_CLASS_STDIO_FLUSH:
        return true;
    default:
        break;
    }
    switch (event->op) {
    case WIO_OP_fdopen:
    case WIO_OP_fdopendir:
        return true;
    case WIO_OP_fopen:
    case WIO_OP_freopen:
    case WIO_OP_tmpfile:
        return (caused & RP_CAUSED_OPEN) != 0;
    case WIO_OP_fclose:
    case WIO_OP_fcloseall:
        return (caused & RP_CAUSED_CLOSE) != 0;
    case WIO_OP_dprintf:
    case WIO_OP_vdprintf:
        return (caused & RP_CAUSED_WRITE) != 0;
    default:
        return false;
    }
}
