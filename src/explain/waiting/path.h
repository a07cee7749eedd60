/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The composition of the path that ends at a point of a thread: step -> ns, as a tree of nodes.
 *
 * A node holds what was added since its parent; a path is the chain from a node to the root. A node
 * is immutable and reference-counted, so that keeping a point of a thread and going on from a point
 * of another one cost no copy. Two paths have a last common node: what they have in common.
 *
 * A parent that only its child refers to is merged into the child while it is not much larger, so
 * a chain has about log(n) nodes, and all chains together are bounded by the points that are kept.
 *
 * Thread safety: none; nodes of one analysis belong to one thread.
 */
#ifndef WIO_EXPLAIN_PATH_H
#define WIO_EXPLAIN_PATH_H

#include <stdint.h>

#include <whyio/status.h>

struct wio_path_part {
    uint32_t step;
    uint64_t ns;
};

/* Read the fields freely; change nothing. */
struct wio_path {
    struct wio_path *parent; /* NULL: the begin of the run; a reference of this node */
    uint32_t refs;
    uint32_t depth; /* more than the parent's */
    uint32_t jumps; /* of the chain: how often it goes over to another thread */
    uint32_t count;
    struct wio_path_part parts[]; /* rising by step */
};

/*
 * A node behind `parent`, whose reference is taken over also on failure. `parts` (rising by step)
 * are copied. `jumps` counts the whole chain. The caller owns a reference of *path_out.
 */
WIO_MUST_CHECK enum wio_status wio_path_create(struct wio_path *parent,
                                               const struct wio_path_part *parts, uint32_t count,
                                               uint32_t jumps, struct wio_path **path_out);

/* One reference more; accepts NULL. */
struct wio_path *wio_path_ref(struct wio_path *path);
/* One less; the last one frees it, and what only it referred to. Accepts NULL. */
void wio_path_unref(struct wio_path *path);

/* The last node that both chains contain; NULL: only the begin of the run. Borrowed. */
const struct wio_path *wio_path_common(const struct wio_path *a, const struct wio_path *b);

#endif
