/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the node of a path in the name space: through links, as the kernel would. */
#include "replay/initial/namespace.h"

#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "replay/initial/namespace_internal.h"

#define LINKS_MAX 40

/* The initial path of a name below `parent`: below the initial path of that directory. */
static enum wio_status initial_path(struct rp_space *space, uint32_t parent, const char *name,
                                    size_t bytes, uint32_t *path_out)
{
    char text[RP_SPACE_PATH_BYTES];
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
    const uint64_t *known = wio_map_get(&space->children, rp_space_child_key(parent, name));
    if (known != NULL) {
        *node_out = (uint32_t)*known;
        return WIO_OK;
    }
    WIO_TRY(initial_path(space, parent, text, bytes, &path));
    WIO_TRY(rp_space_new_node(space, parent, name, path, node_out));
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
    char joined[RP_SPACE_PATH_BYTES];
    size_t bytes = strlen(text);
    size_t rest_bytes = strlen(rest);
    if (bytes + rest_bytes + 2 > sizeof(joined)) {
        return false;
    }
    memcpy(joined, text, bytes); /* NOLINT(bugprone-not-null-terminated-result) */
    joined[bytes] = '/';
    memcpy(joined + bytes + 1, rest, rest_bytes + 1);
    memcpy(left, joined, bytes + rest_bytes + 2);
    return true;
}

enum wio_status rp_space_lookup(struct rp_space *space, const char *path, bool follow,
                                uint32_t *node_out)
{
    char left[RP_SPACE_PATH_BYTES];
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
