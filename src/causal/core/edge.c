/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/core/edge.h"

#include "base/cleanup.h"
#include "base/memory.h"

void wio_edges_init(struct wio_edges *edges, const struct wio_alloc *alloc, uint32_t threads)
{
    *edges = (struct wio_edges){.alloc = *alloc, .threads = threads};
}

void wio_edges_fini(struct wio_edges *edges)
{
    if (edges->alloc.put == NULL) {
        return; /* never initialised */
    }
    edges->alloc.put(edges->alloc.context, edges->edges);
    edges->alloc.put(edges->alloc.context, edges->collectives);
    edges->alloc.put(edges->alloc.context, edges->members);
    *edges = (struct wio_edges){.alloc = edges->alloc};
}

enum wio_status wio_edges_add(struct wio_edges *edges, const struct wio_edge *edge)
{
    if (edge->from_thread >= edges->threads || edge->to_thread >= edges->threads ||
        edge->class >= WIO_EDGE_CLASS_COUNT || edge->class == WIO_EDGE_COLLECTIVE ||
        edge->evidence >= WIO_EVIDENCE_COUNT || edges->edge_count >= WIO_NO_INDEX) {
        return WIO_ERR_USAGE;
    }
    WIO_TRY(wio_alloc_room(&edges->alloc, (void **)&edges->edges, &edges->edge_room,
                           edges->edge_count + 1, sizeof(*edges->edges)));
    edges->edges[edges->edge_count++] = *edge;
    return WIO_OK;
}

static enum wio_status check_members(const struct wio_edges *edges,
                                     const struct wio_member *members, size_t count)
{
    size_t words = edges->threads / 64 + 1;
    uint64_t *seen = wio_alloc_array(&edges->alloc, words, sizeof(*seen));
    if (seen == NULL) {
        return WIO_ERR_NOMEM;
    }
    enum wio_status status = WIO_OK;
    for (size_t i = 0; i < count && status == WIO_OK; i++) {
        const struct wio_member *m = &members[i];
        if (m->thread >= edges->threads || m->leave_op < m->enter_op ||
            (seen[m->thread / 64] >> (m->thread % 64) & 1) != 0) {
            status = WIO_ERR_USAGE;
            break;
        }
        seen[m->thread / 64] |= (uint64_t)1 << (m->thread % 64);
    }
    edges->alloc.put(edges->alloc.context, seen);
    return status;
}

enum wio_status wio_edges_add_collective(struct wio_edges *edges, const struct wio_member *members,
                                         size_t count, uint32_t object, enum wio_evidence evidence)
{
    if ((unsigned)evidence >= WIO_EVIDENCE_COUNT || edges->collective_count >= WIO_NO_INDEX) {
        return WIO_ERR_USAGE;
    }
    WIO_TRY(check_members(edges, members, count));
    WIO_TRY(wio_alloc_room(&edges->alloc, (void **)&edges->collectives, &edges->collective_room,
                           edges->collective_count + 1, sizeof(*edges->collectives)));
    WIO_TRY(wio_alloc_room(&edges->alloc, (void **)&edges->members, &edges->member_room,
                           edges->member_count + count, sizeof(*edges->members)));
    edges->collectives[edges->collective_count++] = (struct wio_collective){
        .first = edges->member_count, .count = count, .object = object, .evidence = evidence};
    for (size_t i = 0; i < count; i++) {
        edges->members[edges->member_count++] = members[i];
    }
    return WIO_OK;
}

void wio_edges_compact(struct wio_edges *edges, const bool *drop)
{
    size_t kept = 0;
    for (size_t i = 0; i < edges->edge_count; i++) {
        if (!drop[i]) {
            edges->edges[kept++] = edges->edges[i];
        }
    }
    edges->edge_count = kept;
}
