/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/waiting/path.h"

#include <stdlib.h>
#include <string.h>

/* A parent of at most twice its child's parts and these is merged into it. */
#define MERGE_ALWAYS 32u

struct wio_path *wio_path_ref(struct wio_path *path)
{
    if (path != NULL) {
        path->refs++;
    }
    return path;
}

void wio_path_unref(struct wio_path *path)
{
    while (path != NULL && --path->refs == 0) {
        struct wio_path *parent = path->parent;
        free(path);
        path = parent;
    }
}

static struct wio_path *allocate(uint32_t count)
{
    return malloc(sizeof(struct wio_path) + (size_t)count * sizeof(struct wio_path_part));
}

/* Both are rising by step; gives the number of parts of the sum. */
static uint32_t add_parts(const struct wio_path *a, const struct wio_path *b,
                          struct wio_path_part *out)
{
    uint32_t i = 0;
    uint32_t k = 0;
    uint32_t count = 0;

    while (i < a->count || k < b->count) {
        if (k == b->count || (i < a->count && a->parts[i].step < b->parts[k].step)) {
            out[count++] = a->parts[i++];
        } else if (i == a->count || b->parts[k].step < a->parts[i].step) {
            out[count++] = b->parts[k++];
        } else {
            out[count] = a->parts[i++];
            out[count++].ns += b->parts[k++].ns;
        }
    }
    return count;
}

static int is_mergeable(const struct wio_path *path)
{
    const struct wio_path *parent = path->parent;

    return parent != NULL && parent->refs == 1 && parent->count <= 2 * path->count + MERGE_ALWAYS;
}

/* `path` and its parent as one node; `path` itself where memory is short. */
static struct wio_path *merge(struct wio_path *path)
{
    struct wio_path *parent = path->parent;
    struct wio_path *both = allocate(parent->count + path->count);

    if (both == NULL) {
        return path;
    }
    *both = *path;
    both->count = add_parts(parent, path, both->parts);
    both->parent = wio_path_ref(parent->parent);
    free(path);
    wio_path_unref(parent);
    return both;
}

enum wio_status wio_path_create(struct wio_path *parent, const struct wio_path_part *parts,
                                uint32_t count, uint32_t jumps, struct wio_path **path_out)
{
    struct wio_path *path = allocate(count);

    if (path == NULL) {
        wio_path_unref(parent);
        return WIO_ERR_NOMEM;
    }
    *path = (struct wio_path){.parent = parent,
                              .refs = 1,
                              .depth = parent != NULL ? parent->depth + 1 : 1,
                              .jumps = jumps,
                              .count = count};
    if (count > 0) {
        memcpy(path->parts, parts, (size_t)count * sizeof(*parts));
    }
    while (is_mergeable(path)) {
        struct wio_path *merged = merge(path);
        if (merged == path) {
            break;
        }
        path = merged;
    }
    *path_out = path;
    return WIO_OK;
}

const struct wio_path *wio_path_common(const struct wio_path *a, const struct wio_path *b)
{
    while (a != b) {
        uint32_t a_depth = a != NULL ? a->depth : 0;
        uint32_t b_depth = b != NULL ? b->depth : 0;
        if (a_depth >= b_depth) {
            a = a != NULL ? a->parent : NULL;
        }
        if (b_depth >= a_depth) {
            b = b != NULL ? b->parent : NULL;
        }
    }
    return a;
}
