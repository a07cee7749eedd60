/* SPDX-License-Identifier: Apache-2.0 */
/* Polling for a file until it is made, or trying to make it until it is removed: one WAIT-UNTIL. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "causal/files/files.h"
#include "causal/infer/name.h"

enum poll_result { LOOK_NONE, LOOK_FAILED, LOOK_FOUND };

/* Does the event poll for a file by name, and with which result? */
static enum poll_result look_of(const struct wio_event *event)
{
    switch (wio_feed_class(event)) {
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
    switch (wio_feed_class(event)) {
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
        return wio_feed_class(event) != WIO_CLASS_WRITE;
    }
    switch (wio_feed_class(event)) {
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

static enum wio_status made(struct wio_feed *feed, const struct wio_event *event, uint32_t path,
                            bool surely)
{
    uint32_t name;
    WIO_TRY(wio_feed_name(feed, event, path, false, &name));
    return wio_match_made(feed->match, name, wio_feed_point(feed, event), wio_feed_end_ns(event),
                          surely);
}

static enum wio_status gone(struct wio_feed *feed, const struct wio_event *event, uint32_t path)
{
    uint32_t name;
    WIO_TRY(wio_feed_name(feed, event, path, false, &name));
    return wio_match_gone(feed->match, name, wio_feed_point(feed, event), event->t_ns);
}

/* What lies below a directory appears and goes with it. */
static enum wio_status renamed(struct wio_feed *feed, const struct wio_event *event)
{
    const struct wio_feed_names *names = feed->params.names;
    uint32_t from = wio_feed_real(feed, event->path, false);
    uint32_t to = wio_feed_real(feed, event->path2, false);
    uint32_t string = WIO_NO_STRING;
    uint32_t moved;
    WIO_TRY(gone(feed, event, event->path));
    WIO_TRY(made(feed, event, event->path2, false)); /* there may have been another one */
    for (size_t i = 0; names != NULL; i++) {
        string = names->below(feed->params.context, from, to, i, &moved);
        if (string == WIO_NO_STRING || !wio_feed_one_below(feed)) {
            break;
        }
        WIO_TRY(gone(feed, event, string));
        WIO_TRY(moved == WIO_NO_STRING ? WIO_OK : made(feed, event, moved, true));
    }
    return WIO_OK;
}

/* Notes the names that the event creates or removes. */
static enum wio_status change(struct wio_feed *feed, const struct wio_event *event)
{
    switch (wio_feed_class(event)) {
    case WIO_CLASS_OPEN:
        return (event->arg[0] & O_CREAT) == 0
                   ? WIO_OK
                   : made(feed, event, event->path, (event->arg[0] & O_EXCL) != 0);
    case WIO_CLASS_MKDIR:
    case WIO_CLASS_MKNOD:
    case WIO_CLASS_SYMLINK:
        return made(feed, event, event->path, true);
    case WIO_CLASS_LINK:
        return made(feed, event, event->path2, true);
    case WIO_CLASS_RENAME:
        return renamed(feed, event);
    case WIO_CLASS_UNLINK:
        return gone(feed, event, event->path);
    default:
        return WIO_OK;
    }
}

enum wio_status wio_feed_look_begin(struct wio_feed *feed, const struct wio_event *event)
{
    if (event->error == 0) {
        WIO_TRY(change(feed, event));
    }
    uint32_t path;
    bool may_wait = look_of(event) != LOOK_NONE || try_of(event, &path) != LOOK_NONE;
    if (!is_pause(event) && !may_wait) {
        wio_match_other(feed->match, wio_feed_point(feed, event).thread);
    }
    return WIO_OK;
}

/* How long polls on one host may fail after another host made the file: NFS caches a directory for
 * up to 60 s (acdirmax, nfs(5)). Far more than clocks are apart. */
#define STALE_NS UINT64_C(60000000000)

/* If the poll fails, a file that was made before this time is gone. */
static uint64_t tells_of_ns(const struct wio_feed *feed, const struct wio_event *event,
                            uint32_t name)
{
    bool is_own = name >= feed->params.string_count; /* of a machine's own file system */
    uint32_t maker = wio_match_maker(feed->match, name);
    if (is_own || maker == WIO_NO_INDEX ||
        wio_feed_host_of(feed, maker) == wio_feed_host(feed, event)) {
        return event->t_ns;
    }
    return event->t_ns > STALE_NS ? event->t_ns - STALE_NS : 0;
}

enum wio_status wio_feed_look_end(struct wio_feed *feed, const struct wio_event *event)
{
    struct wio_feed_wait wait = {.thread = wio_feed_point(feed, event).thread};
    uint32_t path;
    uint32_t name;
    enum poll_result look = look_of(event);
    enum poll_result try = try_of(event, &path);
    WIO_TRY(wio_feed_name(feed, event, look != LOOK_NONE ? event->path : path, false, &name));
    if (look != LOOK_NONE) {
        WIO_TRY(wio_match_look(feed->match, name, wio_feed_point(feed, event),
                               tells_of_ns(feed, event, name), look == LOOK_FOUND, &wait.until));
    } else if (try != LOOK_NONE) {
        WIO_TRY(wio_match_look_gone(feed->match, name, wio_feed_point(feed, event), event->t_ns,
                                    try == LOOK_FOUND, &wait.until));
    }
    if (wait.until.looks == 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_alloc_room(&feed->alloc, (void **)&feed->waits, &feed->wait_room,
                           feed->wait_count + 1, sizeof(*feed->waits)));
    feed->waits[feed->wait_count++] = wait;
    return WIO_OK;
}
