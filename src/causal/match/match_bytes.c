/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes: the n-th byte written is the n-th byte read. A read may be fed before its write, since a
 * write can end after the read that it woke; so both sides keep what is not matched.
 */
#include "base/cleanup.h"
#include "causal/match/match_internal.h"

static enum wio_status join(struct wio_match *match, struct wio_match_channel *channel,
                            uint32_t object, enum wio_evidence evidence)
{
    while (channel->given.count > 0 && channel->taken.count > 0) {
        struct wio_match_item *write = &match->items[channel->given.first];
        struct wio_match_item *read = &match->items[channel->taken.first];
        uint64_t common = write->to < read->to ? write->to : read->to;
        WIO_TRY(wio_match_edge_from_before(match, (struct wio_edge){.from_thread = write->thread,
                                                                    .from_op = write->begin_op,
                                                                    .to_thread = read->thread,
                                                                    .to_op = read->begin_op,
                                                                    .object = object,
                                                                    .class = WIO_EDGE_HARD,
                                                                    .evidence = evidence}));
        if (evidence == WIO_EVIDENCE_SOCKET) {
            WIO_TRY(wio_match_tell(match, write->thread, write->begin_ns, read->thread,
                                   read->begin_ns));
        }
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

/* The next `bytes` of one side of a channel, which ends at *end so far. */
static enum wio_status append(struct wio_match *match, struct wio_match_list *list, uint64_t *end,
                              struct wio_point at, uint64_t bytes, uint64_t when_ns)
{
    struct wio_match_item item = {.begin_op = at.op,
                                  .begin_ns = when_ns,
                                  .thread = at.thread,
                                  .from = *end,
                                  .to = *end + bytes};
    *end = item.to;
    return wio_match_append(match, list, &item);
}

enum wio_status wio_match_write(struct wio_match *match, uint32_t channel,
                                enum wio_evidence evidence, struct wio_point at, uint64_t bytes,
                                uint64_t when_ns)
{
    struct wio_match_channel *found;
    WIO_TRY(wio_match_channel(match, WIO_MATCH_BYTES, channel, 0, &found, NULL));
    if (bytes == 0) {
        return WIO_OK;
    }
    WIO_TRY(append(match, &found->given, &found->given_end, at, bytes, when_ns));
    return join(match, found, channel, evidence);
}

enum wio_status wio_match_read(struct wio_match *match, uint32_t channel,
                               enum wio_evidence evidence, struct wio_point at, uint64_t bytes,
                               uint64_t when_ns)
{
    struct wio_match_channel *found;
    WIO_TRY(wio_match_channel(match, WIO_MATCH_BYTES, channel, 0, &found, NULL));
    if (bytes == 0) {
        return WIO_OK;
    }
    match->left.read_bytes += bytes;
    WIO_TRY(append(match, &found->taken, &found->taken_end, at, bytes, when_ns));
    return join(match, found, channel, evidence);
}

static enum wio_status peek_of(struct wio_match *match, uint32_t channel, uint32_t thread,
                               struct wio_match_peek **peek_out)
{
    uint32_t place = wio_pair_map_get(&match->peek_of, channel, thread);
    if (place == WIO_NO_INDEX) {
        WIO_TRY(wio_alloc_room(&match->edges->alloc, (void **)&match->peeks, &match->peek_room,
                               (size_t)match->peek_count + 1, sizeof(*match->peeks)));
        place = match->peek_count++;
        match->peeks[place] = (struct wio_match_peek){.item = WIO_NO_INDEX};
        WIO_TRY(wio_pair_map_put(&match->peek_of, channel, thread, place));
    }
    *peek_out = &match->peeks[place];
    return WIO_OK;
}

/* Where the thread has not peeked yet, or one write before: what it has seen it follows already.
 * Writes are in a row, so the one that it has seen last is there if bytes before its end are. */
static uint32_t first_unseen(const struct wio_match *match, const struct wio_match_channel *channel,
                             const struct wio_match_peek *peek)
{
    uint32_t first = channel->given.first;
    return channel->given.count > 0 && match->items[first].from < peek->to ? peek->item : first;
}

enum wio_status wio_match_peek(struct wio_match *match, uint32_t channel,
                               enum wio_evidence evidence, struct wio_point at, uint64_t bytes)
{
    struct wio_match_channel *found;
    struct wio_match_peek *peek;
    uint32_t number;
    WIO_TRY(wio_match_channel(match, WIO_MATCH_BYTES, channel, 0, &found, &number));
    WIO_TRY(peek_of(match, number, at.thread, &peek));
    if (at.op < peek->op) {
        *peek = (struct wio_match_peek){.item = WIO_NO_INDEX};
    }
    uint64_t end = found->taken_end + bytes;
    uint64_t begin = peek->to > found->taken_end ? peek->to : found->taken_end;
    for (uint32_t i = first_unseen(match, found, peek); found->given.count > 0 && i != WIO_NO_INDEX;
         i = match->items[i].next) {
        const struct wio_match_item *write = &match->items[i];
        if (write->from >= end) {
            break;
        }
        if (write->to <= begin) {
            continue;
        }
        *peek = (struct wio_match_peek){.to = write->to, .op = at.op, .item = i};
        WIO_TRY(wio_match_edge_from_before(match, (struct wio_edge){.from_thread = write->thread,
                                                                    .from_op = write->begin_op,
                                                                    .to_thread = at.thread,
                                                                    .to_op = at.op,
                                                                    .object = channel,
                                                                    .class = WIO_EDGE_HARD,
                                                                    .evidence = evidence}));
    }
    return WIO_OK;
}
