/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes: the n-th byte written is the n-th byte read. A read may be fed before its write, since a
 * write can end after the read that it woke; so both sides keep what has met nothing.
 */
#include "base/cleanup.h"
#include "causal/match_internal.h"

static enum wio_status join(struct wio_match *match, struct wio_match_channel *channel,
                            enum wio_evidence evidence)
{
    while (channel->given.count > 0 && channel->taken.count > 0) {
        struct wio_match_item *write = &match->items[channel->given.first];
        struct wio_match_item *read = &match->items[channel->taken.first];
        uint64_t common = write->to < read->to ? write->to : read->to;
        WIO_TRY(wio_match_edge_from_before(match, (struct wio_edge){.from_thread = write->thread,
                                                                    .from_op = write->begin_op,
                                                                    .to_thread = read->thread,
                                                                    .to_op = read->begin_op,
                                                                    .class = WIO_EDGE_HARD,
                                                                    .evidence = evidence}));
        match->left.read_bytes -= common - read->from;
        write->from = common;
        read->from = common;
        if (write->from == write->to) {
            wio_match_drop_first(match, &channel->given);
        }
        if (read->from == read->to) {
            wio_match_drop_first(match, &channel->taken);
        }
    }
    return WIO_OK;
}

enum wio_status wio_match_write(struct wio_match *match, uint64_t channel,
                                enum wio_evidence evidence, struct wio_point at, uint64_t bytes)
{
    struct wio_match_channel *found;
    WIO_TRY(wio_match_channel(match, WIO_MATCH_BYTES, channel, 0, &found, NULL));
    if (bytes == 0) {
        return WIO_OK;
    }
    struct wio_match_item item = {.begin_op = at.op,
                                  .thread = at.thread,
                                  .from = found->given_end,
                                  .to = found->given_end + bytes};
    found->given_end = item.to;
    WIO_TRY(wio_match_append(match, &found->given, &item));
    return join(match, found, evidence);
}

enum wio_status wio_match_read(struct wio_match *match, uint64_t channel,
                               enum wio_evidence evidence, struct wio_point at, uint64_t bytes)
{
    struct wio_match_channel *found;
    WIO_TRY(wio_match_channel(match, WIO_MATCH_BYTES, channel, 0, &found, NULL));
    if (bytes == 0) {
        return WIO_OK;
    }
    struct wio_match_item item = {.begin_op = at.op,
                                  .thread = at.thread,
                                  .from = found->taken_end,
                                  .to = found->taken_end + bytes};
    found->taken_end = item.to;
    match->left.read_bytes += bytes;
    WIO_TRY(wio_match_append(match, &found->taken, &item));
    return join(match, found, evidence);
}
