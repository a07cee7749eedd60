/* SPDX-License-Identifier: Apache-2.0 */
/* Names of fifos, sockets and devices. They are made, moved and removed as those of files are, but
 * never in the target: a file that is found under such a name afterwards is another one. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "ops/calls.h"
#include "ops/lookup.h"
#include "replay/initial/classify.h"
#include "replay/initial/initial_names.h"
#include "trace/format/file_type.h"

/* Of what mknod and mkfifo make; no type means a regular file. */
static uint8_t kind_made(const struct wio_event *event)
{
    uint32_t mode = (uint32_t)event->arg[0];
    if (event->op == WIO_OP_mkfifo) {
        return RP_KIND_OF_SKIP(PIPE);
    }
    return (mode & S_IFMT) == 0 ? RP_KIND_FILE : rp_kind_of_type(wio_file_type_of_mode(mode));
}

/* Something else has the name from now on. */
static enum wio_status take(struct rp_observer *observer, uint32_t string)
{
    struct rp_space *space = &observer->space;
    uint32_t node;
    WIO_TRY(rp_observer_name(observer, string, &node));
    if (node == RP_NONE) {
        return WIO_OK;
    }
    if (space->nodes[node].state == RP_STATE_PRESENT) {
        rp_space_remove(space, node);
    }
    return rp_space_make(space, node, WIO_FILE_REGULAR);
}

/* What was there before the run is not made, and so not removed either. */
static enum wio_status leave(struct rp_observer *observer, uint32_t string)
{
    struct rp_space *space = &observer->space;
    uint32_t node;
    rp_kinds_remove(&observer->kinds, string);
    WIO_TRY(rp_observer_name(observer, string, &node));
    if (node != RP_NONE && space->nodes[node].state == RP_STATE_PRESENT) {
        rp_space_remove(space, node);
    } else if (node != RP_NONE) {
        rp_space_missed(space, node);
    }
    return WIO_OK;
}

static bool is_exchange(const struct wio_event *event)
{
    return wio_op_class(event->op) == WIO_CLASS_RENAME && (event->arg[0] & RENAME_EXCHANGE) != 0;
}

static enum wio_status see_rename(struct rp_observer *observer, const struct wio_event *event)
{
    struct rp_kinds *kinds = &observer->kinds;
    uint8_t from = rp_kinds_now(kinds, event->path);
    uint8_t to = rp_kinds_now(kinds, event->path2);
    if (is_exchange(event)) {
        WIO_TRY(rp_kinds_set(kinds, event->path, to, event->t_ns));
        return rp_kinds_set(kinds, event->path2, from, event->t_ns);
    }
    WIO_TRY(leave(observer, event->path));
    WIO_TRY(take(observer, event->path2));
    return rp_kinds_set(kinds, event->path2, from, event->t_ns);
}

static bool is_by_name(const struct wio_event *event)
{
    return event->op != WIO_OP_fstat && (event->fd < 0 || (event->arg[0] & AT_EMPTY_PATH) == 0);
}

static bool is_file(uint32_t mode)
{
    return S_ISREG(mode) || S_ISDIR(mode);
}

/* Does the operation show that a file has the name, where something else had it? */
static bool shows_file(const struct rp_kinds *kinds, const struct wio_event *event)
{
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_MKDIR:
    case WIO_CLASS_SYMLINK:
        return true;
    case WIO_CLASS_OPEN:
        return rp_kinds_is_gone(kinds, event->path) || wio_open_is_exclusive(event);
    case WIO_CLASS_STAT:
        return is_by_name(event) && is_file((uint32_t)event->arg[1]);
    default:
        return false;
    }
}

enum wio_status rp_see_special(struct rp_observer *observer, const struct wio_event *event,
                               bool *seen_out)
{
    struct rp_kinds *kinds = &observer->kinds;
    enum wio_class cls = wio_op_class(event->op);
    bool is_special = rp_kinds_is_special(kinds, event->path) ||
                      (is_exchange(event) && rp_kinds_is_special(kinds, event->path2));
    *seen_out = false;
    if (event->error != 0) {
        return WIO_OK;
    }
    if (cls == WIO_CLASS_MKNOD) {
        WIO_TRY(rp_kinds_set(kinds, event->path, kind_made(event), event->t_ns));
        *seen_out = true;
        return take(observer, event->path);
    }
    if (is_special && cls == WIO_CLASS_UNLINK) {
        *seen_out = true;
        return leave(observer, event->path);
    }
    if (is_special && cls == WIO_CLASS_RENAME) {
        *seen_out = true;
        return see_rename(observer, event);
    }
    if (is_special && cls == WIO_CLASS_LINK) {
        *seen_out = true;
        WIO_TRY(take(observer, event->path2));
    }
    if (cls == WIO_CLASS_RENAME || cls == WIO_CLASS_LINK) {
        /* A file takes the name, whatever the old path is by its text: /proc/self/fd/5 is one of a
         * file without a name. */
        uint8_t kind = is_special ? rp_kinds_now(kinds, event->path) : RP_KIND_FILE;
        return rp_kinds_set(kinds, event->path2, kind, event->t_ns);
    }
    return is_special && shows_file(kinds, event)
               ? rp_kinds_set(kinds, event->path, RP_KIND_FILE, event->t_ns)
               : WIO_OK;
}
