/* SPDX-License-Identifier: Apache-2.0 */
#include "store/catalogue/walk.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "store/catalogue/permission.h"

enum { PATH_BYTES = 4095, LINKS_MAX = 40 };

/* What of the path is left; links are put in front of it. */
struct rest {
    char text[PATH_BYTES + 1 + LINK_BYTES];
    size_t size;
    unsigned links;
};

static bool is_dir(const struct node *node)
{
    return S_ISDIR(node->stat.mode);
}

static void skip(struct rest *rest, size_t bytes)
{
    rest->size -= bytes;
    memmove(rest->text, rest->text + bytes, rest->size);
}

static size_t slashes(const struct rest *rest)
{
    size_t count = 0;
    while (count < rest->size && rest->text[count] == '/') {
        count++;
    }
    return count;
}

/* The next component. */
static int take_name(struct rest *rest, struct leaf_name *name_out)
{
    skip(rest, slashes(rest));
    const char *end = memchr(rest->text, '/', rest->size);
    size_t size = end != NULL ? (size_t)(end - rest->text) : rest->size;
    if (size > NAME_BYTES) {
        return ENAMETOOLONG;
    }
    memcpy(name_out->text, rest->text, size);
    name_out->size = size;
    skip(rest, size);
    return 0;
}

static bool is_text(const struct leaf_name *name, const char *text)
{
    return name->size == strlen(text) && memcmp(name->text, text, name->size) == 0;
}

/* The link's text goes in front of the rest, and the walk on in the directory of the link, or at
 * the root. */
static int expand(struct wio_catalogue *catalogue, struct path_end *place, struct rest *rest)
{
    char target[LINK_BYTES];
    size_t size = 0;
    if (++rest->links > LINKS_MAX) {
        return ELOOP;
    }
    int result = node_target(catalogue, place->node.stat.file, target, sizeof(target), &size);
    if (result != 0) {
        return result;
    }
    if (size + rest->size > PATH_BYTES) {
        return ENAMETOOLONG;
    }
    memmove(rest->text + size, rest->text, rest->size);
    memcpy(rest->text, target, size);
    rest->size += size;
    if (size > 0 && target[0] == '/') {
        place->last = LAST_ROOT;
        return node_by_id(catalogue, ROOT_NODE, &place->node);
    }
    place->node = place->parent;
    return 0;
}

/* One component from the directory place->node; afterwards place->node is what it names. */
static int step(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                struct path_end *place, const struct leaf_name *name)
{
    int result = is_dir(&place->node) ? user_may(user, &place->node.stat, MAY_EXECUTE) : ENOTDIR;
    if (result != 0) {
        return result;
    }
    place->name = *name;
    place->last = LAST_NAME;
    if (is_text(name, ".")) {
        place->last = LAST_DOT;
        return 0;
    }
    if (is_text(name, "..")) {
        place->last = LAST_DOT_DOT;
        return place->node.parent == 0 ? 0
                                       : node_by_id(catalogue, place->node.parent, &place->node);
    }
    place->parent = place->node;
    result = node_by_name(catalogue, place->parent.stat.file, name, &place->node);
    place->is_there = result == 0;
    return result == ENOENT ? 0 : result;
}

/* A step, and the link that it may have led to. `is_last`: nothing but slashes is left. */
static int step_on(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
                   struct path_end *place, struct rest *rest, bool follow)
{
    struct leaf_name name;
    int result = take_name(rest, &name);
    result = result == 0 ? step(catalogue, user, place, &name) : result;
    if (result != 0) {
        return result;
    }
    bool is_last = slashes(rest) == rest->size;
    place->is_directory_wanted = is_last && rest->size > 0;
    if (!place->is_there) {
        return is_last ? 0 : ENOENT;
    }
    if (place->last == LAST_NAME && S_ISLNK(place->node.stat.mode) &&
        (!is_last || follow || place->is_directory_wanted)) {
        return expand(catalogue, place, rest);
    }
    return 0;
}

static int begin(struct rest *rest, struct wio_catalogue_path path)
{
    if (path.size == 0) {
        return ENOENT;
    }
    if (path.size > PATH_BYTES) {
        return ENAMETOOLONG;
    }
    if (memchr(path.text, '\0', path.size) != NULL) {
        return EINVAL;
    }
    memcpy(rest->text, path.text, path.size);
    rest->size = path.size;
    rest->links = 0;
    return 0;
}

int walk(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
         struct wio_catalogue_path path, bool follow, struct path_end *place_out)
{
    struct rest rest;
    int result = begin(&rest, path);
    *place_out = (struct path_end){.is_there = true, .last = LAST_ROOT};
    result = result == 0 ? node_by_id(catalogue, ROOT_NODE, &place_out->node) : result;
    while (result == 0 && slashes(&rest) < rest.size) {
        result = step_on(catalogue, user, place_out, &rest, follow);
    }
    return result;
}

int walk_to(struct wio_catalogue *catalogue, const struct wio_catalogue_user *user,
            struct wio_catalogue_path path, bool follow, struct path_end *place_out)
{
    int result = walk(catalogue, user, path, follow, place_out);
    if (result != 0) {
        return result;
    }
    if (!place_out->is_there) {
        return ENOENT;
    }
    return place_out->is_directory_wanted && !is_dir(&place_out->node) ? ENOTDIR : 0;
}
