/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every mechanism of waiting adds to the edges: an edge out of an operation or out of the one
 * before it, and a member of a collective.
 */
#include "causal/infer/infer_internal.h"

#include "causal/match/match.h"

enum wio_status wio_infer_edge(struct wio_infer *infer, struct wio_edge edge)
{
    return edge.from_thread == edge.to_thread ? WIO_OK : wio_edges_add(infer->edges, &edge);
}

enum wio_status wio_infer_edge_from_before(struct wio_infer *infer, struct wio_edge edge)
{
    return wio_match_edge_from_before(infer->match, edge);
}

enum wio_status wio_infer_after_as(struct wio_infer *infer, const struct wio_event *event,
                                   const struct wio_infer_node *from, uint32_t object,
                                   enum wio_edge_class edge_class)
{
    struct wio_point point = wio_infer_point(infer, event);
    return wio_infer_edge_from_before(infer, (struct wio_edge){.from_thread = from->thread,
                                                               .from_op = from->op,
                                                               .to_thread = point.thread,
                                                               .to_op = point.op,
                                                               .object = object,
                                                               .class = edge_class,
                                                               .evidence = WIO_EVIDENCE_THREAD});
}

enum wio_status wio_infer_after(struct wio_infer *infer, const struct wio_event *event,
                                const struct wio_infer_node *from, uint32_t object)
{
    return wio_infer_after_as(infer, event, from, object, WIO_EDGE_HARD);
}

enum wio_status wio_infer_collective(struct wio_infer *infer,
                                     const struct wio_collective_call *call)
{
    struct wio_error err = WIO_ERROR_INIT;
    if (call->size > infer->edges->threads) {
        return WIO_OK; /* most of its members were not recorded */
    }
    enum wio_status status = wio_match_collective(infer->match, call, &err);
    if (status == WIO_ERR_FORMAT) {
        infer->contradictions.first =
            infer->contradictions.count++ == 0 ? err : infer->contradictions.first;
        return WIO_OK;
    }
    return status;
}
