/* SPDX-License-Identifier: Apache-2.0 */
/* What events do to names, and what they tell of files as they were before the run. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "ops/lookup.h"
#include "state/state_internal.h"

static struct state_node *node_at(struct wio_state *state, uint32_t node)
{
    return &state->names.nodes[node];
}

/* A link, or a directory with names below it: other paths lead through it. */
static bool is_on_the_way(const struct state_node *node)
{
    return node->target != 0 || node->children > 0;
}

/* The node means no file any more. */
static void clear(struct wio_state *state, uint32_t node)
{
    struct state_node *at = node_at(state, node);
    if (at->file != WIO_NO_INDEX) {
        state->files.items[at->file].names--;
    }
    state->names.epoch += at->target != 0 ? 1 : 0;
    at->file = WIO_NO_INDEX;
    at->target = 0;
}

static void remove_name(struct wio_state *state, uint32_t node)
{
    clear(state, node);
    node_at(state, node)->presence = STATE_NAME_ABSENT;
}

/* The node means this file. */
static void give(struct wio_state *state, uint32_t node, uint32_t file, uint32_t target)
{
    state->files.items[file].names++;
    clear(state, node);
    struct state_node *at = node_at(state, node);
    at->file = file;
    at->target = target;
    at->presence = STATE_NAME_PRESENT;
    state->names.epoch += target != 0 ? 1 : 0;
}

static enum wio_status make(struct wio_state *state, uint32_t node, uint32_t path, uint32_t target)
{
    uint32_t file;
    WIO_TRY(state_new_file(state, path, WIO_STATE_MADE, &file));
    give(state, node, file, target);
    return WIO_OK;
}

/* The name was found: there before the run, unless the run has made it. */
static enum wio_status find(struct wio_state *state, uint32_t node, uint32_t path)
{
    uint32_t file;
    WIO_TRY(state_file_at(state, node, path, &file));
    struct state_node *at = node_at(state, node);
    struct state_file *it = &state->files.items[file];
    if (at->presence != STATE_NAME_PRESENT && it->origin == WIO_STATE_UNKNOWN) {
        it->origin = WIO_STATE_INITIAL;
    }
    at->presence = STATE_NAME_PRESENT;
    return WIO_OK;
}

static enum wio_status open_or_make(struct wio_state *state, uint32_t node, uint32_t path)
{
    uint32_t file;
    if (node_at(state, node)->presence == STATE_NAME_ABSENT) {
        return make(state, node, path, 0);
    }
    WIO_TRY(state_file_at(state, node, path, &file));
    struct state_file *it = &state->files.items[file];
    it->origin = it->origin == WIO_STATE_UNKNOWN ? WIO_STATE_MAYBE : it->origin;
    node_at(state, node)->presence = STATE_NAME_PRESENT;
    return WIO_OK;
}

/* Each takes the other's place, with all that lies below. */
static enum wio_status swap_places(struct wio_state *state, uint32_t a, uint32_t b)
{
    const struct state_node was_a = *node_at(state, a);
    const struct state_node was_b = *node_at(state, b);
    state_detach(state, a);
    state_detach(state, b);
    WIO_TRY(state_attach(state, a, was_b.parent, was_b.name));
    WIO_TRY(state_attach(state, b, was_a.parent, was_a.name));
    state->names.epoch++;
    return WIO_OK;
}

/* What the new name meant is gone; the old one means nothing. */
static enum wio_status move(struct wio_state *state, uint32_t from, uint32_t to)
{
    const bool is_tree = is_on_the_way(node_at(state, from)) || is_on_the_way(node_at(state, to));
    if (is_tree) {
        remove_name(state, to);
        return swap_places(state, from, to);
    }
    give(state, to, node_at(state, from)->file, 0);
    remove_name(state, from);
    return WIO_OK;
}

static enum wio_status rename_node(struct wio_state *state, const struct wio_event *event,
                                   uint32_t from, uint32_t to)
{
    uint32_t file;
    uint32_t other;
    WIO_TRY(find(state, from, event->path));
    WIO_TRY(state_file_at(state, from, event->path, &file));
    if ((event->arg[0] & RENAME_EXCHANGE) != 0) {
        WIO_TRY(find(state, to, event->path2));
        return swap_places(state, from, to);
    }
    WIO_TRY(state_file_at(state, to, event->path2, &other));
    return file == other ? WIO_OK
                         : move(state, from, to); /* two names of one file stay: rename(2) */
}

static enum wio_status link_node(struct wio_state *state, const struct wio_event *event,
                                 uint32_t from, uint32_t to)
{
    WIO_TRY(find(state, from, event->path));
    const struct state_node at = *node_at(state, from);
    give(state, to, at.file, at.target);
    return WIO_OK;
}

static enum wio_status two_names(struct wio_state *state, const struct wio_event *event,
                                 uint32_t host, uint32_t from)
{
    uint32_t to;
    WIO_TRY(state_find_name(state, host, event->path2, false, &to));
    if (to == WIO_NO_INDEX || to == from) {
        return WIO_OK;
    }
    return state_class(event) == WIO_CLASS_LINK ? link_node(state, event, from, to)
                                                : rename_node(state, event, from, to);
}

static enum wio_status read_link(struct wio_state *state, const struct wio_event *event,
                                 uint32_t node)
{
    WIO_TRY(find(state, node, event->path));
    struct state_node *at = node_at(state, node);
    if (event->op == WIO_OP_readlink && at->target != event->path2) {
        at->target = event->path2;
        state->names.epoch++;
    }
    return WIO_OK;
}

static enum wio_status open_name(struct wio_state *state, const struct wio_event *event,
                                 uint32_t node)
{
    const int flags = wio_open_flags(event);
    if (event->op == WIO_OP_fdopen || event->op == WIO_OP_fdopendir || event->op == WIO_OP_popen) {
        return WIO_OK;
    }
    if (event->op == WIO_OP_memfd_create || event->op == WIO_OP_tmpfile ||
        (flags & O_TMPFILE) == O_TMPFILE) {
        return WIO_OK; /* files without a name */
    }
    if (wio_open_is_exclusive(event)) {
        /* The open that fopen(.., "x") has made is the same one. */
        const bool is_same = (event->flags & WIO_EVENT_CAUSED) != 0 &&
                             node_at(state, node)->presence == STATE_NAME_PRESENT;
        return is_same ? WIO_OK : make(state, node, event->path, 0);
    }
    return (flags & O_CREAT) != 0 ? open_or_make(state, node, event->path)
                                  : find(state, node, event->path);
}

static enum wio_status succeed(struct wio_state *state, const struct wio_event *event,
                               uint32_t host, uint32_t node)
{
    switch (state_class(event)) {
    case WIO_CLASS_OPEN:
        return open_name(state, event, node);
    case WIO_CLASS_MKDIR:
    case WIO_CLASS_MKNOD:
        return make(state, node, event->path, 0);
    case WIO_CLASS_SYMLINK:
        return make(state, node, event->path, event->path2);
    case WIO_CLASS_UNLINK:
        WIO_TRY(find(state, node, event->path));
        remove_name(state, node);
        return WIO_OK;
    case WIO_CLASS_RENAME:
    case WIO_CLASS_LINK:
        return two_names(state, event, host, node);
    case WIO_CLASS_READLINK:
        return read_link(state, event, node);
    default:
        return event->fd == WIO_NO_FD ? find(state, node, event->path) : WIO_OK;
    }
}

/* A call that failed tells that the name is missing, or that it is there. */
static enum wio_status fail(struct wio_state *state, const struct wio_event *event, uint32_t node)
{
    struct state_node *at = node_at(state, node);
    if (event->error == ENOENT && at->presence == STATE_NAME_UNKNOWN && !is_on_the_way(at)) {
        at->presence = STATE_NAME_ABSENT;
    }
    return event->error == EEXIST && state_class(event) != WIO_CLASS_RENAME &&
                   state_class(event) != WIO_CLASS_LINK
               ? find(state, node, event->path)
               : WIO_OK;
}

enum wio_status state_name_event(struct wio_state *state, const struct wio_event *event)
{
    if ((wio_op_properties(event->op) & WIO_DOES_BY_NAME) == 0 || event->path == WIO_NO_STRING) {
        return WIO_OK;
    }
    uint32_t node;
    const uint32_t host = state->params.processes[state_process_of(state, event)].host;
    WIO_TRY(state_find_name(state, host, event->path, wio_event_follows_links(event), &node));
    if (node == WIO_NO_INDEX) {
        return WIO_OK;
    }
    return event->error == 0 ? succeed(state, event, host, node) : fail(state, event, node);
}
