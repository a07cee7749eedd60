/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/initial/initial_names.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "ops/calls.h"
#include "ops/lookup.h"
#include "replay/initial/classify.h"
#include "replay/initial/kind.h"

/* An operation on an extended attribute, also one that failed. */
static enum wio_status see_attr(struct rp_observer *observer, const struct wio_event *event,
                                uint32_t node)
{
    struct rp_space *space = &observer->space;
    const char *name = wio_trace_string(observer->trace, event->path2, NULL);
    uint32_t id;
    if (!rp_attr_is_data(name)) {
        return WIO_OK;
    }
    WIO_TRY(wio_strtab_add(&space->texts, name, strlen(name), &id));
    return rp_attrs_see(&space->attrs, event, space->nodes[node].file, id,
                        &rp_space_file(space, node)->attrs);
}

/* ---- one class of operations each; `node` may be RP_NONE where nothing is to be learnt ---- */

static bool may_make(const struct wio_event *event)
{
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_OPEN:
        return (wio_open_flags(event) & O_CREAT) != 0;
    case WIO_CLASS_MKDIR:
    case WIO_CLASS_MKNOD:
    case WIO_CLASS_SYMLINK:
        return true;
    default:
        return false;
    }
}

/* ENOTDIR: the name, or one on the way to it, is no directory. Where the names of the trace say
 * otherwise, the call began at a descriptor of a file, or below a directory that is another one by
 * now: the target cannot give the error. */
static enum wio_status see_no_directory(struct rp_observer *observer, const struct wio_event *event,
                                        uint32_t node)
{
    const struct rp_space *space = &observer->space;
    if (event->fd >= 0 || event->path2 != WIO_NO_STRING) {
        return WIO_OK;
    }
    return rp_space_may_meet_file(space, node) ? wio_map_put(&observer->met_file, node, 1)
                                               : wio_map_put(&observer->odd, rp_odd_key(event), 1);
}

/* ENOENT of a call that makes a file or link of this name, in a directory that is there: a slash
 * behind the name, which is not kept. */
static bool is_slash_behind_new(const struct rp_observer *observer, const struct wio_event *event,
                                uint32_t node)
{
    const struct rp_space *space = &observer->space;
    enum wio_class cls = wio_op_class(event->op);
    bool makes = cls == WIO_CLASS_LINK || cls == WIO_CLASS_MKNOD ||
                 (cls == WIO_CLASS_SYMLINK && event->path2 != WIO_NO_STRING);
    return makes && node != 0 && node != RP_NONE && event->path != WIO_NO_STRING &&
           space->nodes[node].state != RP_STATE_PRESENT &&
           space->nodes[space->nodes[node].parent].state == RP_STATE_PRESENT;
}

enum wio_status rp_see_failure(struct rp_observer *observer, const struct wio_event *event,
                               uint32_t node)
{
    struct rp_space *space = &observer->space;
    switch (event->error) {
    case ENOENT:
        if (wio_op_class(event->op) != WIO_CLASS_LINK &&
            is_slash_behind_new(observer, event, node)) {
            return wio_map_put(&observer->odd, rp_odd_key(event), 1);
        }
        rp_space_missed(space, node);
        break;
    case ENOTEMPTY:
        rp_space_found(space, node);
        rp_space_file(space, node)->type = WIO_FILE_DIRECTORY;
        rp_space_file(space, node)->is_not_empty |= !rp_space_has_entry(space, node);
        break;
    case EISDIR:
        rp_space_found(space, node);
        rp_space_file(space, node)->type = WIO_FILE_DIRECTORY;
        break;
    case EEXIST:
        if (event->path2 == WIO_NO_STRING || wio_op_class(event->op) == WIO_CLASS_SYMLINK) {
            rp_space_found(space, node);
        }
        break;
    case EINVAL: /* of readlink: it is there, and no link */
        if (event->op == WIO_OP_readlink) {
            rp_space_found(space, node);
        }
        break;
    case ENOTDIR:
        return see_no_directory(observer, event, node);
    case EPERM: /* EACCES may be about the directories above: it does not tell of the name */
        if (!may_make(event)) {
            rp_space_found(space, node);
        }
        break;
    case ENODATA:
    case EOPNOTSUPP:
        rp_space_found(space, node);
        break;
    default:
        break;
    }
    return wio_op_class(event->op) == WIO_CLASS_XATTR ? see_attr(observer, event, node) : WIO_OK;
}

static enum wio_status see_open(struct rp_observer *observer, const struct wio_event *event,
                                uint32_t node)
{
    struct rp_space *space = &observer->space;
    int flags = wio_open_flags(event);
    bool is_nameless = (flags & O_TMPFILE) == O_TMPFILE || event->op == WIO_OP_tmpfile;
    if (is_nameless || event->op == WIO_OP_fdopen || event->op == WIO_OP_fdopendir) {
        rp_space_found(space, node);
        if (is_nameless) { /* the path is that of the directory */
            rp_space_file(space, node)->type = WIO_FILE_DIRECTORY;
        }
        return WIO_OK;
    }
    if (wio_open_is_exclusive(event)) {
        return rp_space_make(space, node, WIO_FILE_REGULAR);
    }
    if ((flags & O_CREAT) != 0) {
        WIO_TRY(rp_space_open_or_make(space, node));
    } else {
        rp_space_found(space, node);
    }
    struct rp_file *file = rp_space_file(space, node);
    if ((flags & O_DIRECTORY) != 0) {
        file->type = WIO_FILE_DIRECTORY;
    }
    if ((flags & O_TRUNC) != 0 && (flags & O_ACCMODE) != O_RDONLY) {
        file->is_truncated = true;
    }
    return WIO_OK;
}

static enum wio_status see_entry(struct rp_observer *observer, const struct wio_event *event,
                                 uint32_t dir)
{
    struct rp_space *space = &observer->space;
    char path[PATH_MAX + NAME_MAX + 2];
    uint32_t node;
    rp_space_found(space, dir);
    rp_space_file(space, dir)->type = WIO_FILE_DIRECTORY;
    const char *name = wio_trace_string(observer->trace, event->path2, NULL);
    const char *text = wio_trace_string(observer->trace, event->path, NULL);
    if (event->op != WIO_OP_readdir || event->result != 1 || name[0] == '\0' ||
        strchr(name, '/') != NULL || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
        strlen(text) + strlen(name) + 2 > sizeof(path)) {
        return WIO_OK;
    }
    char *end = stpcpy(path, text);
    *end++ = '/';
    (void)stpcpy(end, name);
    if (rp_kind_of_path(path) != RP_KIND_FILE) {
        return WIO_OK;
    }
    WIO_TRY(rp_space_lookup(space, path, false, &node));
    if (node == RP_NONE) {
        return WIO_OK;
    }
    rp_space_found(space, node);
    struct rp_file *file = rp_space_file(space, node);
    if (file->type == WIO_FILE_UNKNOWN) {
        file->type = (uint8_t)rp_type_of_entry((unsigned)event->arg[0]);
    }
    return WIO_OK;
}

/* Of files that were only looked for this is all that tells of their mode. */
static void see_access(struct rp_file *file, const struct wio_event *event)
{
    file->may_execute |= (event->arg[0] & X_OK) != 0 && !file->is_altered;
}

static enum wio_status see_readlink(struct rp_observer *observer, const struct wio_event *event,
                                    uint32_t node)
{
    struct rp_space *space = &observer->space;
    rp_space_found(space, node);
    if (event->op != WIO_OP_readlink || rp_space_file(space, node)->origin != RP_ORIGIN_INITIAL) {
        return WIO_OK;
    }
    const char *text = wio_trace_string(observer->trace, event->path2, NULL);
    return text[0] == '\0' ? WIO_OK : rp_space_set_target(space, node, text);
}

/* EEXIST, ENOTEMPTY and EISDIR are about the new name; the old one was found before. */
static enum wio_status see_two_failed(struct rp_observer *observer, const struct wio_event *event,
                                      uint32_t from, uint32_t to)
{
    struct rp_space *space = &observer->space;
    bool is_of_new = event->error == EEXIST || event->error == ENOTEMPTY || event->error == EISDIR;
    if (event->error == ENOENT && from != RP_NONE && space->nodes[from].state == RP_STATE_PRESENT &&
        is_slash_behind_new(observer, event, to)) {
        return wio_map_put(&observer->odd, rp_odd_key(event), 1);
    }
    if (!is_of_new) {
        return from == RP_NONE ? WIO_OK : rp_see_failure(observer, event, from);
    }
    if (from != RP_NONE) {
        rp_space_found(space, from);
    }
    if (from != RP_NONE && event->error == ENOTEMPTY) {
        rp_space_file(space, from)->type = WIO_FILE_DIRECTORY;
    }
    if (to == RP_NONE) {
        return WIO_OK;
    }
    rp_space_found(space, to);
    struct rp_file *file = rp_space_file(space, to);
    file->is_not_empty |= event->error == ENOTEMPTY && !rp_space_has_entry(space, to);
    if (event->error != EEXIST) {
        file->type = WIO_FILE_DIRECTORY;
    }
    return WIO_OK;
}

enum wio_status rp_see_two_names(struct rp_observer *observer, const struct wio_event *event)
{
    struct rp_space *space = &observer->space;
    uint32_t from;
    uint32_t to;
    bool is_link = wio_op_class(event->op) == WIO_CLASS_LINK;
    WIO_TRY(rp_observer_node(observer, event->path, wio_event_follows_links(event), &from));
    WIO_TRY(rp_observer_node(observer, event->path2, false, &to));
    if (event->error != 0) {
        return see_two_failed(observer, event, from, to);
    }
    if (from == RP_NONE || to == RP_NONE) {
        return WIO_OK;
    }
    if (is_link) {
        rp_space_link(space, from, to);
        return WIO_OK;
    }
    return (event->arg[0] & RENAME_EXCHANGE) != 0 ? rp_space_exchange(space, from, to)
                                                  : rp_space_rename(space, from, to);
}

static enum wio_status see_symlink(struct rp_observer *observer, const struct wio_event *event,
                                   uint32_t node)
{
    WIO_TRY(rp_space_make(&observer->space, node, WIO_FILE_SYMLINK));
    return rp_space_set_target(&observer->space, node,
                               wio_trace_string(observer->trace, event->path2, NULL));
}

/* A descriptor of a file that nothing opened: it was there, and opened, before the trace began. */
static bool is_on_descriptor(const struct wio_event *event)
{
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_DUP:
    case WIO_CLASS_FCNTL:
    case WIO_CLASS_LOCK:
    case WIO_CLASS_SEEK:
    case WIO_CLASS_SYNC:
    case WIO_CLASS_ADVISE:
        return event->fd >= 0;
    default:
        return false;
    }
}

enum wio_status rp_see_success(struct rp_observer *observer, const struct wio_event *event,
                               uint32_t node)
{
    struct rp_space *space = &observer->space;
    if (is_on_descriptor(event)) {
        rp_space_found(space, node);
    }
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_OPEN:
        return see_open(observer, event, node);
    case WIO_CLASS_READ:
    case WIO_CLASS_ASYNC_READ:
        return rp_see_data(observer, event, node, true);
    case WIO_CLASS_WRITE:
    case WIO_CLASS_ASYNC_WRITE:
        return rp_see_data(observer, event, node, false);
    case WIO_CLASS_SEEK:
        return rp_see_seek(observer, event, node);
    case WIO_CLASS_SIZE:
        return rp_see_size(observer, event, node);
    case WIO_CLASS_STAT:
        return rp_see_stat(observer, event, node);
    case WIO_CLASS_READDIR:
        return see_entry(observer, event, node);
    case WIO_CLASS_READLINK:
        return see_readlink(observer, event, node);
    case WIO_CLASS_MKDIR:
        return rp_space_make(space, node, WIO_FILE_DIRECTORY);
    case WIO_CLASS_UNLINK:
        rp_space_remove(space, node);
        return WIO_OK;
    case WIO_CLASS_SYMLINK:
        return see_symlink(observer, event, node);
    case WIO_CLASS_ATTR:
        rp_space_found(space, node);
        rp_space_file(space, node)->is_altered = true;
        return WIO_OK;
    case WIO_CLASS_CWD:
        rp_space_found(space, node);
        rp_space_file(space, node)->type = WIO_FILE_DIRECTORY;
        return WIO_OK;
    case WIO_CLASS_MAP:
        return rp_see_map(observer, event, node);
    case WIO_CLASS_ACCESS:
        rp_space_found(space, node);
        see_access(rp_space_file(space, node), event);
        return WIO_OK;
    case WIO_CLASS_STATFS:
        rp_space_found(space, node);
        return WIO_OK;
    case WIO_CLASS_XATTR:
        rp_space_found(space, node);
        return see_attr(observer, event, node);
    default:
        return WIO_OK;
    }
}
