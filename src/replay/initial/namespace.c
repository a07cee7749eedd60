/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/initial/namespace.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "replay/initial/namespace_internal.h"

static enum wio_status new_file(struct rp_space *space, uint32_t path, uint32_t *file_out)
{
    void *files = space->files;
    WIO_TRY(
        wio_make_room(&files, sizeof(*space->files), &space->file_capacity, space->file_count + 1));
    space->files = files;
    space->files[space->file_count] = (struct rp_file){.path = path};
    *file_out = space->file_count++;
    return WIO_OK;
}

enum wio_status rp_space_new_node(struct rp_space *space, uint32_t parent, uint32_t name,
                                  uint32_t path, uint32_t *node_out)
{
    uint32_t file;
    WIO_TRY(new_file(space, path, &file));
    void *array = space->nodes;
    WIO_TRY(
        wio_make_room(&array, sizeof(*space->nodes), &space->node_capacity, space->node_count + 1));
    struct rp_node *nodes = array;
    space->nodes = nodes;
    uint32_t node = space->node_count++;
    nodes[node] = (struct rp_node){
        .parent = parent, .name = name, .child = RP_NONE, .next = RP_NONE, .file = file};
    if (node != 0) {
        nodes[node].next = nodes[parent].child;
        nodes[parent].child = node;
        WIO_TRY(wio_map_put(&space->children, rp_space_child_key(parent, name), node));
    }
    *node_out = node;
    return WIO_OK;
}

enum wio_status rp_space_init(struct rp_space *space)
{
    uint32_t root;
    uint32_t path;
    WIO_TRY(wio_strtab_add(&space->texts, "/", 1, &path));
    WIO_TRY(rp_space_new_node(space, 0, 0, path, &root));
    space->nodes[root].state = RP_STATE_PRESENT;
    space->files[0].origin = RP_ORIGIN_INITIAL;
    space->files[0].type = WIO_FILE_DIRECTORY;
    return WIO_OK;
}

void rp_space_fini(struct rp_space *space)
{
    for (uint32_t i = 0; i < space->file_count; i++) {
        rp_extents_fini(&space->files[i].reads);
    }
    free(space->files);
    free(space->nodes);
    wio_strtab_fini(&space->texts);
    wio_strtab_fini(&space->past);
    wio_map_fini(&space->children);
    rp_attrs_fini(&space->attrs);
    *space = (struct rp_space){0};
}

const char *rp_space_path(const struct rp_space *space, uint32_t node, char *buffer, size_t size)
{
    size_t at = size - 1;
    buffer[at] = '\0';
    for (; node != 0; node = space->nodes[node].parent) {
        size_t bytes;
        const char *name = wio_strtab_get(&space->texts, space->nodes[node].name, &bytes);
        if (bytes + 1 > at) {
            return NULL;
        }
        at -= bytes;
        memcpy(buffer + at, name, bytes);
        buffer[--at] = '/';
    }
    return at == size - 1 ? "/" : buffer + at;
}

void rp_space_mark_present(struct rp_space *space, uint32_t node)
{
    space->nodes[node].state = RP_STATE_PRESENT;
    space->nodes[node].was_present = true;
}

void rp_space_found_parents(struct rp_space *space, uint32_t node)
{
    while (node != 0) {
        node = space->nodes[node].parent;
        if (space->nodes[node].state == RP_STATE_PRESENT) {
            break;
        }
        struct rp_file *file = rp_space_file(space, node);
        if (file->origin == RP_ORIGIN_UNKNOWN) {
            file->origin = RP_ORIGIN_INITIAL;
        }
        if (file->type == WIO_FILE_UNKNOWN) {
            file->type = WIO_FILE_DIRECTORY;
        }
        rp_space_mark_present(space, node);
    }
    struct rp_file *dir = rp_space_file(space, node);
    if (dir->type == WIO_FILE_UNKNOWN) {
        dir->type = WIO_FILE_DIRECTORY;
    }
}

void rp_space_found(struct rp_space *space, uint32_t node)
{
    struct rp_file *file = rp_space_file(space, node);
    if (space->nodes[node].state == RP_STATE_PRESENT) {
        return;
    }
    if (space->nodes[node].state == RP_STATE_REMOVED) {
        return; /* made anew by something that was not seen */
    }
    if (file->origin == RP_ORIGIN_UNKNOWN) {
        file->origin = RP_ORIGIN_INITIAL;
    }
    rp_space_found_parents(space, node);
    rp_space_mark_present(space, node);
}

void rp_space_missed(struct rp_space *space, uint32_t node)
{
    if (space->nodes[node].state == RP_STATE_UNKNOWN) {
        space->nodes[node].state = RP_STATE_ABSENT;
    }
}

/* The first name of the path that is not known to be there, or the node itself. */
static uint32_t first_unknown(const struct rp_space *space, uint32_t node)
{
    uint32_t dir = space->nodes[node].parent;
    while (dir != 0 && space->nodes[dir].state != RP_STATE_PRESENT) {
        node = dir;
        dir = space->nodes[dir].parent;
    }
    return node;
}

bool rp_space_may_meet_file(const struct rp_space *space, uint32_t node)
{
    uint32_t below = first_unknown(space, node);
    uint32_t dir = space->nodes[below].parent;
    bool is_directory = dir == 0 || rp_space_file(space, dir)->type == WIO_FILE_DIRECTORY;
    uint8_t state = space->nodes[below].state;
    return !is_directory || state == RP_STATE_UNKNOWN ||
           (state == RP_STATE_PRESENT && rp_space_file(space, below)->type != WIO_FILE_DIRECTORY);
}

void rp_space_met_file(struct rp_space *space, uint32_t node)
{
    uint32_t below = first_unknown(space, node);
    uint32_t dir = space->nodes[below].parent;
    bool is_directory = dir == 0 || rp_space_file(space, dir)->type == WIO_FILE_DIRECTORY;
    if (!rp_space_may_meet_file(space, node)) {
        return;
    }
    if (is_directory) {
        rp_space_found(space, below);
    }
    struct rp_file *file = rp_space_file(space, is_directory ? below : dir);
    if (file->type == WIO_FILE_UNKNOWN) {
        file->type = WIO_FILE_REGULAR;
    }
}

enum wio_status rp_space_make(struct rp_space *space, uint32_t node, enum wio_file_type type)
{
    uint32_t file = space->nodes[node].file;
    rp_space_found_parents(space, node);
    if (space->files[file].origin != RP_ORIGIN_UNKNOWN) {
        WIO_TRY(new_file(space, space->files[file].path, &file));
        space->nodes[node].file = file;
    }
    space->files[file].origin = RP_ORIGIN_MADE;
    space->files[file].type = type;
    space->files[file].target = 0; /* the FILES table has that of a later link */
    rp_space_mark_present(space, node);
    space->epoch++;
    return WIO_OK;
}

enum wio_status rp_space_open_or_make(struct rp_space *space, uint32_t node)
{
    struct rp_file *file = rp_space_file(space, node);
    switch (space->nodes[node].state) {
    case RP_STATE_PRESENT:
        return WIO_OK;
    case RP_STATE_UNKNOWN:
        break;
    default:
        return rp_space_make(space, node, WIO_FILE_REGULAR);
    }
    rp_space_found_parents(space, node);
    if (file->origin == RP_ORIGIN_UNKNOWN) {
        file->origin = RP_ORIGIN_MAYBE;
    }
    if (file->type == WIO_FILE_UNKNOWN) {
        file->type = WIO_FILE_REGULAR;
    }
    rp_space_mark_present(space, node);
    return WIO_OK;
}

void rp_space_remove(struct rp_space *space, uint32_t node)
{
    rp_space_found(space, node);
    rp_space_file(space, node)->is_altered = true;
    rp_space_file(space, node)->is_not_empty = false; /* what was in it was removed, and so seen */
    space->nodes[node].state = RP_STATE_REMOVED;
    space->epoch++;
}

bool rp_space_has_entry(const struct rp_space *space, uint32_t node)
{
    for (uint32_t at = space->nodes[node].child; at != RP_NONE; at = space->nodes[at].next) {
        if (space->nodes[at].state == RP_STATE_PRESENT) {
            return true;
        }
    }
    return false;
}

void rp_space_link(struct rp_space *space, uint32_t from, uint32_t to)
{
    rp_space_found(space, from);
    rp_space_found_parents(space, to);
    space->nodes[to].file = space->nodes[from].file;
    rp_space_mark_present(space, to);
    space->epoch++;
}

enum wio_status rp_space_set_target(struct rp_space *space, uint32_t node, const char *text)
{
    uint32_t id;
    WIO_TRY(wio_strtab_add(&space->texts, text, strlen(text), &id));
    struct rp_file *file = rp_space_file(space, node);
    if (file->target == 0) {
        file->target = id;
        file->type = WIO_FILE_SYMLINK;
        space->epoch++;
    }
    return WIO_OK;
}
