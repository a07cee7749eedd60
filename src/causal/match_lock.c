/* SPDX-License-Identifier: Apache-2.0 */
/* Locks: each acquire after the releases that it had to wait for. */
#include "base/cleanup.h"
#include "causal/match_internal.h"

static enum wio_status follow(struct wio_match *match, uint32_t object, struct wio_point from,
                              struct wio_point to)
{
    if (from.thread == to.thread) {
        return WIO_OK;
    }
    return wio_edges_add(match->edges, &(struct wio_edge){.from_thread = from.thread,
                                                          .from_op = from.op,
                                                          .to_thread = to.thread,
                                                          .to_op = to.op,
                                                          .object = object,
                                                          .class = WIO_EDGE_MUTEX,
                                                          .evidence = WIO_EVIDENCE_LOCK});
}

enum wio_status wio_match_acquire(struct wio_match *match, uint64_t lock, struct wio_point at,
                                  bool shared)
{
    struct wio_match_channel *channel;
    uint32_t number;
    WIO_TRY(wio_match_channel(match, WIO_MATCH_LOCK, lock, 0, &channel, &number));
    if (channel->has_last) {
        WIO_TRY(follow(match, number + 1, channel->last, at));
    }
    uint32_t i = shared ? WIO_CAUSAL_NONE : channel->given.first;
    for (; i != WIO_CAUSAL_NONE; i = match->items[i].next) {
        struct wio_point reader = {match->items[i].begin_op, match->items[i].thread};
        WIO_TRY(follow(match, number + 1, reader, at));
    }
    return WIO_OK;
}

enum wio_status wio_match_release(struct wio_match *match, uint64_t lock, struct wio_point at,
                                  bool shared)
{
    struct wio_match_channel *channel;
    WIO_TRY(wio_match_channel(match, WIO_MATCH_LOCK, lock, 0, &channel, NULL));
    if (shared) {
        struct wio_match_item item = {.begin_op = at.op, .thread = at.thread};
        return wio_match_append(match, &channel->given, &item);
    }
    while (channel->given.count > 0) {
        wio_match_drop_first(match, &channel->given);
    }
    channel->last = at;
    channel->has_last = true;
    return WIO_OK;
}
