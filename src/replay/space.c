/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/space.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define LINKS_MAX 40
#define PATH_BYTES                                                                                 \
    8192 /* a recorded path may be longer than PATH_MAX: composed from a directory                 \
          */

static uint64_t child_key(uint32_t parent, uint32_t name)
{
    return (uint64_t)parent << 32 | name;
}

static void *grow(void *items, uint32_t count, uint32_t *capacity, size_t item)
{
    if (count < *capacity) {
        return items;
    }
    uint32_t wanted = *capacity == 0 ? 64 : *capacity * 2;
    void *moved = wanted > *capacity ? reallocarray(items, wanted, item) : NULL;
    if (moved != NULL) {
        *capacity = wanted;
    }
    return moved;
}

static enum wio_status new_file(struct rp_space *space, uint32_t path, uint32_t *file_out)
{
    struct rp_file *files =
        grow(space->files, space->file_count, &space->file_capacity, sizeof(*files));
    if (files == NULL) {
        return WIO_ERR_NOMEM;
    }
    space->files = files;
    files[space->file_count] = (struct rp_file){.path = path};
    *file_out = space->file_count++;
    return WIO_OK;
}

static enum wio_status new_node(struct rp_space *space, uint32_t parent, uint32_t name,
                                uint32_t path, uint32_t *node_out)
{
    uint32_t file;
    WIO_TRY(new_file(space, path, &file));
    struct rp_node *nodes =
        grow(space->nodes, space->node_count, &space->node_capacity, sizeof(*nodes));
    if (nodes == NULL) {
        return WIO_ERR_NOMEM;
    }
    space->nodes = nodes;
    uint32_t node = space->node_count++;
    nodes[node] = (struct rp_node){
        .parent = parent, .name = name, .child = RP_NONE, .next = RP_NONE, .file = file};
    if (node != 0) {
        nodes[node].next = nodes[parent].child;
        nodes[parent].child = node;
        WIO_TRY(wio_map_put(&space->children, child_key(parent, name), node));
    }
    *node_out = node;
    return WIO_OK;
}

enum wio_status rp_space_init(struct rp_space *space)
{
    uint32_t root;
    uint32_t path;
    WIO_TRY(wio_strtab_add(&space->texts, "/", 1, &path));
    WIO_TRY(new_node(space, 0, 0, path, &root));
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

/* The initial path of a name below `parent`: below the initial path of that directory. */
static enum wio_status initial_path(struct rp_space *space, uint32_t parent, const char *name,
                                    size_t bytes, uint32_t *path_out)
{
    char text[PATH_BYTES];
    size_t dir_bytes;
    const char *dir = wio_strtab_get(&space->texts, rp_space_file(space, parent)->path, &dir_bytes);
    if (dir_bytes == 1) {
        dir_bytes = 0; /* the root */
    }
    if (dir_bytes + bytes + 2 > sizeof(text)) {
        *path_out = 0;
        return WIO_OK;
    }
    memcpy(text, dir, dir_bytes); /* NOLINT(bugprone-not-null-terminated-result) */
    text[dir_bytes] = '/';
    memcpy(text + dir_bytes + 1, name, bytes);
    return wio_strtab_add(&space->texts, text, dir_bytes + 1 + bytes, path_out);
}

static enum wio_status child_of(struct rp_space *space, uint32_t parent, const char *text,
                                size_t bytes, uint32_t *node_out)
{
    uint32_t name;
    uint32_t path;
    WIO_TRY(wio_strtab_add(&space->texts, text, bytes, &name));
    const uint64_t *known = wio_map_get(&space->children, child_key(parent, name));
    if (known != NULL) {
        *node_out = (uint32_t)*known;
        return WIO_OK;
    }
    WIO_TRY(initial_path(space, parent, text, bytes, &path));
    WIO_TRY(new_node(space, parent, name, path, node_out));
    struct rp_node *node = &space->nodes[*node_out];
    if (rp_space_file(space, parent)->origin == RP_ORIGIN_MADE) {
        node->state = RP_STATE_ABSENT; /* what the run makes is empty at first */
        space->files[node->file].origin = RP_ORIGIN_MADE;
    }
    return WIO_OK;
}

static bool is_known_link(const struct rp_space *space, uint32_t node)
{
    const struct rp_file *file = rp_space_file(space, node);
    return file->type == WIO_FILE_SYMLINK && file->target != 0 &&
           space->nodes[node].state != RP_STATE_REMOVED;
}

/* Replace what is left by the link's text and the rest behind it. */
static bool splice_link(char *left, const char *text, const char *rest)
{
    char joined[PATH_BYTES];
    size_t bytes = strlen(text);
    size_t rest_bytes = strlen(rest);
    if (bytes + rest_bytes + 2 > sizeof(joined)) {
        return false;
    }
    memcpy(joined, text, bytes);
    joined[bytes] = '/';
    memcpy(joined + bytes + 1, rest, rest_bytes + 1);
    memcpy(left, joined, bytes + rest_bytes + 2);
    return true;
}

enum wio_status rp_space_lookup(struct rp_space *space, const char *path, bool follow,
                                uint32_t *node_out)
{
    char left[PATH_BYTES];
    uint32_t at = 0;
    unsigned links = 0;
    size_t all = strlen(path);
    *node_out = RP_NONE;
    if (all >= sizeof(left)) {
        return WIO_OK;
    }
    memcpy(left, path, all + 1);
    for (const char *start = left + strspn(left, "/"); *start != '\0';) {
        size_t bytes = strcspn(start, "/");
        const char *rest = start + bytes + strspn(start + bytes, "/");
        if (bytes > NAME_MAX) {
            return WIO_OK;
        }
        uint32_t next = at;
        if (bytes == 2 && start[0] == '.' && start[1] == '.') {
            next = space->nodes[at].parent;
        } else if (bytes != 1 || start[0] != '.') {
            WIO_TRY(child_of(space, at, start, bytes, &next));
        }
        if (is_known_link(space, next) && (*rest != '\0' || follow)) {
            const char *text =
                wio_strtab_get(&space->texts, rp_space_file(space, next)->target, NULL);
            at = text[0] == '/' ? 0 : at;
            if (++links > LINKS_MAX || !splice_link(left, text, rest)) {
                return WIO_OK;
            }
            start = left + strspn(left, "/");
            continue;
        }
        at = next;
        start = rest;
    }
    *node_out = at;
    return WIO_OK;
}

static void mark_present(struct rp_space *space, uint32_t node)
{
    space->nodes[node].state = RP_STATE_PRESENT;
    space->nodes[node].was_present = true;
}

/* A directory on the way to something that is there. */
static void found_parents(struct rp_space *space, uint32_t node)
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
        mark_present(space, node);
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
    found_parents(space, node);
    mark_present(space, node);
}

void rp_space_missed(struct rp_space *space, uint32_t node)
{
    if (space->nodes[node].state == RP_STATE_UNKNOWN) {
        space->nodes[node].state = RP_STATE_ABSENT;
    }
}

enum wio_status rp_space_make(struct rp_space *space, uint32_t node, enum wio_file_type type)
{
    uint32_t file = space->nodes[node].file;
    found_parents(space, node);
    if (space->files[file].origin != RP_ORIGIN_UNKNOWN) {
        WIO_TRY(new_file(space, space->files[file].path, &file));
        space->nodes[node].file = file;
    }
    space->files[file].origin = RP_ORIGIN_MADE;
    space->files[file].type = type;
    space->files[file].target = 0; /* the FILES table has that of a later link */
    mark_present(space, node);
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
    found_parents(space, node);
    if (file->origin == RP_ORIGIN_UNKNOWN) {
        file->origin = RP_ORIGIN_MAYBE;
    }
    if (file->type == WIO_FILE_UNKNOWN) {
        file->type = WIO_FILE_REGULAR;
    }
    mark_present(space, node);
    return WIO_OK;
}

void rp_space_remove(struct rp_space *space, uint32_t node)
{
    rp_space_found(space, node);
    rp_space_file(space, node)->is_altered = true;
    space->nodes[node].state = RP_STATE_REMOVED;
    space->epoch++;
}

void rp_space_link(struct rp_space *space, uint32_t from, uint32_t to)
{
    rp_space_found(space, from);
    found_parents(space, to);
    space->nodes[to].file = space->nodes[from].file;
    mark_present(space, to);
    space->epoch++;
}

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
    char buffer[PATH_BYTES];
    for (uint32_t at = next_below(space, top, top); at != RP_NONE;
         at = next_below(space, top, at)) {
        const char *path = rp_space_path(space, at, buffer, sizeof(buffer));
        uint32_t id;
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
        (void)wio_map_remove(&space->children, child_key(from, node->name));
        const uint64_t *old = wio_map_get(&space->children, child_key(to, node->name));
        if (old !=
            NULL) { /* a name that was looked up there before: it takes over what is behind */
            space->nodes[*old].file = node->file;
            space->nodes[*old].state = node->state;
            WIO_TRY(move_children(space, child, (uint32_t)*old));
        } else {
            WIO_TRY(wio_map_put(&space->children, child_key(to, node->name), child));
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
        return WIO_OK; /* no kernel does that: a trace that lies, or the same name */
    }
    rp_space_found(space, from);
    rp_space_file(space, from)->is_altered = true;
    found_parents(space, to);
    space->nodes[to].file = space->nodes[from].file;
    WIO_TRY(remember_below(space, from));
    WIO_TRY(move_children(space, from, to));
    mark_present(space, to);
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
