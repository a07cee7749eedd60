/* SPDX-License-Identifier: Apache-2.0 */
/* Polling for a file until it is made, or trying to make it until it is removed: one WAIT-UNTIL. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "causal/files/files.h"
#include "causal/infer/name.h"

enum poll_result { LOOK_NONE, LOOK_FAILED, LOOK_FOUND };

void wio_infer_waits_fini(struct wio_infer *infer)
{
    infer->alloc.put(infer->alloc.context, infer->waits.items);
}

/* Does the event poll for a file by name, and with which result? */
static enum poll_result look_of(const struct wio_event *event)
{
    switch (wio_infer_class(event)) {
    case WIO_CLASS_OPEN:
        if ((event->arg[0] & O_CREAT) != 0) {
            return LOOK_NONE;
        }
        break;
    case WIO_CLASS_STAT:
    case WIO_CLASS_ACCESS:
    case WIO_CLASS_READLINK:
    case WIO_CLASS_STATFS:
        break;
    default:
        return LOOK_NONE;
    }
    bool is_internal = (event->flags & WIO_EVENT_MPI) != 0; /* FORMAT.md R-MPI-10 */
    if (event->path == WIO_NO_STRING || event->op == WIO_OP_fstat || event->op == WIO_OP_fdopen ||
        is_internal) {
        return LOOK_NONE;
    }
    if (event->error == 0) {
        return LOOK_FOUND;
    }
    return event->error == ENOENT || event->error == ENOTDIR ? LOOK_FAILED : LOOK_NONE;
}

/* Does the event make a file exclusively, as lock files are made, and was the name free? */
static enum poll_result try_of(const struct wio_event *event, uint32_t *path_out)
{
    const int64_t exclusive = O_CREAT | O_EXCL;
    *path_out = event->path;
    if ((event->flags & WIO_EVENT_MPI) != 0) {
        return LOOK_NONE;
    }
    switch (wio_infer_class(event)) {
    case WIO_CLASS_OPEN:
        if ((event->arg[0] & exclusive) != exclusive || event->op == WIO_OP_fdopen) {
            return LOOK_NONE;
        }
        break;
    case WIO_CLASS_LINK:
        *path_out = event->path2;
        break;
    case WIO_CLASS_MKDIR:
    case WIO_CLASS_MKNOD:
    case WIO_CLASS_SYMLINK:
        break;
    default:
        return LOOK_NONE;
    }
    if (*path_out == WIO_NO_STRING) {
        return LOOK_NONE;
    }
    return event->error == 0 ? LOOK_FOUND : event->error == EEXIST ? LOOK_FAILED : LOOK_NONE;
}

/* Waiting, making children that wait, and their ends do not end a run of failed polls; nor does
 * flushing streams, as shells do before they fork, unless there is something to write. */
static bool is_pause(const struct wio_event *event)
{
    if ((event->flags & WIO_EVENT_CAUSED) != 0) {
        return wio_infer_class(event) != WIO_CLASS_WRITE;
    }
    switch (wio_infer_class(event)) {
    case WIO_CLASS_SLEEP:
    case WIO_CLASS_POLL:
    case WIO_CLASS_PROCESS:
    case WIO_CLASS_WAIT:
    case WIO_CLASS_KILL:
    case WIO_CLASS_SIGWAIT:
    case WIO_CLASS_MUTEX:
    case WIO_CLASS_UNLOCK:
    case WIO_CLASS_HOLD:
    case WIO_CLASS_CLOSE:
    case WIO_CLASS_FCNTL:
    case WIO_CLASS_STDIO_FLUSH:
        return true;
    default:
        return false;
    }
}

static enum wio_status made(struct wio_infer *infer, const struct wio_event *event, uint32_t path,
                            bool surely)
{
    uint32_t name;
    WIO_TRY(wio_infer_name(infer, event, path, false, &name));
    return wio_match_made(infer->match, name, wio_infer_point(infer, event),
                          wio_infer_end_ns(event), surely);
}

static enum wio_status gone(struct wio_infer *infer, const struct wio_event *event, uint32_t path)
{
    uint32_t name;
    WIO_TRY(wio_infer_name(infer, event, path, false, &name));
    return wio_match_gone(infer->match, name, wio_infer_point(infer, event), event->t_ns);
}

/* What lies below a directory appears and goes with it. */
static enum wio_status renamed(struct wio_infer *infer, const struct wio_event *event)
{
    const struct wio_infer_names *names = infer->params.names;
    uint32_t from = wio_infer_real(infer, event->path, false);
    uint32_t to = wio_infer_real(infer, event->path2, false);
    uint32_t string = WIO_NO_STRING;
    uint32_t moved;
    WIO_TRY(gone(infer, event, event->path));
    WIO_TRY(made(infer, event, event->path2, false)); /* there may have been another one */
    for (size_t i = 0; names != NULL; i++) {
        string = names->below(infer->params.context, from, to, i, &moved);
        if (string == WIO_NO_STRING || !wio_infer_one_below(infer)) {
            break;
        }
        WIO_TRY(gone(infer, event, string));
        WIO_TRY(moved == WIO_NO_STRING ? WIO_OK : made(infer, event, moved, true));
    }
    return WIO_OK;
}

/* Notes the names that the event creates or removes. */
static enum wio_status change(struct wio_infer *infer, const struct wio_event *event)
{
    switch (wio_infer_class(event)) {
    case WIO_CLASS_OPEN:
        return (event->arg[0] & O_CREAT) == 0
                   ? WIO_OK
                   : made(infer, event, event->path, (event->arg[0] & O_EXCL) != 0);
    case WIO_CLASS_MKDIR:
    case WIO_CLASS_MKNOD:
    case WIO_CLASS_SYMLINK:
        return made(infer, event, event->path, true);
    case WIO_CLASS_LINK:
        return made(infer, event, event->path2, true);
    case WIO_CLASS_RENAME:
        return renamed(infer, event);
    case WIO_CLASS_UNLINK:
        return gone(infer, event, event->path);
    default:
        return WIO_OK;
    }
}

enum wio_status wio_infer_look_begin(struct wio_infer *infer, const struct wio_event *event)
{
    if (event->error == 0) {
        WIO_TRY(change(infer, event));
    }
    uint32_t path;
    bool may_wait = look_of(event) != LOOK_NONE || try_of(event, &path) != LOOK_NONE;
    if (!is_pause(event) && !may_wait) {
        wio_match_other(infer->match, wio_infer_point(infer, event).thread);
    }
    return WIO_OK;
}

/* How long polls on one host may fail after another host made the file: NFS caches a directory for
 * up to 60 s (acdirmax, nfs(5)). Far more than clocks are apart. */
#define STALE_NS UINT64_C(60000000000)

/* If the poll fails, a file that was made before this time is gone. */
static uint64_t tells_of_ns(const struct wio_infer *infer, const struct wio_event *event,
                            uint32_t name)
{
    bool is_own = name >= infer->params.string_count; /* of a machine's own file system */
    uint32_t maker = wio_match_maker(infer->match, name);
    if (is_own || maker == WIO_NO_INDEX ||
        wio_infer_host_of(infer, maker) == wio_infer_host(infer, event)) {
        return event->t_ns;
    }
    return event->t_ns > STALE_NS ? event->t_ns - STALE_NS : 0;
}

enum wio_status wio_infer_look_end(struct wio_infer *infer, const struct wio_event *event)
{
    struct wio_infer_wait wait = {.thread = wio_infer_point(infer, event).thread};
    uint32_t path;
    uint32_t name;
    enum poll_result look = look_of(event);
    enum poll_result try = try_of(event, &path);
    WIO_TRY(wio_infer_name(infer, event, look != LOOK_NONE ? event->path : path, false, &name));
    if (look != LOOK_NONE) {
        WIO_TRY(wio_match_look(infer->match, name, wio_infer_point(infer, event),
                               tells_of_ns(infer, event, name), look == LOOK_FOUND, &wait.until));
    } else if (try != LOOK_NONE) {
        WIO_TRY(wio_match_look_gone(infer->match, name, wio_infer_point(infer, event), event->t_ns,
                                    try == LOOK_FOUND, &wait.until));
    }
    if (wait.until.looks == 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_alloc_room(&infer->alloc, (void **)&infer->waits.items, &infer->waits.room,
                           infer->waits.count + 1, sizeof(*infer->waits.items)));
    infer->waits.items[infer->waits.count++] = wait;
    return WIO_OK;
}
