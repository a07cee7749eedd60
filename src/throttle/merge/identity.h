/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which thread of one run is which thread of another, told from the traces: by rank, else by the
 * place in the tree of processes, and by how many-th thread of its process it is. Which pids they
 * have, and when they did something first, does not matter.
 *
 * A node is a thread from its first to its last process image: exec makes no new one.
 */
#ifndef WIO_THROTTLE_MERGE_IDENTITY_H
#define WIO_THROTTLE_MERGE_IDENTITY_H

#include <whyio/trace.h>

struct wio_identity_node {
    uint64_t key;    /* the same in all runs */
    uint32_t nth;    /* of this key, by begin */
    uint32_t stream; /* its first */
};

/* Zero-initialise. */
struct wio_identity {
    struct wio_identity_node *nodes;
    uint32_t count;
    uint32_t *node_of; /* per stream of the trace */
};

WIO_MUST_CHECK enum wio_status wio_identity_find(const struct wio_trace *trace,
                                                 struct wio_identity *identity_out,
                                                 struct wio_error *err);
void wio_identity_fini(struct wio_identity *identity);

/* The node of `other` that is node `n` of `identity`; UINT32_MAX = it is not there. */
uint32_t wio_identity_match(const struct wio_identity *identity, uint32_t n,
                            const struct wio_identity *other);

#endif
