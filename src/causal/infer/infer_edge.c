/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every mechanism of waiting adds to the edges: an edge out of an operation or out of the one
 * before it, and a member of a collective.
 */
#include "causal/infer/infer_internal.h"

#include "causal/match/match.h"

enum wio_status wio_feed_edge(struct wio_feed *feed, struct wio_edge edge)
{
    return edge.from_thread == edge.to_thread ? WIO_OK : wio_edges_add(feed->edges, &edge);
}

enum wio_status wio_feed_edge_from_before(struct wio_feed *feed, struct wio_edge edge)
{
    return wio_match_edge_from_before(feed->match, edge);
}

enum wio_status wio_feed_after_as(struct wio_feed *feed, const struct wio_event *event,
                                  const struct wio_feed_node *from, uint32_t object,
                                  enum wio_edge_class edge_class)
{
    struct wio_point point = wio_feed_point(feed, event);
    return wio_feed_edge_from_before(feed, (struct wio_edge){.from_thread = from->thread,
                                                             .from_op = from->op,
                                                             .to_thread = point.thread,
                                                             .to_op = point.op,
                                                             .object = object,
                                                             .class = edge_class,
                                                             .evidence = WIO_EVIDENCE_THREAD});
}

enum wio_status wio_feed_after(struct wio_feed *feed, const struct wio_event *event,
                               const struct wio_feed_node *from, uint32_t object)
{
    return wio_feed_after_as(feed, event, from, object, WIO_EDGE_HARD);
}

enum wio_status wio_feed_collective(struct wio_feed *feed, const struct wio_collective_call *call)
{
    struct wio_error err = WIO_ERROR_INIT;
    if (call->size > feed->edges->threads) {
        return WIO_OK; /* most of its members were not recorded */
    }
    enum wio_status status = wio_match_collective(feed->match, call, &err);
    if (status == WIO_ERR_FORMAT) {
        feed->contradiction = feed->contradictions++ == 0 ? err : feed->contradiction;
        return WIO_OK;
    }
    return status;
}
