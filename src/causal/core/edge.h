/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which operation waits for which: a growing set of edges between points of threads, and of
 * collectives.
 *
 * A point is (thread index, operation number). Operations are numbered 0, 1, 2 .. per thread, I/O
 * and synchronisation in one sequence: so a receive followed by a send between two I/Os passes the
 * order on, which numbers of I/Os alone would lose. Within a thread each operation precedes the
 * next ("program order"); that is never stored.
 *
 * An edge a -> b says: b cannot end before a is done. A call that releases others while it waits
 * itself (MPI_Sendrecv, a write into a full pipe) is therefore not `a`: the operation before it is.
 * A collective is one event, not n x n edges: it waits for all that precedes its givers'
 * `enter_op`, and what its takers do from `leave_op` on waits for it.
 *
 * Classes, evidences and their names are those of <whyio/edges.h>.
 *
 * Pure: memory comes from the caller's struct wio_alloc. A set belongs to one thread.
 */
#ifndef WIO_CAUSAL_CORE_EDGE_H
#define WIO_CAUSAL_CORE_EDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/edges.h>
#include <whyio/status.h>

#include "base/alloc.h"

struct wio_point {
    uint64_t op;
    uint32_t thread;
};

/* A set of classes. */
#define WIO_EDGE_BIT(class) (1u << (class))
/* What replay enforces as recorded. */
#define WIO_EDGE_FIRM (WIO_EDGE_BIT(WIO_EDGE_HARD) | WIO_EDGE_BIT(WIO_EDGE_COLLECTIVE))
#define WIO_EDGE_ALL ((1u << WIO_EDGE_CLASS_COUNT) - 1)

struct wio_edge {
    uint64_t from_op;
    uint64_t to_op;
    uint32_t from_thread;
    uint32_t to_thread;
    uint32_t object;  /* which lock, queue or channel; 0 where there is none */
    uint8_t class;    /* enum wio_edge_class */
    uint8_t evidence; /* enum wio_evidence */
    uint16_t unused;
};

/* Ten million edges must fit: keep it half a cache line. */
_Static_assert(sizeof(struct wio_edge) == 32, "size of an edge");

/* For a blocking call enter_op == leave_op; MPI_Ibarrier .. MPI_Wait has two. */
struct wio_member {
    uint64_t enter_op;
    uint64_t leave_op;
    uint32_t thread;
    bool gives; /* the others wait for it: all of a barrier, the root of a broadcast */
    bool takes; /* it waits: all of a barrier, all but the root of a broadcast */
};

struct wio_collective {
    size_t first; /* member */
    size_t count;
    uint32_t object; /* the communicator */
    uint8_t evidence;
};

/* What messages call a point. */
typedef void wio_edge_name_point(const void *context, struct wio_point point, char *text,
                                 size_t room);

/* Read the arrays freely; change them through the functions below only. */
struct wio_edges {
    struct wio_alloc alloc;
    wio_edge_name_point *name_point; /* NULL: "thread:operation"; may be set at any time */
    const void *name_context;
    struct wio_edge *edges;
    struct wio_collective *collectives;
    struct wio_member *members;
    size_t edge_count;
    size_t edge_room;
    size_t collective_count;
    size_t collective_room;
    size_t member_count;
    size_t member_room;
    uint32_t threads;
};

/* An empty set over threads 0 .. threads - 1. `alloc` is copied; its context must outlive the set.
 */
void wio_edges_init(struct wio_edges *edges, const struct wio_alloc *alloc, uint32_t threads);
/* Accepts zeros. */
void wio_edges_fini(struct wio_edges *edges);

/* WIO_ERR_USAGE for a thread, class or evidence that does not exist, for class COLLECTIVE, and for
 * more than 2^32 - 2 edges. Edges may be added in any order and more than once. */
WIO_MUST_CHECK enum wio_status wio_edges_add(struct wio_edges *edges, const struct wio_edge *edge);

/* `members` are copied. WIO_ERR_USAGE for an unknown thread, a thread that is there twice and one
 * that leaves before it enters. */
WIO_MUST_CHECK enum wio_status wio_edges_add_collective(struct wio_edges *edges,
                                                        const struct wio_member *members,
                                                        size_t count, uint32_t object,
                                                        enum wio_evidence evidence);

/* Remove the edges that `drop` (edge_count entries) marks; the others keep their order. */
void wio_edges_compact(struct wio_edges *edges, const bool *drop);

#endif
