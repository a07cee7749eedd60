/* SPDX-License-Identifier: Apache-2.0 */
/* Renames in the name space, of directories with all that is below them. */
#include "replay/initial/namespace.h"

#include <string.h>

#include "base/cleanup.h"
#include "replay/initial/namespace_internal.h"

/* Names below are moved one by one. No program renames directories with so many names below so
 * often; a hostile trace would cost the product. */
#define MOVED_MOST (UINT64_C(1) << 23)
#define MOVED_PER_NODE 16u

/* The next node of a walk over the tree below `top`, depth first; RP_NONE at the end. Without
 * recursion: a hostile tree may be deep. */
static uint32_t next_below(const struct rp_space *space, uint32_t top, uint32_t at)
{
    if (space->nodes[at].child != RP_NONE) {
        return space->nodes[at].child;
    }
    while (at != top && space->nodes[at].next == RP_NONE) {
        at = space->nodes[at].parent;
    }
    return at == top ? RP_NONE : space->nodes[at].next;
}

/* What is below a directory loses its path: keep it, it was there. */
static enum wio_status remember_below(struct rp_space *space, uint32_t top)
{
    char buffer[RP_SPACE_PATH_BYTES];
    for (uint32_t at = next_below(space, top, top); at != RP_NONE;
         at = next_below(space, top, at)) {
        const char *path = rp_space_path(space, at, buffer, sizeof(buffer));
        uint32_t id;
        space->moved++;
        if (space->nodes[at].was_present && path != NULL) {
            WIO_TRY(wio_strtab_add(&space->past, path, strlen(path), &id));
        }
    }
    return WIO_OK;
}

/* Give the children of `from` to `to`, which must have none that count. */
static enum wio_status move_children(struct rp_space *space, uint32_t from, uint32_t to)
{
    for (uint32_t child = space->nodes[from].child; child != RP_NONE;) {
        struct rp_node *node = &space->nodes[child];
        uint32_t next = node->next;
        (void)wio_map_remove(&space->children, rp_space_child_key(from, node->name));
        const uint64_t *old = wio_map_get(&space->children, rp_space_child_key(to, node->name));
        if (old !=
            NULL) { /* a name that was looked up there before: it takes over what is behind */
            space->nodes[*old].file = node->file;
            space->nodes[*old].state = node->state;
            WIO_TRY(move_children(space, child, (uint32_t)*old));
        } else {
            WIO_TRY(wio_map_put(&space->children, rp_space_child_key(to, node->name), child));
            node->parent = to;
            node->next = space->nodes[to].child;
            space->nodes[to].child = child;
        }
        child = next;
    }
    space->nodes[from].child = RP_NONE;
    return WIO_OK;
}

static bool is_below(const struct rp_space *space, uint32_t node, uint32_t dir)
{
    for (; node != 0; node = space->nodes[node].parent) {
        if (node == dir) {
            return true;
        }
    }
    return dir == 0;
}

enum wio_status rp_space_rename(struct rp_space *space, uint32_t from, uint32_t to)
{
    if (is_below(space, to, from) || is_below(space, from, to)) {
        return WIO_OK; /* no kernel does that: a wrong trace, or the same name */
    }
    if (space->moved > MOVED_MOST + MOVED_PER_NODE * (uint64_t)space->node_count) {
        return WIO_ERR_UNSUPPORTED;
    }
    rp_space_found(space, from);
    rp_space_file(space, from)->is_altered = true;
    rp_space_found_parents(space, to);
    space->nodes[to].file = space->nodes[from].file;
    WIO_TRY(remember_below(space, from));
    WIO_TRY(move_children(space, from, to));
    rp_space_mark_present(space, to);
    space->nodes[from].state = RP_STATE_REMOVED;
    space->epoch++;
    return WIO_OK;
}

enum wio_status rp_space_exchange(struct rp_space *space, uint32_t a, uint32_t b)
{
    rp_space_found(space, a);
    rp_space_found(space, b);
    rp_space_file(space, a)->is_altered = true;
    rp_space_file(space, b)->is_altered = true;
    uint32_t file = space->nodes[a].file; /* of directories the names below stay where they are */
    space->nodes[a].file = space->nodes[b].file;
    space->nodes[b].file = file;
    space->epoch++;
    return WIO_OK;
}
