/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name space: a tree of names for each file system, in which paths are looked up as the kernel
 * does. A renamed directory takes what lies below it along, since only its own place in the tree
 * changes.
 */
#include "state/state_internal.h"

#include <string.h>

#include "base/mix.h"

/* As Linux: MAXSYMLINKS. */
#define LINKS_MAX 40
/* Kinds of roots. */
enum { ROOT_OF_PATHS, ROOT_OF_OTHERS };

void state_names_init(struct wio_state *state)
{
    const struct wio_alloc *alloc = &state->params.alloc;
    wio_pair_map_init(&state->names.roots, alloc);
    wio_pair_map_init(&state->names.child_of, alloc);
    wio_pair_map_init(&state->names.components, alloc);
    wio_pair_map_init(&state->names.seen_of, alloc);
}

void state_names_fini(struct wio_state *state)
{
    const struct wio_alloc *alloc = &state->params.alloc;
    wio_pair_map_fini(&state->names.roots);
    wio_pair_map_fini(&state->names.child_of);
    wio_pair_map_fini(&state->names.components);
    wio_pair_map_fini(&state->names.seen_of);
    alloc->put(alloc->context, state->names.nodes);
    alloc->put(alloc->context, state->names.items);
    alloc->put(alloc->context, state->names.seen);
}

/* The number of a component's text. Texts of one hash are told apart by a count. */
static enum wio_status component_of(struct wio_state *state, const char *text, size_t bytes,
                                    uint32_t *component_out)
{
    struct state_names *names = &state->names;
    const uint64_t hash = wio_mix_text(WIO_MIX_TEXT, text, bytes);
    uint64_t same = 0;
    for (;; same++) {
        const uint32_t known = wio_pair_map_get(&names->components, hash, same);
        if (known == WIO_NO_INDEX) {
            break;
        }
        const struct state_component *item = &names->items[known];
        if (item->bytes == bytes && memcmp(item->text, text, bytes) == 0) {
            *component_out = known;
            return WIO_OK;
        }
    }
    WIO_TRY(wio_alloc_room(&state->params.alloc, (void **)&names->items, &names->item_room,
                           (size_t)names->item_count + 1, sizeof(*names->items)));
    names->items[names->item_count] = (struct state_component){text, (uint32_t)bytes};
    *component_out = names->item_count++;
    return wio_pair_map_put(&names->components, hash, same, *component_out);
}

static enum wio_status new_node(struct wio_state *state, uint32_t *node_out)
{
    struct state_names *names = &state->names;
    WIO_TRY(wio_alloc_room(&state->params.alloc, (void **)&names->nodes, &names->node_room,
                           (size_t)names->node_count + 1, sizeof(*names->nodes)));
    *node_out = names->node_count++;
    names->nodes[*node_out] = (struct state_node){.parent = *node_out, .file = WIO_NO_INDEX};
    return WIO_OK;
}

void state_detach(struct wio_state *state, uint32_t node)
{
    struct state_node *at = &state->names.nodes[node];
    wio_pair_map_remove(&state->names.child_of, at->parent, at->name);
    state->names.nodes[at->parent].children--;
}

enum wio_status state_attach(struct wio_state *state, uint32_t node, uint32_t parent, uint32_t name)
{
    struct state_node *at = &state->names.nodes[node];
    at->parent = parent;
    at->name = name;
    state->names.nodes[parent].children++;
    return wio_pair_map_put(&state->names.child_of, parent, name, node);
}

/* A directory that is missing, or that the run has made: empty but for what the run puts there. */
static bool is_empty(const struct wio_state *state, uint32_t node)
{
    const struct state_node *at = &state->names.nodes[node];
    return at->presence == STATE_NAME_ABSENT ||
           (at->file != WIO_NO_INDEX && state->files.items[at->file].origin == WIO_STATE_MADE);
}

static enum wio_status child_of(struct wio_state *state, uint32_t parent, const char *text,
                                size_t bytes, uint32_t *node_out)
{
    uint32_t name;
    WIO_TRY(component_of(state, text, bytes, &name));
    *node_out = wio_pair_map_get(&state->names.child_of, parent, name);
    if (*node_out != WIO_NO_INDEX) {
        return WIO_OK;
    }
    WIO_TRY(new_node(state, node_out));
    if (is_empty(state, parent)) {
        state->names.nodes[*node_out].presence = STATE_NAME_ABSENT;
    }
    return state_attach(state, *node_out, parent, name);
}

static enum wio_status root_of(struct wio_state *state, uint32_t file_system, bool is_path,
                               uint32_t *root_out)
{
    const uint64_t kind = is_path ? ROOT_OF_PATHS : ROOT_OF_OTHERS;
    *root_out = wio_pair_map_get(&state->names.roots, file_system, kind);
    if (*root_out != WIO_NO_INDEX) {
        return WIO_OK;
    }
    WIO_TRY(new_node(state, root_out));
    return wio_pair_map_put(&state->names.roots, file_system, kind, *root_out);
}

/* What is left of the paths on the way: that of the event at the bottom, texts of links above. */
struct names_walk {
    const char *left[LINKS_MAX + 1];
    unsigned depth;
    unsigned links;
    uint32_t root;
    uint32_t at;
};

/* The next component; NULL: the end of all. */
static const char *next_component(struct names_walk *walk, size_t *bytes_out)
{
    for (;;) {
        const char **left = &walk->left[walk->depth];
        *left += strspn(*left, "/");
        *bytes_out = strcspn(*left, "/");
        if (*bytes_out > 0) {
            const char *text = *left;
            *left += *bytes_out;
            return text;
        }
        if (walk->depth == 0) {
            return NULL;
        }
        walk->depth--;
    }
}

static bool is_last(const struct names_walk *walk)
{
    for (unsigned i = 0; i <= walk->depth; i++) {
        const char *left = walk->left[i];
        if (left[strspn(left, "/")] != '\0') {
            return false;
        }
    }
    return true;
}

/* Go into the link's text; false: too many of them. */
static bool enter_link(const struct wio_state *state, struct names_walk *walk, uint32_t target)
{
    const char *text = state->params.text(state->params.context, target);
    if (++walk->links > LINKS_MAX || walk->depth == LINKS_MAX) {
        return false;
    }
    walk->left[++walk->depth] = text;
    walk->at = text[0] == '/' ? walk->root : walk->at;
    return true;
}

static enum wio_status step(struct wio_state *state, struct names_walk *walk, const char *text,
                            size_t bytes, bool follows, bool *is_ring_out)
{
    uint32_t next;
    if (bytes == 1 && text[0] == '.') {
        return WIO_OK;
    }
    if (bytes == 2 && text[0] == '.' && text[1] == '.') {
        walk->at = state->names.nodes[walk->at].parent;
        return WIO_OK;
    }
    WIO_TRY(child_of(state, walk->at, text, bytes, &next));
    const uint32_t target = state->names.nodes[next].target;
    if (target != 0 && (follows || !is_last(walk))) {
        *is_ring_out = !enter_link(state, walk, target);
        return WIO_OK;
    }
    walk->at = next;
    return WIO_OK;
}

static enum wio_status look_up(struct wio_state *state, uint32_t root, const char *path,
                               bool follows, uint32_t *node_out)
{
    struct names_walk walk = {.left = {path}, .root = root, .at = root};
    bool is_ring = false;
    size_t bytes;
    const char *text;
    *node_out = WIO_NO_INDEX;
    while ((text = next_component(&walk, &bytes)) != NULL) {
        WIO_TRY(step(state, &walk, text, bytes, follows, &is_ring));
        if (is_ring) {
            return WIO_OK;
        }
    }
    *node_out = walk.at;
    return WIO_OK;
}

static enum wio_status remember(struct wio_state *state, uint64_t key, uint32_t path, uint32_t node)
{
    struct state_names *names = &state->names;
    uint32_t place = wio_pair_map_get(&names->seen_of, key, path);
    if (place == WIO_NO_INDEX) {
        WIO_TRY(wio_alloc_room(&state->params.alloc, (void **)&names->seen, &names->seen_room,
                               (size_t)names->seen_count + 1, sizeof(*names->seen)));
        place = names->seen_count++;
        WIO_TRY(wio_pair_map_put(&names->seen_of, key, path, place));
    }
    names->seen[place] = (struct state_seen){node, names->epoch};
    return WIO_OK;
}

/* Pipes, sockets and their like: names without directories, of each host. */
static enum wio_status find_other(struct wio_state *state, uint32_t host, const char *text,
                                  uint32_t *node_out)
{
    uint32_t root;
    WIO_TRY(root_of(state, host, false, &root));
    return child_of(state, root, text, strlen(text), node_out);
}

enum wio_status state_find_name(struct wio_state *state, uint32_t host, uint32_t path, bool follows,
                                uint32_t *node_out)
{
    const struct wio_state_params *params = &state->params;
    *node_out = WIO_NO_INDEX;
    if (path == WIO_NO_STRING || path >= params->string_count) {
        return WIO_OK;
    }
    const char *text = params->text(params->context, path);
    if (text[0] != '/') {
        return find_other(state, host, text, node_out);
    }
    uint32_t root;
    const uint32_t system =
        params->file_system != NULL ? params->file_system(params->context, host, path) : 0;
    WIO_TRY(root_of(state, system, true, &root));
    const uint64_t key = (uint64_t)root << 1 | follows;
    const uint32_t place = wio_pair_map_get(&state->names.seen_of, key, path);
    if (place != WIO_NO_INDEX && state->names.seen[place].epoch == state->names.epoch) {
        *node_out = state->names.seen[place].node;
        return WIO_OK;
    }
    WIO_TRY(look_up(state, root, text, follows, node_out));
    return remember(state, key, path, *node_out);
}

enum wio_status state_file_at(struct wio_state *state, uint32_t node, uint32_t path,
                              uint32_t *file_out)
{
    struct state_node *at = &state->names.nodes[node];
    *file_out = at->file;
    if (at->file != WIO_NO_INDEX) {
        return WIO_OK;
    }
    WIO_TRY(state_new_file(state, path, WIO_STATE_UNKNOWN, file_out));
    at->file = *file_out;
    state->files.items[*file_out].names = 1;
    return WIO_OK;
}
